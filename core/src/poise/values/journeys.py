"""Journeys: procedures of several turns, as far as rules and relations know of them."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from poise.errors import InvalidValueError
from poise.values.agents import CompositionMode
from poise.values.ids import AgentId, JourneyId, NodeId, RuleId, TagId


def _tags(value: Iterable[TagId]) -> frozenset[TagId]:
    return frozenset(value)


@attrs.frozen
class JourneyNode:
    """One step of a journey.

    Attributes:
        id: Stable id.
        name: What people call it.
        tags: Names for use in relations.
    """

    id: NodeId
    name: str
    tags: frozenset[TagId] = attrs.field(default=frozenset(), converter=_tags)


@attrs.frozen
class Journey:
    """A procedure of one agent.

    Attributes:
        id: Stable id.
        agent: The owning agent.
        title: A short name for people.
        triggers: Rules of which any one, while active, implies the journey.
        nodes: Its steps, each with an id of its own.
        priority: Competes within `rank`; default 0.
        rank: Within which `priority` competes; `None` for nowhere.
        tags: Names for use in relations.
        composition_mode: Makes the turn's composition at least this strict while active.
        enabled: Switched off journeys keep their place in the catalog and do nothing.
    """

    id: JourneyId
    agent: AgentId
    title: str
    triggers: tuple[RuleId, ...] = attrs.field(default=(), converter=tuple)
    nodes: tuple[JourneyNode, ...] = attrs.field(default=(), converter=tuple)
    priority: int = 0
    rank: str | None = None
    tags: frozenset[TagId] = attrs.field(default=frozenset(), converter=_tags)
    composition_mode: CompositionMode | None = None
    enabled: bool = True

    def __attrs_post_init__(self) -> None:
        thing = f"journey {self.title!r}"
        if not self.title.strip():
            raise InvalidValueError("journey", "title", "is empty")
        if len({node.id for node in self.nodes}) != len(self.nodes):
            raise InvalidValueError(thing, "nodes", "hold one id twice")

    @property
    def name(self) -> str:
        """What people call the journey."""
        return self.title
