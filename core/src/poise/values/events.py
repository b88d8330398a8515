"""Events: the session log, from which everything else about a session follows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Any

import attrs

from poise.values.ids import EventId, SessionId, TurnId


class EventKind(Enum):
    """What an event is about; `data` is laid out accordingly.

    MESSAGE `{text, ...}` · STATUS `{status, detail}` · TOOL `{stage, key, tool, ...}` · MATCH the
    ledger · JOURNEY a move · MODE `{mode, reason}` · SESSION `{title | customer | labels}` ·
    SETTLED `{fulfilled, partly, pruned}` · CUSTOM whatever a program puts there.
    """

    MESSAGE = "message"
    STATUS = "status"
    TOOL = "tool"
    MATCH = "match"
    JOURNEY = "journey"
    MODE = "mode"
    SESSION = "session"
    SETTLED = "settled"
    CUSTOM = "custom"


class Source(Enum):
    """Who an event comes from."""

    CUSTOMER = "customer"
    CUSTOMER_UI = "customer_ui"
    AI_AGENT = "ai_agent"
    HUMAN_AGENT = "human_agent"
    HUMAN_AGENT_ON_BEHALF_OF_AI_AGENT = "human_agent_on_behalf_of_ai_agent"
    SYSTEM = "system"


class Status(Enum):
    """A turn's status: `acknowledged (processing|typing)* (ready|cancelled ready|error ready)`."""

    ACKNOWLEDGED = "acknowledged"
    PROCESSING = "processing"
    TYPING = "typing"
    CANCELLED = "cancelled"
    ERROR = "error"
    READY = "ready"


class ToolStage(Enum):
    """Where a tool call stands."""

    PROPOSED = "proposed"
    STARTED = "started"
    FINISHED = "finished"
    REFUSED = "refused"
    UNKNOWN = "unknown"


def _frozen(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))


@attrs.frozen
class NewEvent:
    """An event about to be appended: the store gives it its offset."""

    id: EventId
    kind: EventKind
    source: Source
    actor: str
    turn: TurnId | None
    at: datetime
    data: Mapping[str, Any] = attrs.field(converter=_frozen, hash=False)


@attrs.frozen
class Event:
    """An event of a session's log; offsets are dense from 0."""

    session: SessionId
    offset: int
    id: EventId
    kind: EventKind
    source: Source
    actor: str
    turn: TurnId | None
    at: datetime
    data: Mapping[str, Any] = attrs.field(converter=_frozen, hash=False)

    @property
    def text(self) -> str:
        """The words of a message; empty for any other kind."""
        return str(self.data.get("text", "")) if self.kind is EventKind.MESSAGE else ""

    @property
    def is_customer_message(self) -> bool:
        """Whether a customer said it."""
        return self.kind is EventKind.MESSAGE and self.source is Source.CUSTOMER

    @property
    def is_agent_message(self) -> bool:
        """Whether it was said on the agent's side, by the engine or by a person."""
        return self.kind is EventKind.MESSAGE and self.source in _AGENT_SIDE


_AGENT_SIDE = frozenset(
    {Source.AI_AGENT, Source.HUMAN_AGENT, Source.HUMAN_AGENT_ON_BEHALF_OF_AI_AGENT}
)
