"""The tool caller: what is called, what is at hand already, and what has to be asked."""

from __future__ import annotations

from datetime import timedelta

import attrs
import pytest

from poise import Extractor
from poise.testing.tools import call_of, offered, tool_named
from poise.testing.turns import SESSION, catalog_of, message, policy, turn_of
from poise.turn.history import History
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import Fact, ToolOutcome
from poise.values.events import Event, EventKind, Source
from poise.values.ids import EventId
from poise.values.tools import (
    ArgumentSource,
    Parameter,
    ParameterKind,
    Tool,
    ToolResult,
)
from poise_tools import ReadingToolCaller, ToolSettings

pytestmark = pytest.mark.anyio

KIND = ParameterKind
AMOUNT = Parameter("amount", KIND.NUMBER)
DEST = Parameter("destination", KIND.STRING, choices=("John", "Mary"))
DATE = Parameter("date", KIND.DATE, question="On which date?")
TRANSFER = tool_named("transfer", DEST, AMOUNT, DATE, consequential=True)
PAY = tool_named("pay", DEST, AMOUNT, consequential=True)
LOOK_UP = tool_named("look_up", Parameter("order_id", KIND.STRING, pattern=r"ORD-\d+"))
FREEZE = tool_named("freeze", consequential=True)


def agent_said(text):
    return (Source.AI_AGENT, text)


def turn(tool: Tool, *said, **fields):
    return turn_of(catalog_of(tools=[tool]), *said, **fields)


def made(tool: Tool, offset: int, stage: str = "finished", **arguments):
    """Return the state after `tool` was called in an earlier turn."""
    error = arguments.pop("error", None)
    call = RecordedCall(
        tool.name, stage, offset, arguments=arguments, data={"ok": True}, error=error
    )
    return SessionState(calls={f"key:{tool.name}": call})


async def plan_of(caller, tool, *said, **fields):
    return await caller.infer([offered(tool)], turn(tool, *said, **fields))


# -- missing and wrong --


async def test_missing_date_means_no_call_and_is_named(caller):
    """B-032: the composer is told which tool was wanted and what is missing."""
    plan = await plan_of(caller, TRANSFER, "send 200 to John")

    assert plan.calls == ()
    ((insight),) = plan.insights
    assert (insight.tool, insight.missing) == ("transfer", (DATE,))
    assert {fact.field: fact.value for fact in plan.facts} == {
        "destination": "John",
        "amount": 200,
    }


async def test_answer_to_the_question_completes_the_call(caller):
    plan = await plan_of(
        caller, TRANSFER, "send 200 to John", agent_said("On which date?"), "tomorrow"
    )

    (call,) = plan.calls
    assert dict(call.arguments) == {"destination": "John", "amount": 200, "date": "2026-01-06"}
    assert dict(call.sources) == {
        "destination": "John (event 0)",
        "amount": "200 (event 0)",
        "date": "tomorrow (event 2)",
    }


@pytest.mark.parametrize(
    "said", ["book me a table", "can you book a table for us?", "table please", "book it again"]
)
async def test_vague_request_makes_up_nothing(caller, said):
    """B-033: date, time and party size are asked for, never invented."""
    book = tool_named(
        "book_table", DATE, Parameter("at", KIND.DATETIME), Parameter("people", KIND.INTEGER)
    )

    plan = await plan_of(caller, book, said)

    assert plan.calls == ()
    assert plan.facts == ()
    assert [each.name for each in plan.insights[0].missing] == ["date", "at", "people"]


async def test_missing_items_are_asked_for_one_group_at_a_time(caller):
    """B-039."""
    first = Parameter("order_id", KIND.STRING, pattern=r"ORD-\d+", precedence=1)
    second = Parameter("plan", KIND.STRING, choices=("gold", "silver"), precedence=1)
    third = Parameter("day", KIND.DATE, precedence=2)
    tool = tool_named("book", third, first, second)

    nothing = await plan_of(caller, tool, "book it")
    one = await plan_of(caller, tool, "book gold")
    both = await plan_of(caller, tool, "book gold for ORD-1")

    assert [each.name for each in nothing.insights[0].missing] == ["order_id", "plan"]
    assert [each.name for each in one.insights[0].missing] == ["order_id"]
    assert [each.name for each in both.insights[0].missing] == ["day"]


async def test_what_only_the_context_can_give_is_not_asked_for(caller):
    tier = Parameter("tier", KIND.STRING, source=ArgumentSource.CONTEXT)

    plan = await plan_of(caller, tool_named("upgrade", tier), "upgrade me")

    assert plan.insights[0].missing == ()
    assert plan.insights[0].note == "nothing that is known of the customer gives tier"


@pytest.mark.parametrize(
    ("question", "reply", "reason"),
    [
        (
            "On which date?",
            "03/04/2026",
            "'03/04/2026' is not a date that can be read in one way, such as 2026-03-05",
        ),
        ("On which date?", "what a day", None),
        ("To which destination?", "Peter", "'Peter' is not one of John, Mary"),
        ("To which destination?", "why?", None),
    ],
)
async def test_answer_that_does_not_count_is_explained(caller, question, reply, reason):
    plan = await plan_of(caller, TRANSFER, "send 200", agent_said(question), reply)

    assert plan.calls == ()
    assert list(plan.insights[0].invalid.values()) == ([reason] if reason else [])


class Guessing(Extractor):
    async def extract(self, fields, turn):
        return [Fact("destination", "Peter", "Peter", 0), Fact("amount", True, "yes", 0)]


async def test_value_that_does_not_fit_is_explained():
    plan = await ReadingToolCaller(Guessing(), ToolSettings()).infer(
        [offered(PAY)], turn(PAY, "send it")
    )

    assert plan.calls == ()
    assert dict(plan.insights[0].invalid) == {
        "destination": "must be one of John, Mary, not 'Peter'",
        "amount": "must be a number, not True",
    }
    assert plan.insights[0].missing == (DEST, AMOUNT)


async def test_optional_argument_takes_its_default(caller):
    """B-034."""
    brand = Parameter("brand", KIND.STRING, choices=("acme",), required=False)
    search = tool_named("search", LOOK_UP.parameters[0], brand)

    plan = await plan_of(caller, search, "find ORD-1")

    assert dict(plan.calls[0].arguments) == {"order_id": "ORD-1", "brand": None}
    assert plan.calls[0].sources["brand"] == "default"


# -- one call --


async def test_tool_that_two_rules_share_is_judged_and_called_once(caller):
    """B-038."""
    tools = [offered(LOOK_UP, "first"), offered(LOOK_UP, "second")]

    plan = await caller.infer(tools, turn(LOOK_UP, "where is ORD-1"))

    (call,) = plan.calls
    assert call.why == (policy("first").id, policy("second").id)


async def test_second_round_of_a_turn_calls_nothing_again(caller):
    """B-038."""
    first = turn(LOOK_UP, "where is ORD-1")
    (call,) = (await caller.infer([offered(LOOK_UP)], first)).calls
    outcome = ToolOutcome(call, "look_up", result=ToolResult(data="shipped"))

    again = await caller.infer([offered(LOOK_UP)], attrs.evolve(first, results=(outcome,)))

    assert (again.calls, dict(again.already)) == ((), {"look_up": call.key})


async def test_restarted_turn_plans_the_same_call_for_the_gate_to_answer(caller):
    said = "send 200 to John"
    (call,) = (await plan_of(caller, PAY, said)).calls
    done = RecordedCall("pay", "finished", 1, arguments=call.arguments)

    again = await plan_of(caller, PAY, said, state=SessionState(calls={call.key: done}))

    assert [each.key for each in again.calls] == [call.key]


async def test_result_of_this_turn_fills_the_next_tool(caller):
    cards = tool_named("list_cards")
    freeze = tool_named("freeze_card", Parameter("card_id", KIND.STRING))
    outcome = ToolOutcome(
        call_of(cards), "list_cards", result=ToolResult(data=[{"card_id": "c-7"}]), offset=3
    )

    plan = await plan_of(caller, freeze, "freeze my card", results=(outcome,))

    assert dict(plan.calls[0].arguments) == {"card_id": "c-7"}
    assert plan.calls[0].sources["card_id"] == "result of list_cards (event 3)"


# -- results of earlier turns --


def later(tool, text, state, *, seconds, declared=()):
    """Return a turn `seconds` after `tool` was called at offset 1."""
    start = turn_of(catalog_of(), "x").now
    called = Event(
        SESSION,
        1,
        EventId("e1"),
        EventKind.TOOL,
        Source.AI_AGENT,
        "agent",
        None,
        start - timedelta(seconds=seconds),
        {},
    )
    events = (
        message("where is ORD-1", 0),
        called,
        message("shipped", 2, Source.AI_AGENT),
        message(text, 3),
    )
    return turn_of(
        catalog_of(tools=[tool, *declared]), state=state, history=History(events, 4), base=3
    )


async def test_fresh_look_up_of_an_earlier_turn_serves(caller):
    """B-045: the second question is answered from the first result."""
    state = made(LOOK_UP, 1, order_id="ORD-1")

    plan = await caller.infer(
        [offered(LOOK_UP)], later(LOOK_UP, "and its colour?", state, seconds=30)
    )

    assert (plan.calls, dict(plan.already)) == ((), {"look_up": "key:look_up"})


async def test_stale_look_up_is_made_again(caller):
    """B-045: freshness a minute, two minutes later."""
    state = made(LOOK_UP, 1, order_id="ORD-1")

    plan = await caller.infer(
        [offered(LOOK_UP)], later(LOOK_UP, "and its colour?", state, seconds=120)
    )

    assert len(plan.calls) == 1


async def test_look_up_with_other_arguments_is_made(caller):
    state = made(LOOK_UP, 1, order_id="ORD-1")

    plan = await caller.infer([offered(LOOK_UP)], later(LOOK_UP, "and ORD-2?", state, seconds=30))

    assert [dict(call.arguments) for call in plan.calls] == [{"order_id": "ORD-2"}]


async def test_failed_look_up_is_made_again(caller):
    state = made(LOOK_UP, 1, order_id="ORD-1", error="down")

    plan = await caller.infer([offered(LOOK_UP)], later(LOOK_UP, "now?", state, seconds=30))

    assert len(plan.calls) == 1


async def test_look_up_from_before_a_change_is_stale(caller):
    looked = made(LOOK_UP, 1, order_id="ORD-1").calls
    state = SessionState(calls={**looked, "k2": RecordedCall("pay", "finished", 2)})

    plan = await caller.infer(
        [offered(LOOK_UP)], later(LOOK_UP, "now?", state, seconds=30, declared=[PAY])
    )

    assert len(plan.calls) == 1


# -- changes are made once --


async def test_change_is_not_made_again_by_small_talk(caller):
    said = ["send 200 to John", agent_said("Done."), "thanks!"]

    plan = await plan_of(caller, PAY, *said, state=made(PAY, 1, destination="John", amount=200))

    assert plan.calls == ()


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        ("send 200 to John", 1),
        ("did you send 200 to John?", 0),
        ("has it gone to John, the 200?", 0),
        ("send 200 to John again", 1),
        ("send 300 to John", 1),
    ],
)
async def test_same_change_is_made_again_only_when_asked_anew(caller, said, calls):
    before = ["send 200 to John", agent_said("Done.")]

    plan = await plan_of(
        caller, PAY, *before, said, state=made(PAY, 1, destination="John", amount=200)
    )

    assert len(plan.calls) == calls
    assert list(plan.already) == ([] if calls else ["pay"])


@pytest.mark.parametrize(("said", "calls"), [("thanks", 0), ("please try again", 1)])
async def test_failed_change_is_tried_again_when_the_customer_says_so(caller, said, calls):
    before = ["send 200 to John", agent_said("That did not work. What amount was it?"), "200"]
    state = made(PAY, 3, destination="John", amount=200, error="no connection")

    plan = await plan_of(caller, PAY, *before, agent_said("It failed."), said, state=state)

    assert len(plan.calls) == calls


@pytest.mark.parametrize(("said", "calls"), [("thanks", 0), ("freeze it again", 1)])
async def test_change_without_arguments_is_made_once(caller, said, calls):
    before = ["freeze my card", agent_said("Done.")]

    plan = await plan_of(caller, FREEZE, *before, said, state=made(FREEZE, 1))

    assert len(plan.calls) == calls


async def test_change_whose_outcome_is_unknown_is_explained_and_not_repeated(caller):
    before = ["freeze my card", agent_said("One moment.")]

    plan = await plan_of(caller, FREEZE, *before, "and?", state=made(FREEZE, 1, "unknown"))

    assert plan.calls == ()
    assert "came to nothing that is known (no answer)" in plan.insights[0].note


async def test_refused_change_can_be_made_later(caller):
    before = ["freeze my card", agent_said("I can't do that now.")]

    plan = await plan_of(caller, FREEZE, *before, "and now?", state=made(FREEZE, 1, "refused"))

    assert len(plan.calls) == 1


async def test_call_that_failed_on_this_turn_is_neither_repeated_nor_a_result(caller):
    said = "where is ORD-17?"
    (call,) = (await plan_of(caller, LOOK_UP, said)).calls
    failed = ToolOutcome(call, LOOK_UP.name, error="gone")

    plan = await plan_of(caller, LOOK_UP, said, results=(failed,))

    assert (plan.calls, plan.already, plan.insights) == ((), {}, ())
