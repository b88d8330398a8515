"""Pins the types of what authors call: a change here is a change for every one of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_type

import poise
from poise.values.ids import AgentId, CustomerId, RuleId, SessionId, TurnId


@poise.tool
async def find_parcel(context: poise.ToolContext, number: str) -> poise.ToolResult:
    """Find a parcel."""
    return poise.ToolResult({"number": number})


async def judge(turn: poise.TurnContext) -> bool:
    """Judge in code."""
    return bool(turn.new_messages)


async def declares(agent: poise.Agent) -> None:
    """What an agent gives back for what it is told."""
    assert_type(agent.id, AgentId)
    assert_type(agent.name, str)
    topic = await agent.create_observation(
        "a parcel is meant", title="Parcels", signals=["my parcel"], own_signals_only=True
    )
    assert_type(topic, poise.Observation)
    policy = await agent.create_policy(
        title="Lost",
        when="a parcel is lost",
        then="look for it",
        tools=[find_parcel],
        weight=poise.Weight.HIGH,
        dependencies=[topic, poise.any_of("parcels")],
        canned_responses=["We look for it.", await agent.create_canned_response("Found.")],
        matcher=judge,
        effort="high",
        tags=["parcels", await agent.create_tag("lost")],
    )
    assert_type(policy, poise.Policy)
    assert_type(policy.id, RuleId)
    guideline = await agent.create_guideline(
        "greeting", "say hello", "warmly", criticality="low", matcher=poise.MATCH_ALWAYS
    )
    assert_type(guideline, poise.Guideline)
    assert_type(await agent.create_term("ETA", "when it is due"), poise.Term)
    assert_type(await agent.create_canned_response("Hi {name}."), poise.CannedResponse)
    variable = await agent.create_variable("plan", tool=find_parcel, freshness_rules="0 * * * *")
    assert_type(variable, poise.Variable)
    assert_type(await variable.get_value("ann"), Any)
    assert_type(await agent.create_tag("lost"), poise.Tag)
    await policy.depend_on(topic, poise.all_of("parcels"), mode="this_turn")
    await policy.depend_on_any([topic, guideline])
    await policy.prioritize_over(guideline)
    await policy.exclude(guideline)
    await policy.entail(topic, always=True)


async def runs(store: poise.Stores) -> None:
    """What an application gives back."""
    async with poise.Application(
        "poise.toml",
        settings={"engine": {"turn_deadline": 30}},
        models={"embed": "scripted:words"},
        stores=store,
        hooks=[on_event],
    ) as app:
        assert_type(app, poise.Application)
        agent = await app.create_agent(name="Clerk", effort=poise.Effort.LOW)
        assert_type(agent, poise.Agent)
        await agent.install(declares)
        customer = await app.create_customer("Ann", id="ann", groups=["trade"])
        assert_type(customer, poise.Customer)
        assert_type(await app.find_customers(), poise.Page[poise.Customer])
        assert_type(await app.create_tag("lost"), poise.Tag)
        assert_type(app.agents, Sequence[poise.Agent])
        async with app.changes():
            await agent.create_term("POD", "proof of delivery")
        session = await app.open_session(agent, customer)
        assert_type(session, poise.Session)
        assert_type((session.id, session.customer), tuple[SessionId, CustomerId])
        reply = await session.say("Where is it?")
        assert_type(reply, poise.Reply)
        assert_type(reply.text, str)
        assert_type(reply.messages, tuple[str, ...])
        assert_type(reply.events, tuple[poise.Event, ...])
        assert_type(reply.ledger, poise.Ledger | None)
        assert_type(reply.turn, TurnId | None)
        assert_type(await session.utter("say hello"), poise.Reply)
        assert_type(await session.events(), tuple[poise.Event, ...])


async def on_event(event: poise.NewEvent) -> poise.NewEvent:
    """Pass everything on."""
    return event


async def mistakes(agent: poise.Agent, rule: poise.Policy, tag: poise.Tag) -> None:
    """What a type checker refuses; an ignore that is not needed fails the check."""
    await agent.create_policy(title="t", then="x", sginals=["y"])  # type: ignore[call-arg]
    await agent.create_policy(title="t", then="x", tools=[judge])  # type: ignore[list-item]
    await agent.create_observation("x", then="y")  # type: ignore[call-arg]
    await rule.depend_on(tag)  # type: ignore[arg-type]
    await agent.create_policy(then="x", matcher="sometimes")  # type: ignore[arg-type]


def test_types_are_as_pinned_here() -> None:
    root = Path(__file__).parents[2]

    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", __file__],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr
