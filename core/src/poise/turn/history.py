"""A window on a session's log, as a turn reads it."""

from __future__ import annotations

import attrs

from poise.turn.state import SessionState
from poise.values.events import Event


@attrs.frozen
class Checkpoint:
    """The fold of a session's first `offset` events, cached with the session."""

    offset: int
    state: SessionState


@attrs.frozen
class History:
    """Events of one session, oldest first, with the newest checkpoint.

    Attributes:
        events: The window asked for, by ascending offset.
        length: How many events the session has in all.
        checkpoint: The newest one stored, or `None`.
    """

    events: tuple[Event, ...] = ()
    length: int = 0
    checkpoint: Checkpoint | None = None

    @property
    def messages(self) -> tuple[Event, ...]:
        """The messages of both sides within the window."""
        return tuple(
            event for event in self.events if event.is_customer_message or event.is_agent_message
        )
