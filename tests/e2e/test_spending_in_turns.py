"""Limits on spending in whole conversations: first less effort, then only what costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import poise
from poise import Application, Capability, Cards, ModelCard, ModelProvider, Offers, Price
from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedProvider
from poise.testing.scripted_generators import ScriptedStructuredGenerator
from poise.testing.written import says_yes

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


class Costly:
    """A provider of JSON at a thousand dollars a million tokens; the scripted one is free."""

    def __init__(self) -> None:
        self.structured = ScriptedStructuredGenerator(says_yes)

    @poise.hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(ModelProvider, "costly", self._provider)

    @poise.hookimpl
    def poise_models(self, cards: Cards) -> None:
        cards.add(ModelCard("costly", "*", price=Price(input=1000.0, output=1000.0)))
        cards.add(ModelCard("scripted", "*", price=Price(0.0)))

    def _provider(self) -> ModelProvider:
        class Writing(ScriptedProvider):
            name = "costly"

            def models(self, capability: Capability) -> Sequence[str]:
                return ("script",) if capability is Capability.STRUCTURED else ()

        return Writing(structured=self.structured)


MODELS = {"matching.*": ("costly:script", "scripted:script")}


async def test_towards_a_limit_turns_do_less_and_at_it_only_what_is_free_is_asked(
    open_application: Open, shop: Any
) -> None:
    costly = Costly()
    async with open_application(
        ScriptedParts(), costly, models=MODELS, settings={"spending": {"session": 0.40}}
    ) as app:
        agent = await shop.open(app, effort="high")
        session = await app.open_session(agent)
        replies = []
        for _ in range(8):
            replies.append(await session.say("open?"))
            await app.runtime.dispatcher.idle(session.id)
        asked = len(costly.structured.requests)
        other = await app.open_session(agent)
        fresh = await other.say("open?")

    assert all(reply.text == "We are open from nine to five." for reply in replies)
    efforts = [reply.ledger.effort for reply in replies]
    assert efforts[0] == "high"
    assert efforts[-1] == "min"
    assert efforts == sorted(efforts, key=["high", "low", "min"].index)
    last = replies[-1].ledger
    judged = [line for line in last.requests if line.route == "matching.verdict"]
    assert [line.model for line in judged] == ["scripted:script"]
    assert "SpendingLimitError" in judged[0].note
    (degraded,) = (each for each in last.degradations if each.part == "effort")
    assert "a session" in degraded.reason
    assert degraded.instead == "MIN instead of HIGH"
    spent = sum(line.cost or 0 for reply in replies for line in reply.ledger.requests)
    assert spent >= 0.40
    assert asked < len(replies) * 2
    assert fresh.ledger.effort == "high", "another session has its own limit"


async def test_a_day_counts_over_sessions(open_application: Open, shop: Any) -> None:
    costly = Costly()
    async with open_application(
        ScriptedParts(), costly, models=MODELS, settings={"spending": {"day": 0.2}}
    ) as app:
        agent = await shop.open(app)
        models = []
        for _ in range(6):
            session = await app.open_session(agent)
            reply = await session.say("open?")
            await app.runtime.dispatcher.idle(session.id)
            models += [
                line.model for line in reply.ledger.requests if line.route == "matching.verdict"
            ]

    assert models[0] == "costly:script"
    assert models[-1] == "scripted:script"
    assert models == sorted(models), "once reached, it holds for the rest of the day"
