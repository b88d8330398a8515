"""Interruptions of a running turn at an exact place: no sleeping, no luck."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
from anyio.lowlevel import checkpoint

from poise.memory.session_store import MemorySessionStore
from poise.memory.stores import MemoryStores
from poise.ports.stores import ArtifactStore, Fence, ScopedStores, Stores
from poise.turn.history import Checkpoint
from poise.values.clock import Clock, SystemClock
from poise.values.events import Event, NewEvent
from poise.values.ids import SessionId
from poise.values.scope import Scope

Action = Callable[[], Awaitable[Any]]

POINTS_BEFORE_WORDS = (
    "on_acknowledging",
    "on_acknowledged",
    "on_preparing",
    "on_preparation_iteration_start",
    "on_model_request",
    "on_model_response",
    "on_tool_call",
    "on_tool_result",
    "on_preparation_iteration_end",
    "on_rule_selected",
    "on_generating_messages",
    "on_draft_generated",
    "on_message_generated",
)
"""The hooks of a turn that come before its first words leave."""

POINTS_AFTER_WORDS = ("on_messages_emitted", "on_rule_message")
"""The hooks of a turn that come after them."""


class Once:
    """Does something the first time that it is awaited, and lets whoever is cancelled by it notice.

    Serves as an answer of `HookProbe`, or within a tool.

    Attributes:
        action: What to do; nothing while it is `None`.
        done: How often it was done: 0 or 1.
    """

    def __init__(self) -> None:
        self.action: Action | None = None
        self.done = 0

    async def __call__(self, arguments: Mapping[str, Any] | None = None) -> None:
        """Do it, unless it was done before."""
        if self.action is not None and not self.done:
            self.done += 1
            await self.action()
            await checkpoint()


class InterruptedStores(Stores):
    """A storage in memory that does something around the nth append of a turn.

    Args:
        at: Which of the appends that carry a fence, from 1, counted from when `once` has an action.
        before: Before it is stored, or after.

    Attributes:
        once: What is done there.
    """

    def __init__(self, at: int, *, before: bool) -> None:
        self.once = Once()
        self._plain = MemoryStores(SystemClock())
        self._sessions = _InterruptedSessionStore(SystemClock(), at, before=before, once=self.once)

    def scope(self, scope: Scope) -> ScopedStores:
        plain = self._plain.scope(scope)
        return attrs.evolve(plain, sessions=self._sessions)

    @property
    def artifacts(self) -> ArtifactStore:
        return self._plain.artifacts


class _InterruptedSessionStore(MemorySessionStore):
    def __init__(self, clock: Clock, at: int, *, before: bool, once: Once) -> None:
        super().__init__(clock)
        self._left = at
        self._before = before
        self._once = once

    async def append(
        self,
        session: SessionId,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        after: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Sequence[Event]:
        if fence is not None and self._once.action is not None:
            self._left -= 1
        is_here = fence is not None and self._left == 0
        if is_here and self._before:
            await self._once()
        stored = await super().append(
            session, events, fence=fence, after=after, checkpoint=checkpoint
        )
        if is_here and not self._before:
            await self._once()
        return stored
