"""Sessions in memory: the reference for what every session store promises."""

from __future__ import annotations

import bisect
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

import anyio
import attrs

from poise.errors import ConflictError, InvalidValueError, NotFoundError, StaleFenceError
from poise.ports.stores import Fence, Page, SessionStore, placed
from poise.turn.history import Checkpoint, History
from poise.values.clock import Clock
from poise.values.events import Event, EventKind, NewEvent
from poise.values.ids import SessionId
from poise.values.sessions import Session, SessionHeader


@attrs.define
class _Lease:
    owner: str | None = None
    epoch: int = 0
    expires: datetime | None = None


class _Log:
    """One session: its events, its lease, its newest checkpoint, and who waits for more."""

    def __init__(self, header: SessionHeader) -> None:
        self.header = header
        self.events: list[Event] = []
        self.lease = _Lease()
        self.checkpoint: Checkpoint | None = None
        self._appended: anyio.Event | None = None

    def holds(self, fence: Fence) -> bool:
        lease = self.lease
        same = fence.session == self.header.id
        return same and lease.owner == fence.owner and lease.epoch == fence.epoch

    def announce(self) -> None:
        """Wake whoever follows; costs nothing while nobody does."""
        if self._appended is not None:
            self._appended.set()
            self._appended = None

    async def more(self) -> None:
        """Wait for the next append."""
        if self._appended is None:
            self._appended = anyio.Event()
        await self._appended.wait()


class MemorySessionStore(SessionStore):
    """The sessions of one tenant, for as long as the process lives.

    No method waits between looking and writing, so on one event loop each is atomic.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._logs: dict[SessionId, _Log] = {}
        self._order: list[tuple[datetime, SessionId]] = []  # by time of creation, for `find`

    async def open(self, header: SessionHeader) -> Session:
        log = self._logs.get(header.id)
        if log is None:
            log = self._logs[header.id] = _Log(header)
            bisect.insort(self._order, (header.created, header.id))
        return Session(log.header, len(log.events))

    async def get(self, session: SessionId) -> Session:
        log = self._log(session)
        return Session(log.header, len(log.events))

    async def find(self, *, cursor: str | None = None, limit: int = 50) -> Page[Session]:
        end = len(self._order) if cursor is None else self._place(cursor)
        start = max(0, end - limit)
        logs = [self._logs[session] for _, session in reversed(self._order[start:end])]
        return Page(
            tuple(Session(log.header, len(log.events)) for log in logs),
            logs[-1].header.id if logs and start > 0 else None,
        )

    def _place(self, cursor: str) -> int:
        log = self._logs.get(SessionId(cursor))
        if log is None:
            raise InvalidValueError("sessions", "cursor", f"{cursor!r} was not given out here")
        return bisect.bisect_left(self._order, (log.header.created, log.header.id))

    async def append(
        self,
        session: SessionId,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        after: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Sequence[Event]:
        log = self._log(session)
        if not events:
            raise InvalidValueError("append", "events", "is empty: give at least one")
        if fence is not None and not log.holds(fence):
            raise StaleFenceError(session)
        length = len(log.events)
        if after is not None and after != length:
            raise ConflictError(f"session {session!r}", after, length)
        stored = tuple(
            placed(event, session, offset) for offset, event in enumerate(events, start=length)
        )
        log.events.extend(stored)
        if checkpoint is not None and (
            log.checkpoint is None or checkpoint.offset > log.checkpoint.offset
        ):
            log.checkpoint = checkpoint
        log.announce()
        return stored

    async def read(
        self,
        session: SessionId,
        *,
        start: int = 0,
        last: int | None = None,
        kinds: frozenset[EventKind] | None = None,
    ) -> History:
        log = self._log(session)
        return History(
            _window(log.events, max(0, start), last, kinds), len(log.events), log.checkpoint
        )

    async def claim(self, session: SessionId, owner: str, ttl: timedelta) -> Fence | None:
        lease = self._log(session).lease
        now = self._clock.now()
        if lease.owner != owner:
            if lease.owner is not None and lease.expires is not None and now < lease.expires:
                return None
            lease.owner = owner
            lease.epoch += 1
        lease.expires = now + ttl
        return Fence(session, owner, lease.epoch)

    async def release(self, fence: Fence) -> None:
        log = self._logs.get(fence.session)
        if log is not None and log.holds(fence):
            log.lease.owner = None

    async def follow(self, session: SessionId, start: int) -> AsyncIterator[Event]:
        log = self._log(session)
        place = max(0, start)
        while True:
            while place < len(log.events):
                yield log.events[place]
                place += 1
            await log.more()

    def _log(self, session: SessionId) -> _Log:
        log = self._logs.get(session)
        if log is None:
            raise NotFoundError("session", session)
        return log


def _window(
    events: Sequence[Event], start: int, last: int | None, kinds: frozenset[EventKind] | None
) -> tuple[Event, ...]:
    """Return the events from `start` on, of these kinds, and of those only the newest `last`."""
    if last is None:
        tail = events[start:]
        return tuple(tail if kinds is None else (each for each in tail if each.kind in kinds))
    found: list[Event] = []
    for offset in range(len(events) - 1, start - 1, -1):
        if len(found) >= last:
            break
        if kinds is None or events[offset].kind in kinds:
            found.append(events[offset])
    return tuple(reversed(found))
