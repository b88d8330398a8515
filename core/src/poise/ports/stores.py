"""Stores: the session log with its lease, repositories of entities, and artifacts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

import attrs

from poise.errors import ConflictError, NotFoundError
from poise.turn.history import Checkpoint, History
from poise.values.customers import Customer, Tag
from poise.values.events import Event, EventKind, NewEvent
from poise.values.ids import SessionId
from poise.values.scope import Scope
from poise.values.sessions import Session, SessionHeader
from poise.values.spending import DaySpent
from poise.values.variables import VariableValue

E = TypeVar("E")


@attrs.frozen
class Fence:
    """Proof of a lease: what a turn appends carries it, and is refused once it is stale."""

    session: SessionId
    owner: str
    epoch: int


def placed(event: NewEvent, session: SessionId, offset: int) -> Event:
    """Return `event` as it stands in a session's log, for stores that append it."""
    return Event(
        session,
        offset,
        event.id,
        event.kind,
        event.source,
        event.actor,
        event.turn,
        event.at,
        event.data,
    )


@attrs.frozen
class Page(Generic[E]):
    """Some items in a stable order, and the cursor for the next ones (`None` at the end)."""

    items: tuple[E, ...]
    cursor: str | None = None


class SessionStore(ABC):
    """The sessions of one scope: log, lease and checkpoint in one port.

    They are one since the fence is checked in the transaction that appends. Another tenant's
    session does not exist here.
    """

    @abstractmethod
    async def open(self, header: SessionHeader) -> Session:
        """Return the session of `header.id`, made if need be; idempotent by id."""

    @abstractmethod
    async def get(self, session: SessionId) -> Session:
        """Return a session.

        Raises:
            NotFoundError: There is none of that id in this scope.
        """

    @abstractmethod
    async def find(self, *, cursor: str | None = None, limit: int = 50) -> Page[Session]:
        """Return sessions, newest first, each exactly once over all pages."""

    @abstractmethod
    async def append(
        self,
        session: SessionId,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        after: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> Sequence[Event]:
        """Append all events, or none, and return them with their offsets.

        Durable on return. Anyone may append; offsets are dense whoever does.

        Args:
            session: Where to.
            events: At least one, in order.
            fence: The turn's lease.
            after: Refuse unless the session has exactly this many events.
            checkpoint: To be kept, if it is newer than the one kept now.

        Raises:
            NotFoundError: There is no such session in this scope.
            StaleFenceError: The lease was taken over.
            ConflictError: Something was appended since; `actual` is the session's length.
        """

    @abstractmethod
    async def read(
        self,
        session: SessionId,
        *,
        start: int = 0,
        last: int | None = None,
        kinds: frozenset[EventKind] | None = None,
    ) -> History:
        """Return events by ascending offset, with the newest checkpoint.

        Args:
            session: Whose.
            start: The first offset of interest.
            last: Keep only this many, the newest, after filtering.
            kinds: Keep only these kinds.

        Raises:
            NotFoundError: There is no such session in this scope.
        """

    @abstractmethod
    async def claim(self, session: SessionId, owner: str, ttl: timedelta) -> Fence | None:
        """Return the lease for `owner`, taken or renewed; `None` while another owner holds it.

        Renewing keeps the epoch; taking over an expired lease raises it, which makes the earlier
        fence stale.

        Raises:
            NotFoundError: There is no such session in this scope.
        """

    @abstractmethod
    async def release(self, fence: Fence) -> None:
        """Give the lease up; does nothing if it is stale already."""

    @abstractmethod
    def follow(self, session: SessionId, start: int) -> AsyncIterator[Event]:
        """Yield events from offset `start` on, then each new one as it is appended, without gaps.

        Never ends by itself; close it or cancel the task.
        """


@attrs.frozen
class Codec(Generic[E]):
    """How a repository turns entities into JSON and back.

    Attributes:
        kind: What errors call the entity; also the repository's namespace.
        key: The entity's key.
        encode: To JSON values.
        decode: From JSON values.
    """

    kind: str
    key: Callable[[E], str]
    encode: Callable[[E], Mapping[str, Any]]
    decode: Callable[[Mapping[str, Any]], E]


@attrs.frozen
class Record:
    """A stored entity: its JSON and how often it has been written (from 1)."""

    body: Mapping[str, Any]
    version: int


@attrs.frozen
class Versioned(Generic[E]):
    """An entity with its version."""

    value: E
    version: int


class Repository(ABC, Generic[E]):
    """Entities of one kind within one scope; all of it from four key-value methods."""

    def __init__(self, codec: Codec[E]) -> None:
        self._codec = codec

    @abstractmethod
    async def _read(self, key: str) -> Record | None:
        """Return the record under `key`, or `None`."""

    @abstractmethod
    async def _write(self, key: str, body: Mapping[str, Any], expected: int | None) -> int:
        """Write atomically and return the new version.

        `expected` is the version that must be there now (0: nothing); `None` writes regardless.

        Raises:
            ConflictError: Another version is there.
        """

    @abstractmethod
    async def _remove(self, key: str) -> bool:
        """Remove `key`; say whether it was there."""

    @abstractmethod
    async def _scan(self, after: str, limit: int) -> Sequence[tuple[str, Record]]:
        """Return up to `limit` records with keys greater than `after`, by key."""

    async def get(self, key: str) -> Versioned[E]:
        """Return the entity under `key`.

        Raises:
            NotFoundError: There is none in this scope.
        """
        record = await self._read(key)
        if record is None:
            raise NotFoundError(self._codec.kind, key)
        return Versioned(self._codec.decode(record.body), record.version)

    async def find(
        self,
        filter: Callable[[E], bool] | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[E]:
        """Return up to `limit` entities that pass `filter`, by key, each once over all pages."""
        found: list[E] = []
        after = cursor or ""
        while True:
            batch = await self._scan(after, limit)
            for key, record in batch:
                after = key
                entity = self._codec.decode(record.body)
                if filter is None or filter(entity):
                    found.append(entity)
                    if len(found) == limit:
                        return Page(tuple(found), after)
            if len(batch) < limit:
                return Page(tuple(found))

    async def put(self, entity: E, *, expected_version: int | None = None) -> Versioned[E]:
        """Write `entity` and return it with its new version.

        Raises:
            ConflictError: `expected_version` (0: not there yet) is not what is stored.
        """
        key = self._codec.key(entity)
        version = await self._write(key, self._codec.encode(entity), expected_version)
        return Versioned(entity, version)

    async def create(self, entity: E) -> Versioned[E]:
        """Write an entity that must not exist yet.

        Raises:
            ConflictError: One with this key exists.
        """
        return await self.put(entity, expected_version=0)

    async def delete(self, key: str) -> None:
        """Remove the entity under `key`.

        Raises:
            NotFoundError: There is none in this scope.
        """
        if not await self._remove(key):
            raise NotFoundError(self._codec.kind, key)

    def _conflict(self, key: str, expected: int | None, actual: int) -> ConflictError:
        return ConflictError(f"{self._codec.kind} {key!r}", expected, actual)


class ArtifactStore(ABC):
    """Derived data by content hash: losing it costs time, never truth."""

    @abstractmethod
    async def load(self, key: str) -> bytes | None:
        """Return what was saved under `key`, whole, or `None`."""

    @abstractmethod
    async def save(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`; a reader sees all of it or nothing."""


@attrs.frozen
class ScopedStores:
    """The stores of one scope."""

    sessions: SessionStore
    customers: Repository[Customer]
    tags: Repository[Tag]
    values: Repository[VariableValue]
    spending: Repository[DaySpent]


class Stores(ABC):
    """One storage backend: everything of a tenant by scope, and the artifacts of all."""

    @abstractmethod
    def scope(self, scope: Scope) -> ScopedStores:
        """Return the stores of a scope; cheap, no I/O."""

    @property
    @abstractmethod
    def artifacts(self) -> ArtifactStore:
        """The artifact store."""

    async def start(self) -> None:  # noqa: B027 - optional: not every backend opens something
        """Open what must be open; called once, before anything else.

        Raises:
            ConfigError: The storage can't be used; the message says why and what to do.
        """

    async def stop(self) -> None:  # noqa: B027 - optional, likewise
        """Close what `start` opened; called once, also after a failed start."""
