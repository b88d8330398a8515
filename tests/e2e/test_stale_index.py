"""An index that knows more than the catalog: derived data, of which strangers are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from poise import Discoverer, Offers, TurnContext, TurnModels, hookimpl
from poise.testing.applications import ScriptedParts
from poise.testing.scripted_discovery import ScriptedDiscoverer
from poise.turn.candidates import Sighting
from poise.turn.queries import Query
from poise.values.ids import RuleId

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


class Stale(ScriptedDiscoverer):
    """Still finds a rule that was deleted."""

    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        gone = Sighting(RuleId("rule_gone"), 9.0, 9.0, 0.0, 1.0, queries[0], "a phrase")
        return [gone, *await super().discover(turn, queries)]


class StaleDiscovery:
    """Offers it."""

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(Discoverer, "stale", self._made)

    def _made(self, models: TurnModels) -> Discoverer:
        return Stale(models=models)


async def test_a_rule_that_is_gone_is_left_out_and_the_account_says_so(
    open_application: Open,
) -> None:
    """B-081."""
    async with open_application(
        ScriptedParts(), StaleDiscovery(), settings={"discoverer": "stale"}
    ) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy(
            "Hours", "Say them", signals=["open"], canned_responses=["From nine to five."]
        )
        session = await app.open_session(agent)

        reply = await session.say("are you open?")

    assert reply.text == "From nine to five."
    assert [line.name for line in reply.ledger.lines] == ["Hours"]
    (noted,) = reply.ledger.degradations
    assert (noted.part, noted.reason) == ("discovery", "1 unknown rules were sighted")
