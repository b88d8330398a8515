"""Two readings: the customer is asked with the options as they would say them, then heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import assert_session_laws
from poise.turn.models import DecisionRequest, Question
from poise.turn.state import fold

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


class Bank:
    """An agent that may be asked to block a card, or to replace it."""

    def __init__(self) -> None:
        self.decisions = ScriptedDecisionModel(self._answer)

    def _answer(self, question: Question, request: DecisionRequest) -> float | None:
        said = " ".join(request.focus)
        if "Is it unclear" in question.text:
            return 0.99 if said == "my card!" else 0.01
        if "May the customer mean" in question.text:
            return 0.9
        if "Do the new messages choose" in question.text:
            return 0.99 if question.examples[0] in said else 0.01
        return 0.99 if "card" in said else 0.01

    async def open(self, app: Any) -> Any:
        agent = await app.create_agent("Bank", composition_mode="canned_strict", no_match="Hm?")
        self.block = await agent.create_policy(
            "Block", "Block it", signals=["block my card"], canned_responses=["It is blocked."]
        )
        self.replace = await agent.create_policy(
            "Replace", "Send one", signals=["replace my card"], canned_responses=["It is sent."]
        )
        self.unclear = await agent.create_observation(
            "it is unclear what is to happen to the card",
            signals=["my card"],
            canned_responses=["Shall I block it, or send a new one?"],
        )
        await self.unclear.disambiguate([self.block, self.replace])
        return await app.open_session(agent)


async def test_none_of_the_readings_is_acted_on_the_customer_is_asked_and_the_answer_decides(
    open_application: Open,
) -> None:
    """Disambiguation over two rules: neither acts, then the chosen one does."""
    bank = Bank()
    async with open_application(ScriptedParts(decisions=bank.decisions)) as app:
        session = await bank.open(app)

        first = await session.say("my card!")
        state = fold(await session.events())
        second = await session.say("block my card")
        after = fold(await session.events())
        assert_session_laws(await session.events())

    assert first.text == "Shall I block it, or send a new one?"
    fates = {line.subject: line for line in first.ledger.lines}
    for handle in (bank.block, bank.replace):
        assert fates[handle.id].fate == "ambiguous"
        assert fates[handle.id].cause == (bank.unclear.id,)
    asked = state.clarifications[bank.unclear.id]
    assert [subject for subject, _ in asked.options] == [bank.block.id, bank.replace.id]
    assert dict(asked.options)[bank.block.id] == "block my card"
    assert second.text == "It is blocked."
    later = {line.subject: line.fate for line in second.ledger.lines}
    assert later[bank.block.id] == "matched"
    assert later[bank.replace.id] == "not_applicable"
    assert after.clarifications == {}


async def test_what_is_clear_is_not_asked_about(open_application: Open) -> None:
    """B-010: two requests in one message bring both of their rules into force."""
    bank = Bank()
    async with open_application(ScriptedParts(decisions=bank.decisions)) as app:
        session = await bank.open(app)

        reply = await session.say("both: block my card and replace my card")

    fates = {line.subject: line.fate for line in reply.ledger.lines}
    assert fates[bank.unclear.id] == "not_applicable"
    assert fates[bank.block.id] == fates[bank.replace.id] == "matched"
    assert reply.ledger.clarifications == ()


async def test_a_question_that_was_not_answered_is_asked_again(open_application: Open) -> None:
    bank = Bank()
    async with open_application(ScriptedParts(decisions=bank.decisions)) as app:
        session = await bank.open(app)

        await session.say("my card!")
        again = await session.say("my card!")

    assert again.text == "Shall I block it, or send a new one?"
    assert [each.head for each in again.ledger.clarifications] == [bank.unclear.id]
