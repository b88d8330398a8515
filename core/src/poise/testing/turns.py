"""Catalogs and turns made by hand, for tests of one part at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from poise.testing.clock import START
from poise.testing.models import ScriptedModels
from poise.turn.context import TurnContext, Wake
from poise.turn.history import History
from poise.turn.models import TurnModels
from poise.turn.state import SessionState
from poise.values.agents import Agent
from poise.values.catalog import CatalogSnapshot
from poise.values.compilation import compile_catalog
from poise.values.customers import Customer
from poise.values.events import Event, EventKind, Source
from poise.values.ids import (
    AgentId,
    EventId,
    IndexId,
    JourneyId,
    NodeId,
    RuleId,
    SessionId,
    TurnId,
    stable_id,
)
from poise.values.journeys import Journey, JourneyNode
from poise.values.relationships import Relation
from poise.values.rules import Rule, RuleKind
from poise.values.scope import Scope
from poise.values.sessions import SessionHeader

AGENT = Agent(id=AgentId("agent_test"), name="Test agent")
SESSION = SessionId("session_test")


def policy(title: str, **fields: Any) -> Rule:  # any field of `Rule`
    """Return a policy with that title; `then` defaults to its title."""
    fields.setdefault("then", f"do {title}")
    return Rule(
        id=RuleId(stable_id("rule", AGENT.id, title)),
        agent=AGENT.id,
        kind=RuleKind.POLICY,
        title=title,
        **fields,
    )


def observation(title: str, **fields: Any) -> Rule:  # any field of `Rule`
    """Return an observation with that title; `when` defaults to its title."""
    fields.setdefault("when", title)
    return Rule(
        id=RuleId(stable_id("rule", AGENT.id, title)),
        agent=AGENT.id,
        kind=RuleKind.OBSERVATION,
        title=title,
        **fields,
    )


def journey(title: str, **fields: Any) -> Journey:  # any field of `Journey`
    """Return a journey with that title."""
    return Journey(
        id=JourneyId(stable_id("journey", AGENT.id, title)),
        agent=AGENT.id,
        title=title,
        **fields,
    )


def node(title: str, **fields: Any) -> JourneyNode:  # any field of `JourneyNode`
    """Return a step of a journey with that name; titles tell the nodes of all journeys apart."""
    return JourneyNode(NodeId(stable_id("node", AGENT.id, title)), title, **fields)


def catalog_of(
    rules: Iterable[Rule] = (), relations: Iterable[Relation] = (), **more: Any
) -> CatalogSnapshot:
    """Return the compiled catalog of the test agent; `more` goes to `compile_catalog`."""
    agent = more.pop("agent", AGENT)
    return compile_catalog(agent, rules=rules, relations=relations, **more)


def message(text: str, offset: int, source: Source = Source.CUSTOMER) -> Event:
    """Return a message event of the test session."""
    return Event(
        session=SESSION,
        offset=offset,
        id=EventId(f"event_{offset}"),
        kind=EventKind.MESSAGE,
        source=source,
        actor=source.value,
        turn=None,
        at=START + timedelta(seconds=offset),
        data={"text": text},
    )


def turn_of(
    snapshot: CatalogSnapshot,
    *said: str | tuple[Source, str],
    models: TurnModels | None = None,
    state: SessionState | None = None,
    base: int | None = None,
    **fields: Any,
) -> TurnContext:
    """Return a loaded turn whose history is `said`: texts are the customer's.

    Args:
        snapshot: The catalog.
        said: Messages, oldest first.
        models: Default: scripted ones that abstain.
        state: Default: a new session's.
        base: Offset of the first unanswered message; default: the last message.
        fields: Any other field of `TurnContext`.
    """
    pairs: Sequence[tuple[Source, str]] = [
        (Source.CUSTOMER, each) if isinstance(each, str) else each for each in said
    ]
    events = tuple(message(text, offset, who) for offset, (who, text) in enumerate(pairs))
    values: Mapping[str, Any] = {
        "id": TurnId("turn_test"),
        "scope": Scope.local(),
        "base": max(0, len(events) - 1) if base is None else base,
        "upto": len(events),
        "wake": Wake.MESSAGE,
        "deadline": START + timedelta(minutes=10),
        "now": START + timedelta(minutes=1),
        "agent": snapshot.agent,
        "customer": Customer.guest(),
        "session": SessionHeader(SESSION, snapshot.agent.id, Customer.guest().id, START),
        "snapshot": snapshot,
        "index": IndexId("index_test"),
        "state": state or SessionState(),
        "history": History(events, len(events)),
        "models": models or ScriptedModels(),
        "mode": snapshot.agent.composition_mode,
        **fields,
    }
    return TurnContext(**values)
