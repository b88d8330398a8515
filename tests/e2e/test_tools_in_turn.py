"""A turn goes on while its tools bring news: what one found, the next may need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from poise import ArgumentSource, ToolParameter, tool
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.providers import ScriptedDecisionModel

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]
Points = Annotated[int, ToolParameter(source=ArgumentSource.CONTEXT)]


async def test_second_tool_takes_what_the_first_one_found(open_application: Open) -> None:
    called: list[str] = []

    async def count_points() -> dict[str, int]:
        called.append("count")
        return {"points": 40}

    async def name_gift(points: Points) -> dict[str, str]:
        called.append(f"name for {points}")
        return {"gift": "a mug"}

    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        await agent.create_policy(
            "Gift",
            "Say which gift the points are worth",
            signals=["gift"],
            tools=[tool(count_points), tool(name_gift)],
            canned_responses=["Your points are worth {gift}."],
        )
        session = await app.open_session(agent)

        reply = await session.say("which gift?")

    assert called == ["count", "name for 40"]
    assert reply.text == "Your points are worth a mug."
    assert [call.tool for call in reply.ledger.calls] == ["count_points", "name_gift"]


async def test_prompts_hold_as_much_of_a_result_as_the_operator_allows(
    open_application: Open,
) -> None:
    async def look_up() -> str:
        return "parking " + "x" * 5_000

    decisions = ScriptedDecisionModel(discoverys_own)
    settings = {"engine": {"tool_result_limit": 200}}
    async with open_application(ScriptedParts(decisions=decisions), settings=settings) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        await agent.create_policy("Gift", "Look it up", signals=["gift"], tools=[tool(look_up)])
        await agent.create_policy(
            "Parking", "Say where", signals=["parking"], canned_responses=["Behind the shop."]
        )
        session = await app.open_session(agent)

        reply = await session.say("which gift?")

    assert [line.name for line in reply.ledger.lines if line.iteration == 2] == ["Parking"]
    assert "characters left out" in decisions.requests[-1].state.text
    assert len(decisions.requests[-1].state.text) < 1_000
