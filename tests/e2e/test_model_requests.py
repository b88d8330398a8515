"""How many requests to models a turn makes, one after the other, whatever the number of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

import poise
from poise import Application
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.hook_probe import HookProbe
from poise.testing.providers import ScriptedDecisionModel

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


@pytest.mark.parametrize("rules", [3, 30, 150])
async def test_a_greeting_waits_for_two_requests_at_the_most(
    open_application: Open, rules: int
) -> None:
    """B-121."""
    async with open_application() as app:
        agent = await app.create_agent(
            "Clerk", composition_mode=poise.CompositionMode.CANNED_STRICT, no_match="Good day!"
        )
        for number in range(rules):
            await agent.create_policy(
                title=f"Matter {number}",
                when=f"the customer asks about matter number {number}",
                then="explain it",
                signals=[f"matter number {number}", f"what about matter {number}"],
                canned_responses=[f"Matter {number} is fine."],
            )
        session = await app.open_session(agent)

        reply = await session.say("hello")

    assert reply.text == "Good day!"
    assert reply.ledger is not None
    assert len(reply.ledger.requests) <= 2
    assert all(line.milliseconds >= 0 for line in reply.ledger.requests)


async def test_twenty_sessions_wait_for_their_models_side_by_side(
    open_application: Open, shop: Any
) -> None:
    """B-091: nothing but its own model holds a session up; no request blocks another."""
    everybody = anyio.Event()
    decisions = ScriptedDecisionModel(discoverys_own, gate=everybody)
    waiting = 0

    async def count(arguments: Mapping[str, Any]) -> None:
        nonlocal waiting
        waiting += arguments["route"] == "matching.verdict"
        if waiting == 20:
            everybody.set()

    probe = HookProbe(answers={"on_model_request": count})
    async with open_application(ScriptedParts(decisions=decisions), probe) as app:
        agent = await shop.open(app)
        sessions = [await app.open_session(agent) for _ in range(20)]
        replies: list[str] = []

        async def talk(session: poise.Session) -> None:
            replies.append((await session.say("open?")).text)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for session in sessions:
                    group.start_soon(talk, session)

    assert replies == ["We are open from nine to five."] * 20
