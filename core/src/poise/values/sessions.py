"""A conversation's standing facts; all that changes about it is in its events."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

import attrs

from poise.values.ids import AgentId, CustomerId, SessionId


class SessionMode(Enum):
    """Who answers: the agent (AUTO), or a person, so that messages start no turn (MANUAL)."""

    AUTO = "auto"
    MANUAL = "manual"


@attrs.frozen
class SessionHeader:
    """What is known of a session when it is opened.

    Attributes:
        id: Random, time-sortable.
        agent: Who answers.
        customer: Who asks, at opening; a `session` event may change it.
        created: When it was opened.
        title: For people.
    """

    id: SessionId
    agent: AgentId
    customer: CustomerId
    created: datetime
    title: str | None = None


@attrs.frozen
class Session:
    """A stored session: its header and how many events it has."""

    header: SessionHeader
    length: int
