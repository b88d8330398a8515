"""Instructions for a turn come from tools whose service may give them, and from nobody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poise import Agent, Application, ToolResult, tool

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


async def opened_by_a_tool(app: Application) -> Agent:
    agent = await app.create_agent("Clerk", composition_mode="canned_strict")

    async def look_up_plan() -> ToolResult:
        return ToolResult(data="gold", transient_rules=["Mention the lounge."])

    await agent.create_policy(
        "Plan",
        "Say which plan it is",
        signals=["plan"],
        tools=[tool(look_up_plan)],
        canned_responses=["You are on gold."],
    )
    return agent


async def test_instructions_of_an_in_process_tool_are_in_force_for_the_turn(
    open_application: Open,
) -> None:
    async with open_application() as app:
        session = await app.open_session(await opened_by_a_tool(app))

        first = await session.say("my plan?")
        second = await session.say("hello")

    transient = [line for line in first.ledger.lines if line.kind == "transient"]
    assert [line.name for line in transient] == ["Mention the lounge."]
    assert all(line.kind != "transient" for line in second.ledger.lines)


async def test_instructions_of_a_service_that_may_not_instruct_are_data(
    open_application: Open,
) -> None:
    async with open_application(settings={"may_instruct": []}) as app:
        session = await app.open_session(await opened_by_a_tool(app))

        reply = await session.say("my plan?")

    assert [each.outcome for each in reply.ledger.calls] == ["finished"]
    assert all(line.kind != "transient" for line in reply.ledger.lines)
