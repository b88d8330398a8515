"""Sessions in SQLite: log, lease and checkpoint, one transaction per call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import anyio

from poise.errors import InvalidValueError
from poise.ports.stores import Fence, Page, SessionStore
from poise.turn.history import Checkpoint, History
from poise.values.clock import Clock
from poise.values.events import Event, EventKind, NewEvent
from poise.values.ids import SessionId
from poise.values.sessions import Session, SessionHeader
from poise_sql import session_sql
from poise_sql.database import SQLiteDatabase

_LOOK_AGAIN = 0.5
"""Seconds after which a follower looks for what other processes appended: SQLite tells nobody."""


class Appended:
    """Wakes the followers of a session within this process."""

    def __init__(self) -> None:
        self._waited_for: dict[tuple[str, SessionId], anyio.Event] = {}

    def next(self, tenant: str, session: SessionId) -> anyio.Event:
        """Return what is set at the next append; ask before looking at the log."""
        key = (tenant, session)
        event = self._waited_for.get(key)
        if event is None:
            event = self._waited_for[key] = anyio.Event()
        return event

    def announce(self, tenant: str, session: SessionId) -> None:
        """Wake whoever waits."""
        event = self._waited_for.pop((tenant, session), None)
        if event is not None:
            event.set()


class SQLiteSessionStore(SessionStore):
    """The sessions of one tenant.

    Args:
        database: Open while the store is used.
        tenant: Whose.
        clock: Tells when a lease has run out.
        appended: Shared by all stores of the database in this process.
    """

    def __init__(
        self, database: SQLiteDatabase, tenant: str, clock: Clock, *, appended: Appended
    ) -> None:
        self._database = database
        self._tenant = tenant
        self._clock = clock
        self._appended = appended

    async def open(self, header: SessionHeader) -> Session:
        return await self._database.write(
            lambda connection: session_sql.open_session(connection, self._tenant, header)
        )

    async def get(self, session: SessionId) -> Session:
        return await self._database.read(
            lambda connection: session_sql.get_session(connection, self._tenant, session)
        )

    async def find(self, *, cursor: str | None = None, limit: int = 50) -> Page[Session]:
        # One more than asked for tells whether there is another page.
        found = await self._database.read(
            lambda connection: session_sql.find_sessions(
                connection, self._tenant, cursor=cursor, limit=limit + 1
            )
        )
        items = tuple(found[:limit])
        return Page(items, items[-1].header.id if items and len(found) > limit else None)

    async def append(
        self,
        session: SessionId,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        after: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Sequence[Event]:
        if not events:
            raise InvalidValueError("append", "events", "is empty: give at least one")
        try:
            return await self._database.write(
                lambda connection: session_sql.append_events(
                    connection,
                    self._tenant,
                    session,
                    events=events,
                    fence=fence,
                    after=after,
                    checkpoint=checkpoint,
                )
            )
        finally:
            # Also when cancelled: the transaction may have been committed by then.
            self._appended.announce(self._tenant, session)

    async def read(
        self,
        session: SessionId,
        *,
        start: int = 0,
        last: int | None = None,
        kinds: frozenset[EventKind] | None = None,
    ) -> History:
        return await self._database.read(
            lambda connection: session_sql.read_history(
                connection, self._tenant, session, start=max(0, start), last=last, kinds=kinds
            )
        )

    async def claim(self, session: SessionId, owner: str, ttl: timedelta) -> Fence | None:
        return await self._database.write(
            lambda connection: session_sql.claim_session(
                connection, self._tenant, session, owner=owner, ttl=ttl, clock=self._clock
            )
        )

    async def release(self, fence: Fence) -> None:
        await self._database.write(
            lambda connection: session_sql.release_session(connection, self._tenant, fence)
        )

    async def follow(self, session: SessionId, start: int) -> AsyncIterator[Event]:
        await self.get(session)
        place = max(0, start)
        while True:
            appended = self._appended.next(self._tenant, session)
            for event in await self._events(session, place):
                yield event
                place = event.offset + 1
            with anyio.move_on_after(_LOOK_AGAIN):
                await appended.wait()

    async def _events(self, session: SessionId, start: int) -> Sequence[Event]:
        return await self._database.read(
            lambda connection: session_sql.read_events(
                connection, self._tenant, session, start=start
            )
        )
