"""How many requests to models a turn makes, one after the other, whatever the number of rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import poise
from poise import Application

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
