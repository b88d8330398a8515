"""`@poise.tool`: what a function's annotations, defaults and docstring become."""

from __future__ import annotations

import dataclasses
import datetime as dt
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict

import attrs
import pydantic
import pytest

from poise.errors import InvalidValueError
from poise.sdk.annotations import ToolParameter
from poise.sdk.tool import DeclaredTool, tool
from poise.testing.tools import context_of
from poise.testing.turns import AGENT
from poise.turn.arguments import python_arguments, validate_arguments
from poise.values.conversion import from_json, to_json
from poise.values.functions import call_parameters, takes_context
from poise.values.tools import ArgumentSource, Parameter, ParameterKind, ToolContext


class Plan(Enum):
    GOLD = "gold"
    SILVER = "silver"


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Visit:
    day: dt.date
    guests: int = 1


@attrs.frozen
class Address:
    city: str
    visits: tuple[Visit, ...] = ()


class Size(TypedDict):
    width: float
    depth: NotRequired[float]


class Order(pydantic.BaseModel):
    sku: str = pydantic.Field(description="What is ordered")
    count: int = 1


CardId = NewType("CardId", str)
DAY = dt.date(2026, 3, 5)
MOMENT = dt.datetime(2026, 3, 5, 14, tzinfo=dt.UTC)

# Annotation, kind, what JSON holds, what the function gets.
MATRIX: dict[str, tuple[Any, ParameterKind, Any, Any]] = {
    "text": (str, ParameterKind.STRING, "a", "a"),
    "new type": (CardId, ParameterKind.STRING, "a", "a"),
    "int": (int, ParameterKind.INTEGER, 5, 5),
    "float": (float, ParameterKind.NUMBER, 5, 5.0),
    "int or float": (int | float, ParameterKind.NUMBER, 5.5, 5.5),
    "decimal": (Decimal, ParameterKind.NUMBER, 0.1, Decimal("0.1")),
    "bool": (bool, ParameterKind.BOOLEAN, True, True),
    "date": (dt.date, ParameterKind.DATE, "2026-03-05", DAY),
    "datetime": (dt.datetime, ParameterKind.DATETIME, "2026-03-05T14:00:00+00:00", MOMENT),
    "enum": (Plan, ParameterKind.STRING, "gold", Plan.GOLD),
    "enum of numbers": (Level, ParameterKind.INTEGER, 2, Level.HIGH),
    "literal": (Literal["a", "b"], ParameterKind.STRING, "a", "a"),
    "list": (list[int], ParameterKind.LIST, [1, 2], [1, 2]),
    "list of enum": (list[Plan], ParameterKind.LIST, ["gold"], [Plan.GOLD]),
    "tuple": (tuple[dt.date, ...], ParameterKind.LIST, ["2026-03-05"], (DAY,)),
    "sequence": (Sequence[str], ParameterKind.LIST, ["a"], ["a"]),
    "set": (set[str], ParameterKind.LIST, ["a"], {"a"}),
    "dataclass": (
        Visit,
        ParameterKind.RECORD,
        {"day": "2026-03-05", "guests": 2},
        Visit(DAY, 2),
    ),
    "attrs class": (
        Address,
        ParameterKind.RECORD,
        {"city": "Graz", "visits": [{"day": "2026-03-05", "guests": 1}]},
        Address("Graz", (Visit(DAY),)),
    ),
    "typed dict": (
        Size,
        ParameterKind.RECORD,
        {"width": 2.5, "depth": 1.5},
        {"width": 2.5, "depth": 1.5},
    ),
    "pydantic model": (
        Order,
        ParameterKind.RECORD,
        {"sku": "A", "count": 2},
        Order(sku="A", count=2),
    ),
}


def declared(annotation: Any, *default: Any) -> DeclaredTool[..., Any]:
    def take(x):
        return x

    take.__annotations__ = {"x": annotation}
    take.__defaults__ = default or None
    return tool(take)


def given(made: DeclaredTool[..., Any], **arguments: Any) -> Any:
    """Return what the function gets for `x`, by way of the neutral parameters."""
    neutral = made.tool_of(AGENT.id)
    read = python_arguments(neutral, validate_arguments(neutral, arguments))
    ((parameter, annotation),) = call_parameters(made.function, "here")
    return from_json(annotation, read[parameter.name])


@pytest.mark.parametrize("case", MATRIX)
class TestTypeMatrix:
    """B-035: every type registers and makes the round trip, required, optional, defaulted, null."""

    def test_required(self, case):
        annotation, kind, plain, value = MATRIX[case]

        made = declared(annotation)

        (parameter,) = made.parameters
        assert (parameter.name, parameter.kind, parameter.required) == ("x", kind, True)
        assert given(made, x=plain) == value
        assert type(given(made, x=plain)) is type(value)

    def test_optional(self, case):
        annotation, kind, plain, value = MATRIX[case]

        made = declared(Optional[annotation], None)  # noqa: UP045 - `|` is not defined for all

        (parameter,) = made.parameters
        assert (parameter.kind, parameter.required, parameter.nullable) == (kind, False, True)
        assert given(made) is None
        assert given(made, x=plain) == value

    def test_default(self, case):
        annotation, _, plain, value = MATRIX[case]

        made = declared(annotation, value)

        assert made.parameters[0].default == plain
        assert given(made) == value

    def test_nullable_without_a_default_has_to_be_given(self, case):
        annotation, _, _, _ = MATRIX[case]

        made = declared(Optional[annotation])  # noqa: UP045 - `|` is not defined for all

        assert made.parameters[0].required
        assert given(made, x=None) is None

    def test_value_and_json_are_inverse(self, case):
        annotation, _, plain, value = MATRIX[case]

        assert to_json(value) == plain
        assert from_json(annotation, plain) == value


def test_choices_of_enums_and_literals_are_their_values():
    assert declared(Plan).parameters[0].choices == ("gold", "silver")
    assert declared(list[Plan]).parameters[0].items.choices == ("gold", "silver")
    assert declared(Literal["a", None]).parameters[0].nullable


def test_records_name_their_fields_with_defaults():
    visits = declared(Address).parameters[0].fields[1]
    day, guests = visits.items.fields

    assert (visits.required, visits.default) == (False, [])
    assert (day.name, day.kind, day.required) == ("day", ParameterKind.DATE, True)
    assert (guests.name, guests.required, guests.default) == ("guests", False, 1)
    assert declared(Order).parameters[0].fields[0].description == "What is ordered"


def test_key_that_a_typed_dict_may_lack_is_absent_and_not_null():
    assert given(declared(Size), x={"width": 2.5}) == {"width": 2.5}


@tool(consequential=True, timeout=5)
async def freeze_card(
    context: ToolContext,
    card_id: Annotated[
        str,
        ToolParameter(
            pattern=r"card_\d+",
            source=ArgumentSource.CUSTOMER,
            precedence=2,
            question="Which card?",
        ),
    ],
    reason: str = "lost",
) -> str:
    """Freeze a card.

    It can be thawed again.

    Args:
        card_id: The card
            to freeze.
        reason (str): Why.

    Returns:
        What happened.
    """
    return f"{context.customer} froze {card_id}: {reason}"


def test_docstring_and_options_describe_the_tool():
    card, reason = freeze_card.parameters

    assert freeze_card.name == "freeze_card"
    assert freeze_card.description == "Freeze a card.\n\nIt can be thawed again."
    assert card == Parameter(
        "card_id",
        ParameterKind.STRING,
        "The card to freeze.",
        pattern=r"card_\d+",
        source=ArgumentSource.CUSTOMER,
        precedence=2,
        question="Which card?",
    )
    assert (reason.description, reason.default) == ("Why.", "lost")


def test_tool_of_an_agent_has_a_stable_id():
    made = freeze_card.tool_of(AGENT.id)

    assert made.id == freeze_card.tool_of(AGENT.id).id
    assert (made.name, made.service, made.consequential, made.timeout) == (
        "freeze_card",
        "functions",
        True,
        5,
    )


@pytest.mark.anyio
async def test_declared_function_is_called_as_itself():
    assert await freeze_card(context_of(), card_id="card_1") == "guest froze card_1: lost"


def test_name_and_description_can_be_given():
    made = tool(name="other", description="Does it.")(freeze_card.function)

    assert (made.name, made.description) == ("other", "Does it.")


def test_context_is_known_by_its_name_or_its_type():
    def by_name(context, x: str): ...
    def by_type(c: ToolContext, x: str): ...
    def without(x: str): ...

    assert [takes_context(each) for each in (by_name, by_type, without)] == [True, True, False]
    assert [each.name for each in tool(by_name).parameters] == ["x"]


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (dict, "no tool call can carry; use str, int"),
        (object, "no tool call can carry"),
        (int | str, "only `T | None` can be a union"),
        (list, "say of what, e.g. list[str]"),
        (tuple[int, str], "say of what, e.g. list[str]"),
        (Literal["a", 1], "choices of several types"),
        (Annotated[str, ToolParameter(pattern="(")], "no regular expression"),
        (Annotated[int, ToolParameter(pattern="1")], "a pattern, which is for texts alone"),
        ("Unheard", "unknown at run time"),
    ],
)
def test_annotation_that_no_call_can_carry_is_an_error_with_the_mend(annotation, said):
    with pytest.raises(InvalidValueError) as caught:
        declared(annotation)

    assert str(caught.value).startswith("tool 'take': parameter 'x' ")
    assert said in str(caught.value)


def test_default_outside_the_choices_is_an_error():
    with pytest.raises(InvalidValueError, match="defaults to 'tin'"):
        declared(Annotated[str, ToolParameter(choices=("gold",))], "tin")


def test_parameter_without_a_type_is_an_error_that_names_it():
    def bare(amount): ...

    with pytest.raises(InvalidValueError, match="'bare': parameter 'amount' has no type"):
        tool(bare)


def test_open_ended_and_positional_parameters_are_errors():
    def many(*rest: str): ...
    def first(x: str, /): ...

    with pytest.raises(InvalidValueError, match="open-ended"):
        tool(many)
    with pytest.raises(InvalidValueError, match="positional only"):
        tool(first)


def test_record_within_itself_is_an_error():
    with pytest.raises(InvalidValueError, match="nests records"):
        declared(Node)


@dataclasses.dataclass
class Node:
    below: Node | None = None


def test_declaring_a_tool_imports_no_pydantic():
    program = (
        "import sys; from poise.sdk.tool import tool\n"
        "@tool\ndef f(x: int) -> int: return x\n"
        "assert 'pydantic' not in sys.modules, 'pydantic'"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()
