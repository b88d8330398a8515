"""Guards: judged whatever the customer says, bound to every turn, to a tool, or to the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise import InvalidValueError, tool
from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedDecisionModel
from poise.turn.models import DecisionRequest, Question

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


def judging(guard: str, verdict: float) -> ScriptedDecisionModel:
    def answer(question: Question, request: DecisionRequest) -> float | None:
        return verdict if guard in question.text else question.prior

    return ScriptedDecisionModel(answer)


async def refund() -> str:
    calls.append("refund")
    return "done"


calls: list[str] = []


@pytest.mark.parametrize(("verdict", "called"), [(0.99, []), (0.01, ["refund"])])
async def test_a_guard_of_a_tool_is_judged_before_its_call_and_may_stop_it(
    open_application: Open, verdict: float, called: list[str]
) -> None:
    """No customer's words bring it up: offering the tool does."""
    calls.clear()
    decisions = judging("the purchase is older than a year", verdict)
    paying = tool(refund)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        refunding = await agent.create_policy(
            "Refund", "Pay it back", signals=["money back"], tools=[paying]
        )
        guard = await agent.create_guideline(
            "the purchase is older than a year", "Refuse the refund", guards=[paying]
        )
        await guard.exclude(refunding)
        session = await app.open_session(agent)

        quiet = await session.say("hello")
        reply = await session.say("my money back, please")

    assert calls == called
    fates = {line.subject: line.fate for line in reply.ledger.lines}
    assert fates[guard.id] == ("matched" if verdict > 0.5 else "not_applicable")
    assert fates[refunding.id] == ("excluded" if verdict > 0.5 else "matched")
    assert guard.id not in {line.subject for line in quiet.ledger.lines}


async def test_an_always_judged_rule_is_judged_though_nothing_brings_it_up(
    open_application: Open,
) -> None:
    decisions = judging("the customer threatens somebody", 0.99)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        guard = await agent.create_guideline(
            "the customer threatens somebody",
            "Call the supervisor",
            always_judged=True,
            canned_responses=["I have called my supervisor."],
        )
        session = await app.open_session(agent)

        reply = await session.say("qwerty")

    assert reply.text == "I have called my supervisor."
    assert [line.fate for line in reply.ledger.lines] == ["matched"]
    assert reply.ledger.lines[0].subject == guard.id


async def test_a_rule_about_the_reply_is_in_view_of_every_reply_and_judged_by_nobody_before(
    open_application: Open,
) -> None:
    decisions = judging("nothing", 0.5)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        rule = await agent.create_policy(
            "No promises", "Promise no dates of delivery", way_in="reply", weight="high"
        )
        session = await app.open_session(agent)

        for text in ("hello", "and now?"):
            reply = await session.say(text)
            line = next(each for each in reply.ledger.lines if each.subject == rule.id)
            assert (line.fate, line.judged_by) == ("in_context", None)

    assert decisions.requests == []


async def test_a_way_in_by_tools_needs_a_tool(open_application: Open) -> None:
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        with pytest.raises(InvalidValueError, match="guards"):
            await agent.create_policy("Guard", "Watch out", way_in="tool")


async def test_a_guard_for_other_customers_does_not_hold_up_the_turn(
    open_application: Open,
) -> None:
    calls.clear()
    paying = tool(refund)
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Refund", "Pay it back", signals=["money back"], tools=[paying])
        await agent.create_guideline("it is old", "Refuse", guards=[paying], groups=["business"])
        session = await app.open_session(agent)

        await session.say("my money back, please")

    assert calls == ["refund"]
