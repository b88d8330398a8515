"""What was carried out once goes quiet until something new reopens it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


def fates(reply: Any) -> dict[str, str]:
    return {line.name: line.fate for line in reply.ledger.lines}


async def test_an_unjudged_rule_that_was_done_is_set_aside_until_a_message_brings_it_up(
    open_application: Open,
) -> None:
    """At an effort that judges nobody, too."""
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        await agent.create_policy("Greet", "Say hello", signals=["hello"], weight="low")
        watched = await agent.create_observation("hello is said", signals=["hello"])
        greet = await agent.create_policy(
            "Newsletter", "Mention it", weight="low", signals=["news"]
        )
        await watched.entail(greet)
        session = await app.open_session(agent)

        first = await session.say("hello")  # the observation implies it, so it counts as done
        second = await session.say("qwerty")
        third = await session.say("any news?")

    assert fates(first)["Newsletter"] == "implied"
    assert fates(second)["Newsletter"] == "already_applied"
    assert fates(third)["Newsletter"] == "in_context"


async def test_tracking_can_be_turned_off(open_application: Open) -> None:
    """What still implies it has it done again, which a tracked rule would not be (B-012)."""
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        watched = await agent.create_observation("hello is said", signals=["hello"])
        rule = await agent.create_policy(
            "Newsletter", "Mention it", weight="low", signals=["news"], track=False
        )
        await watched.entail(rule)
        session = await app.open_session(agent)

        await session.say("hello")
        second = await session.say("qwerty")

    assert fates(second)["Newsletter"] == "implied"
