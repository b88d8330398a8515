"""A turn's pen: what it appends to the session log, and how it notices what others append."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from poise.errors import ConflictError
from poise.ports.stores import Fence, SessionStore, placed
from poise.turn.history import Checkpoint
from poise.turn.state import SessionState, fold
from poise.values.clock import Clock
from poise.values.events import Event, EventKind, NewEvent, Source
from poise.values.ids import EventId, IdSource, SessionId, TurnId


class SupersededError(Exception):
    """Somebody said something, or took over, before the reply left: the next turn sees to it."""


class TurnLog:
    """Appends a turn's events under its fence and folds whatever the session gets meanwhile.

    Attributes:
        state: The fold of everything that this turn has read or written.
    """

    def __init__(
        self,
        store: SessionStore,
        fence: Fence,
        turn: TurnId,
        *,
        state: SessionState,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store = store
        self._fence = fence
        self._turn = turn
        self._clock = clock
        self._ids = ids
        self._waiting: list[NewEvent] = []
        self.state = state

    @property
    def session(self) -> SessionId:
        """The session that is written to."""
        return self._fence.session

    def event(
        self, kind: EventKind, data: Mapping[str, Any], source: Source = Source.SYSTEM
    ) -> NewEvent:
        """Return an event of this turn, not appended yet."""
        actor = "agent" if source is Source.AI_AGENT else "engine"
        return NewEvent(
            EventId(self._ids.new("event")),
            kind,
            source,
            actor,
            self._turn,
            self._clock.now(),
            data,
        )

    def defer(self, event: NewEvent) -> None:
        """Keep an event for the next commit."""
        self._waiting.append(event)

    async def commit(self, *events: NewEvent) -> Sequence[Event]:
        """Append the deferred events and these, whatever was appended since.

        Raises:
            SupersededError: A customer wrote, or a person took over; the events are in the log.
            StaleFenceError: The lease was taken over.
        """
        appended = await self._store.append(
            self.session, (*self._waiting, *events), fence=self._fence
        )
        self._waiting.clear()
        superseded = await self._catch_up(appended[0].offset)
        self.state = fold(appended, self.state)
        if superseded:
            raise SupersededError
        return appended[-len(events) :] if events else appended

    async def commit_unless_superseded(self, *events: NewEvent) -> Sequence[Event]:
        """Append what can't be taken back, unless somebody said something that it does not heed.

        Raises:
            SupersededError: A customer wrote, or a person took the session over.
            StaleFenceError: The lease was taken over.
        """
        while True:
            try:
                appended = await self._store.append(
                    self.session,
                    (*self._waiting, *events),
                    fence=self._fence,
                    after=self.state.offset,
                )
            except ConflictError as exc:
                if await self._catch_up(exc.actual):
                    raise SupersededError from exc
                continue
            self._waiting.clear()
            self.state = fold(appended, self.state)
            return appended[-len(events) :]

    async def _catch_up(self, length: int) -> bool:
        """Fold what others appended up to `length`; say whether another turn must see to it."""
        if length == self.state.offset:
            return False
        history = await self._store.read(self.session, start=self.state.offset)
        news = [event for event in history.events if event.offset < length]
        self.state = fold(news, self.state)
        return any(_supersedes(event) for event in news)

    async def give_up(self, *events: NewEvent) -> None:
        """Append the end of a turn that says nothing more; what others said stays for the next.

        Raises:
            StaleFenceError: The lease was taken over.
        """
        await self._store.append(self.session, (*self._waiting, *events), fence=self._fence)
        self._waiting.clear()

    async def settle(self, *events: NewEvent) -> None:
        """Append the turn's last events together with the checkpoint that they complete."""
        state = self.state
        expected = [
            placed(event, self.session, state.offset + place) for place, event in enumerate(events)
        ]
        after = fold(expected, state)
        try:
            await self._store.append(
                self.session,
                events,
                fence=self._fence,
                after=state.offset,
                checkpoint=Checkpoint(after.offset, after),
            )
        except ConflictError:
            # The next message is already there; its turn folds the tail, so no checkpoint is lost.
            await self._store.append(self.session, events, fence=self._fence)


def _supersedes(event: Event) -> bool:
    """Say whether what somebody else appended means that this turn must not speak."""
    taken_over = event.kind is EventKind.MODE and event.data.get("mode") == "manual"
    return taken_over or event.is_customer_message or event.is_agent_message


def status_data(status: str, **more: object) -> dict[str, Any]:
    """Return the data of a status event, without what is not given."""
    return {"status": status, **{name: value for name, value in more.items() if value is not None}}
