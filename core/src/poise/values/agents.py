"""An agent, and the three dials that rules may turn for a turn: effort, composition, output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from types import MappingProxyType

import attrs

from poise.errors import InvalidValueError
from poise.values.ids import AgentId


class Effort(IntEnum):
    """How much a turn may spend; a matched rule can lift it for the turn, never lower it."""

    MIN = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3
    MAX = 4


class CompositionMode(IntEnum):
    """How freely the agent may word a reply; the larger value is the stricter and wins."""

    FLUID = 0
    CANNED_FLUID = 1
    CANNED_COMPOSITED = 2
    CANNED_STRICT = 3


class OutputMode(Enum):
    """Whether a reply leaves whole or in chunks."""

    BLOCK = "block"
    STREAM = "stream"


DEFAULT_NO_MATCH = "Sorry, I can't help with that here. Is there something else I can do for you?"
DEFAULT_APOLOGY = "Sorry, something went wrong on my side. Please try again in a moment."


def _routes(models: Mapping[str, Sequence[str] | str]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(
        {
            route: (named,) if isinstance(named, str) else tuple(named)
            for route, named in models.items()
        }
    )


@attrs.frozen
class Agent:
    """One identity that customers talk to.

    Attributes:
        id: Stable id.
        name: What the agent is called; also its key when no id is given.
        instructions: Who the agent is and what it is for; in every prompt.
        effort: The baseline; default MEDIUM.
        composition_mode: The baseline; default FLUID.
        output_mode: BLOCK or STREAM; default BLOCK.
        max_iterations: How often a turn may prepare before it replies; default 3.
        no_match: What the agent says when no approved response fits; never empty.
        apology: What the agent says when a turn fails or runs out of time; never empty.
        models: Which models serve a route of this agent, in order; settings come before it.
    """

    id: AgentId
    name: str
    instructions: str = ""
    effort: Effort = Effort.MEDIUM
    composition_mode: CompositionMode = CompositionMode.FLUID
    output_mode: OutputMode = OutputMode.BLOCK
    max_iterations: int = 3
    no_match: str = DEFAULT_NO_MATCH
    apology: str = DEFAULT_APOLOGY
    models: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=_routes, hash=False)

    def __attrs_post_init__(self) -> None:
        thing = f"agent {self.name!r}"
        if not self.name.strip():
            raise InvalidValueError("agent", "name", "is empty")
        if self.max_iterations < 1:
            raise InvalidValueError(thing, "max_iterations", "must be at least 1")
        for field in ("no_match", "apology"):
            if not getattr(self, field).strip():
                raise InvalidValueError(thing, field, "is empty: an agent never says nothing")
        for route, named in self.models.items():
            if not route.strip():
                raise InvalidValueError(thing, "models", "has a route without a name")
            if not named or any(not isinstance(each, str) or not each.strip() for each in named):
                raise InvalidValueError(
                    thing, "models", f"names no model for {route!r}; write 'provider:model'"
                )
