"""After tools, what their results can change is judged again, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise import tool
from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedDecisionModel
from poise.turn.models import DecisionRequest, Question

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


class Clerk:
    """Judges rules by what the results of tools in the state say."""

    def __init__(self) -> None:
        self.decisions = ScriptedDecisionModel(self._answer)
        self.texts: dict[str, Callable[[str], bool]] = {}

    def _answer(self, question: Question, request: DecisionRequest) -> float | None:
        for part, judge in self.texts.items():
            if part in question.text:
                return 0.99 if judge(request.state.text) else 0.01
        return question.prior

    def asked(self) -> list[list[str]]:
        return [[each.text for each in request.questions] for request in self.decisions.requests]


async def look_up_stock() -> dict[str, int]:
    return {"left": 0}


async def test_a_rule_bound_to_a_tool_is_judged_again_after_it(open_application: Open) -> None:
    """The result of an availability check activates the right one of two rules."""
    clerk = Clerk()
    clerk.texts = {
        "the article is sold out": lambda state: '\\"left\\": 0' in state,
        "the article is in stock": lambda state: '\\"left\\": 0' not in state,
    }
    stock = tool(look_up_stock)
    async with open_application(ScriptedParts(decisions=clerk.decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Stock", "Look it up", signals=["stock"], tools=[stock])
        sold_out = await agent.create_guideline(
            "the article is sold out",
            "Offer to order it",
            signals=["stock"],
            weight="high",
            canned_responses=["Shall I order it?"],
        )
        there = await agent.create_guideline(
            "the article is in stock",
            "Say that it is there",
            signals=["stock"],
            weight="high",
            canned_responses=["It is here."],
        )
        await sold_out.reevaluate_after(stock)
        await there.reevaluate_after(stock)
        session = await app.open_session(agent)

        reply = await session.say("stock?")

    assert reply.text == "Shall I order it?"
    fates = {line.subject: line.fate for line in reply.ledger.lines}
    assert (fates[sold_out.id], fates[there.id]) == ("matched", "not_applicable")
    first, second = clerk.asked()
    assert len(first) == 3
    assert len(second) == 2, "only the two that the tool can change"


async def test_what_no_result_can_change_is_not_asked_again(open_application: Open) -> None:
    clerk = Clerk()
    async with open_application(ScriptedParts(decisions=clerk.decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Stock", "Look", signals=["stock"], tools=[tool(look_up_stock)])
        await agent.create_policy("Hours", "Say them", signals=["stock"], weight="high")
        session = await app.open_session(agent)

        await session.say("stock?")

    assert len(clerk.asked()) == 1


async def test_a_result_brings_up_a_rule_and_has_it_judged_with_the_result(
    open_application: Open,
) -> None:
    """A rule that was judged before, and that the result itself sights, is judged again."""
    clerk = Clerk()
    clerk.texts = {"a parcel was lost": lambda state: "lost in transit" in state}

    async def track() -> str:
        return "parcel lost in transit"

    async with open_application(ScriptedParts(decisions=clerk.decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Track", "Track it", signals=["where"], tools=[tool(track)])
        lost = await agent.create_guideline(
            "a parcel was lost",
            "Apologise",
            signals=["lost parcel", "where"],
            weight="high",
            canned_responses=["I am sorry that it was lost."],
        )
        session = await app.open_session(agent)

        reply = await session.say("where is it?")

    assert reply.text == "I am sorry that it was lost."
    assert [line.fate for line in reply.ledger.lines if line.subject == lost.id] == ["matched"]


async def test_what_depends_on_a_changed_verdict_is_judged_again(open_application: Open) -> None:
    clerk = Clerk()
    clerk.texts = {"it is sold out": lambda state: '\\"left\\": 0' in state}
    stock = tool(look_up_stock)
    async with open_application(ScriptedParts(decisions=clerk.decisions)) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Stock", "Look it up", signals=["stock"], tools=[stock])
        sold_out = await agent.create_observation("it is sold out", signals=["stock"])
        await sold_out.reevaluate_after(stock)
        await agent.create_policy(
            "Order",
            "Offer to order it",
            signals=["stock"],
            dependencies=[sold_out],
            canned_responses=["Shall I order it?"],
        )
        session = await app.open_session(agent)

        reply = await session.say("stock?")

    assert reply.text == "Shall I order it?"
    asked = clerk.asked()
    assert [len(each) for each in asked] == [3, 1, 1]
    assert "Order" in asked[2][0]
