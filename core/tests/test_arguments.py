"""Checking a call's arguments against its tool, and turning them into Python values."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.testing.tools import tool_named
from poise.turn.arguments import ArgumentError, python_arguments, validate_arguments
from poise.values.tools import Parameter, ParameterKind

CITY = Parameter("city", ParameterKind.STRING)
ZIP = Parameter("zip", ParameterKind.STRING, pattern=r"\d{4}")
PLAN = Parameter("item", ParameterKind.STRING, choices=("gold", "silver"))

# For each kind: fields beyond the kind, a value that fits, and values that don't.
MATRIX = {
    "text": (ParameterKind.STRING, {}, "blue", [5, True, ["a"]]),
    "int": (ParameterKind.INTEGER, {}, 5, [True, 5.5, "5"]),
    "decimal": (ParameterKind.NUMBER, {}, 5.25, [True, "5.25", float("nan"), float("inf")]),
    "bool": (ParameterKind.BOOLEAN, {}, False, [0, "false"]),
    "date": (ParameterKind.DATE, {}, "2026-03-05", ["05/03/2026", 5, "2026-13-01"]),
    "datetime": (
        ParameterKind.DATETIME,
        {},
        "2026-03-05T14:30:00+00:00",
        ["2026-03-05", "soon", 5],
    ),
    "choice": (ParameterKind.STRING, {"choices": ("gold", "silver")}, "gold", ["bronze", 1]),
    "list of choice": (ParameterKind.LIST, {"items": PLAN}, ["gold"], [["gold", "tin"], "gold"]),
    "nested record": (
        ParameterKind.RECORD,
        {"fields": (CITY, ZIP)},
        {"city": "Vienna", "zip": "1010"},
        [{"city": "Vienna"}, {"city": "Vienna", "zip": "10"}, "Vienna"],
    ),
}


@pytest.mark.parametrize("kind", MATRIX)
class TestTypeMatrix:
    """B-035: every kind, required, optional, with a default, and nullable."""

    def test_required_value_round_trips_and_its_absence_is_an_error(self, kind):
        neutral, fields, fitting, _ = MATRIX[kind]
        tool = tool_named("t", Parameter("x", neutral, **fields))

        read = validate_arguments(tool, {"x": fitting})

        assert read == {"x": fitting}
        assert validate_arguments(tool, json.loads(json.dumps(read))) == read
        with pytest.raises(ArgumentError, match="x is missing"):
            validate_arguments(tool, {})

    def test_optional_value_may_be_absent_or_null(self, kind):
        """B-034."""
        neutral, fields, fitting, _ = MATRIX[kind]
        tool = tool_named("t", Parameter("x", neutral, required=False, **fields))

        assert validate_arguments(tool, {}) == {"x": None}
        assert validate_arguments(tool, {"x": None}) == {"x": None}
        assert validate_arguments(tool, {"x": fitting}) == {"x": fitting}

    def test_absent_value_takes_its_default(self, kind):
        neutral, fields, fitting, _ = MATRIX[kind]
        tool = tool_named("t", Parameter("x", neutral, required=False, default=fitting, **fields))

        assert validate_arguments(tool, {}) == {"x": fitting}
        with pytest.raises(ArgumentError):
            validate_arguments(tool, {"x": None})

    def test_nullable_value_may_be_null_and_not_absent(self, kind):
        neutral, fields, _, _ = MATRIX[kind]
        tool = tool_named("t", Parameter("x", neutral, nullable=True, **fields))

        assert validate_arguments(tool, {"x": None}) == {"x": None}
        with pytest.raises(ArgumentError, match="x is missing"):
            validate_arguments(tool, {})

    def test_value_of_another_kind_is_refused_by_name(self, kind):
        neutral, fields, _, unfit = MATRIX[kind]
        tool = tool_named("t", Parameter("x", neutral, **fields))

        for value in unfit:
            with pytest.raises(ArgumentError) as caught:
                validate_arguments(tool, {"x": value})
            assert all(path.startswith("x") for path in caught.value.problems)


def test_whole_number_is_accepted_for_a_decimal_and_makes_the_same_argument():
    """B-035."""
    tool = tool_named("t", Parameter("x", ParameterKind.NUMBER))

    assert validate_arguments(tool, {"x": 5}) == validate_arguments(tool, {"x": 5.0}) == {"x": 5}
    assert json.dumps(validate_arguments(tool, {"x": 5.0})) == '{"x": 5}'


def test_every_offender_is_named_with_its_reason():
    tool = tool_named(
        "book", ZIP, Parameter("size", ParameterKind.INTEGER), Parameter("on", ParameterKind.DATE)
    )

    with pytest.raises(ArgumentError) as caught:
        validate_arguments(tool, {"zip": "1", "size": True, "colour": "red"})

    assert dict(caught.value.problems) == {
        "zip": r"must match \d{4}, not '1'",
        "size": "must be a whole number, not True",
        "on": "is missing",
        "colour": "is no parameter of the tool",
    }
    assert isinstance(caught.value, InvalidValueError)
    assert "tool 'book'" in str(caught.value)


def test_pattern_matches_the_whole_text():
    tool = tool_named("t", ZIP)

    with pytest.raises(ArgumentError):
        validate_arguments(tool, {"zip": "10101"})


def test_broken_pattern_is_the_tools_error():
    tool = tool_named("broken", Parameter("x", ParameterKind.STRING, pattern="("))

    with pytest.raises(InvalidValueError, match=r"tool 'broken'.*no regular expression") as caught:
        validate_arguments(tool, {"x": "a"})
    assert not isinstance(caught.value, ArgumentError)


def test_defaults_are_copies():
    tool = tool_named(
        "t", Parameter("x", ParameterKind.LIST, items=CITY, required=False, default=["a"])
    )

    validate_arguments(tool, {})["x"].append("b")

    assert validate_arguments(tool, {}) == {"x": ["a"]}


def test_moment_without_an_offset_is_utc():
    tool = tool_named("t", Parameter("at", ParameterKind.DATETIME))

    read = validate_arguments(tool, {"at": "2026-03-05T14:30"})

    assert read == {"at": "2026-03-05T14:30:00+00:00"}


def test_names_that_a_model_reserves_are_ordinary_parameters():
    names = ("model_config", "_private", "schema", "class", "with space")
    tool = tool_named("t", *(Parameter(name, ParameterKind.STRING) for name in names))

    assert validate_arguments(tool, dict.fromkeys(names, "v")) == dict.fromkeys(names, "v")


def test_tools_that_differ_in_a_default_alone_are_told_apart():
    first = tool_named("t", Parameter("x", ParameterKind.STRING, required=False, default="a"))
    second = tool_named("t", Parameter("x", ParameterKind.STRING, required=False, default="b"))

    assert validate_arguments(first, {}) == {"x": "a"}
    assert validate_arguments(second, {}) == {"x": "b"}


def test_python_values_have_dates_at_any_depth():
    when = Parameter("when", ParameterKind.DATE)
    tool = tool_named(
        "t",
        when,
        Parameter("at", ParameterKind.DATETIME),
        Parameter("days", ParameterKind.LIST, items=when),
        Parameter("trip", ParameterKind.RECORD, fields=(when,)),
        Parameter("until", ParameterKind.DATE, required=False),
    )
    day = "2026-03-05"
    read = validate_arguments(
        tool, {"when": day, "at": f"{day}T10:00Z", "days": [day], "trip": {"when": day}}
    )

    assert python_arguments(tool, read) == {
        "when": date(2026, 3, 5),
        "at": datetime(2026, 3, 5, 10, tzinfo=UTC),
        "days": [date(2026, 3, 5)],
        "trip": {"when": date(2026, 3, 5)},
        "until": None,
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(value=JSON, kind=st.sampled_from(list(MATRIX)))
def test_checking_is_total_and_idempotent(value, kind):
    neutral, fields, _, _ = MATRIX[kind]
    tool = tool_named("t", Parameter("x", neutral, nullable=True, **fields))

    try:
        read = validate_arguments(tool, {"x": value})
    except ArgumentError:
        return

    assert validate_arguments(tool, read) == read
    json.dumps(read, allow_nan=False)
