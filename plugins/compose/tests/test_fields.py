"""Where fields come from, what counts as missing, and how values are written."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.testing.turns import catalog_of, turn_of
from poise.turn.context import TurnContext
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import ToolOutcome
from poise.values.customers import Customer
from poise.values.ids import CustomerId, ToolId
from poise.values.tools import ToolCall, ToolResult
from poise_compose.fields import Fields
from poise_compose.plain import Writing, is_blank, listed, plain, written


def outcome(tool: str = "lookup", **result) -> ToolOutcome:
    call = ToolCall(f"key {tool}", ToolId(f"tool_{tool}"), {})
    return ToolOutcome(call, tool, ToolResult(**result))


def recorded(offset: int, tool: str = "lookup", **call) -> RecordedCall:
    return RecordedCall(tool=tool, stage=call.pop("stage", "finished"), offset=offset, **call)


def turn(**fields) -> TurnContext:
    return turn_of(catalog_of(), "hello", **fields)


def value_of(path: str, turn: TurnContext, **named) -> object:
    found = Fields(turn, Writing(), **named).find(path)
    return None if found is None else found.value


@pytest.mark.parametrize("value", [0, False, "", [], 0.0])
def test_b051_falsy_values_are_values(value):
    assert value_of("count", turn(results=(outcome(fields={"count": value}),))) == value


@pytest.mark.parametrize("value", [None, {}, {"a": 1}, float("nan"), float("inf"), b"x", object()])
def test_what_has_no_plain_form_is_missing(value):
    assert value_of("count", turn(results=(outcome(fields={"count": value}),))) is None


def test_this_turns_results_come_first_and_the_newest_of_them():
    results = (outcome(data={"day": "Monday", "place": "Ulm"}), outcome(fields={"day": "Tuesday"}))
    state = SessionState(calls={"k": recorded(3, data={"day": "Sunday"})})

    context = turn(results=results, state=state, fields={"day": "hook"}, variables={"day": "var"})

    assert value_of("day", context) == "Tuesday"
    assert value_of("place", context) == "Ulm"


def test_hook_fields_then_earlier_turns_then_variables():
    state = SessionState(
        calls={
            "new": recorded(9, data={"b": "newer", "c": "newer"}),
            "old": recorded(3, fields={"b": "older"}),
            "failed": recorded(10, data={"b": "failed"}, error="broke"),
            "running": recorded(11, data={"b": "running"}, stage="started"),
        }
    )

    context = turn(state=state, fields={"a": "hook", "b": "hook"}, variables={"c": "v", "d": "v"})

    assert [value_of(name, context) for name in "abcd"] == ["hook", "hook", "newer", "v"]
    assert value_of("b", attrs.evolve(context, fields={})) == "newer"


def test_a_failed_result_fills_nothing_and_hides_what_its_tool_returned_before():
    state = SessionState(calls={"k": recorded(3, data={"balance": 10})})
    failed = outcome(data={"balance": 20}, error="the ledger is closed")

    assert value_of("balance", turn(state=state)) == 10
    assert value_of("balance", turn(state=state, results=(failed,))) is None


def test_dots_walk_records_and_nothing_else():
    data = {"card": {"limit": {"day": 500}}, "when": date(2026, 1, 5), "names": ["a"]}
    context = turn(results=(outcome(data=data),))

    assert value_of("card.limit.day", context) == 500
    for path in ("card.limit", "when.year", "names.0", "card..day", "card._x", "when.__class__"):
        assert value_of(path, context) is None


def test_standard_fields():
    context = turn(
        variables={"plan": {"name": "Gold"}, "points": 0},
        customer=Customer(CustomerId("c"), "Ada", metadata={"secret": "x"}),
    )

    assert value_of("std.customer.name", context) == "Ada"
    assert value_of("std.agent.name", context) == "Test agent"
    assert value_of("std.variables.plan.name", context) == "Gold"
    assert value_of("std.variables.points", context) == 0
    assert value_of("std.missing_params", context) is None
    assert value_of("std.missing_params", context, missing=["amount", "day"]) == "amount and day"
    for path in ("secret", "std.customer.metadata.secret", "std.customer.id", "std", "generic.x"):
        assert value_of(path, context) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "1234.5"),
        (10.0, "10"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1e-7, "0.0000001"),
        (1e21, "1000000000000000000000"),
        (Decimal("12.50"), "12.50"),
        (0, "0"),
        (True, "yes"),
        (False, "no"),
        (date(2026, 1, 5), "2026-01-05"),
        (datetime(2026, 1, 5, 9, 30, 12, 5, tzinfo=UTC), "2026-01-05 09:30+00:00"),
        ([1, "two", 3.0], "1, two, 3"),
        ([], ""),
        ("a\x00b\tc\nd", "a\x00b\tc\nd".replace("\x00", "")),
    ],
)
def test_values_are_written_for_people(value, text):
    made = plain(value, Writing())

    assert made is not None
    assert written(made, Writing()) == text


def test_long_text_is_cut_and_long_numbers_are_refused():
    writing = Writing(limit=20)

    assert plain("x" * 1_000_000, writing) == "x" * 19 + "…"
    assert plain(10**5000, writing) is None
    assert written(plain(["long"] * 50, writing), writing).endswith("…")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text()
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.integers()),
    max_leaves=8,
)


@given(values, st.integers(20, 60))
def test_any_value_is_written_within_the_limit_or_has_no_plain_form(value, limit):
    writing = Writing(limit=limit)

    made = plain(value, writing)

    if made is not None:
        text = written(made, writing)
        assert len(text) <= max(limit, 60)
        assert "\x00" not in text


def test_lists_of_names_read_as_a_sentence():
    assert [listed(list("abc"[:n]), " and ") for n in range(4)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \n\t", True), ("\u200b\x00", True), ("·", False)]
)
def test_blank_is_what_nobody_sees(text, blank):
    assert is_blank(text) is blank
