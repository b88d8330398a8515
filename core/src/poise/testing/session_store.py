"""What every session store promises: log, lease and checkpoint of one tenant's sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import anyio
import pytest

from poise.errors import ConflictError, InvalidValueError, NotFoundError, StaleFenceError
from poise.ports.stores import SessionStore
from poise.testing.clock import START, FrozenClock
from poise.testing.events import custom, said
from poise.turn.history import Checkpoint
from poise.turn.state import fold
from poise.values.events import Event, EventKind
from poise.values.ids import AgentId, CustomerId, SessionId
from poise.values.sessions import Session, SessionHeader

TTL = timedelta(seconds=20)
NOWHERE = SessionId("session_nowhere")


def header_of(name: str, seconds: float = 0.0) -> SessionHeader:
    """Return the header of a session opened so long after the frozen clock's start."""
    return SessionHeader(
        SessionId(f"session_{name}"),
        AgentId("agent_test"),
        CustomerId("customer_test"),
        START + timedelta(seconds=seconds),
        title=f"About {name}",
    )


async def take(events: AsyncIterator[Event], count: int) -> Sequence[Event]:
    """Return the next `count` events; fails when they do not come."""
    found: list[Event] = []
    with anyio.fail_after(10):
        while len(found) < count:
            found.append(await anext(events))
    return found


class SessionStoreConformance:
    """Fill `subject` with a store of one scope, without sessions, that tells time by `clock`."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def clock(self) -> FrozenClock:
        """The clock that leases run by."""
        return FrozenClock()

    @pytest.fixture
    def subject(self) -> SessionStore:
        raise NotImplementedError("fill the fixture 'subject' with your store")

    @pytest.fixture
    async def session(self, subject: SessionStore) -> SessionId:
        """A session without events."""
        return (await subject.open(header_of("one"))).header.id

    # -- sessions --

    async def test_opening_twice_gives_the_same_session(self, subject: SessionStore) -> None:
        header = header_of("one")
        await subject.open(header)
        await subject.append(header.id, [said("hello")])

        again = await subject.open(header_of("one", seconds=5))

        assert again.header == header, "open is idempotent by id: the first header stays"
        assert again.length == 1, "opening a known session must not lose its events"

    async def test_unknown_session_is_not_found_by_any_method(self, subject: SessionStore) -> None:
        with pytest.raises(NotFoundError):
            await subject.get(NOWHERE)
        with pytest.raises(NotFoundError):
            await subject.append(NOWHERE, [said("hello")])
        with pytest.raises(NotFoundError):
            await subject.read(NOWHERE)
        with pytest.raises(NotFoundError):
            await subject.claim(NOWHERE, "owner", TTL)

    async def test_find_gives_every_session_once_newest_first(self, subject: SessionStore) -> None:
        # Two of one age: the order must hold where times are equal.
        for place, seconds in enumerate((3, 1, 2, 2, 5)):
            await subject.open(header_of(str(place), seconds))

        found: list[Session] = []
        cursor: str | None = None
        for _ in range(10):
            page = await subject.find(cursor=cursor, limit=2)
            found.extend(page.items)
            cursor = page.cursor
            if cursor is None:
                break

        created = [each.header.created for each in found]
        assert len({each.header.id for each in found}) == len(found) == 5, "each exactly once"
        assert created == sorted(created, reverse=True), "newest first"

    async def test_finding_nothing_gives_an_empty_page(self, subject: SessionStore) -> None:
        page = await subject.find()

        assert page.items == ()
        assert page.cursor is None

    # -- the log --

    async def test_offsets_are_dense_from_zero(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        first = await subject.append(session, [said("a"), said("b")])
        second = await subject.append(session, [custom()])

        assert [each.offset for each in (*first, *second)] == [0, 1, 2]

    async def test_events_come_back_as_they_went_in(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        data = {"text": "wíth \x00 and \ud83d half, {} {{x}}", "list": [1, 2.5, None, True]}
        event = custom(data)

        stored = (await subject.append(session, [event]))[0]
        read = (await subject.read(session)).events[0]

        assert read == stored, "append returns what read returns"
        assert dict(read.data) == data, "any JSON passes unharmed, odd characters included"
        assert (read.id, read.kind, read.source, read.actor, read.turn, read.at) == (
            event.id,
            event.kind,
            event.source,
            event.actor,
            event.turn,
            event.at,
        )

    async def test_appending_nothing_is_refused(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        with pytest.raises(InvalidValueError, match="at least one"):
            await subject.append(session, [])

    async def test_concurrent_appends_lose_nothing(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        async def write(writer: int) -> None:
            for place in range(20):
                await subject.append(session, [said(f"{writer}:{place}")])

        async with anyio.create_task_group() as group:
            for writer in range(8):
                group.start_soon(write, writer)
        history = await subject.read(session)

        assert [each.offset for each in history.events] == list(range(160)), "dense and unique"
        texts = [each.text for each in history.events]
        for writer in range(8):
            own = [text for text in texts if text.startswith(f"{writer}:")]
            assert own == [f"{writer}:{place}" for place in range(20)], "each writer in its order"

    async def test_after_refuses_what_came_too_late(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        await subject.append(session, [said("a"), said("b")])

        with pytest.raises(ConflictError) as caught:
            await subject.append(session, [said("c")], after=1)

        assert caught.value.actual == 2, "the error says how long the session is"
        assert (await subject.get(session)).length == 2, "nothing was appended"
        assert (await subject.append(session, [said("c")], after=2))[0].offset == 2

    async def test_only_one_of_many_that_append_after_the_same_offset_succeeds(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        outcomes: list[bool] = []

        async def write(writer: int) -> None:
            try:
                await subject.append(session, [said(str(writer))], after=0)
            except ConflictError:
                outcomes.append(False)
            else:
                outcomes.append(True)

        async with anyio.create_task_group() as group:
            for writer in range(8):
                group.start_soon(write, writer)

        assert outcomes.count(True) == 1
        assert (await subject.get(session)).length == 1

    async def test_read_gives_the_window_asked_for(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        for place in range(5):
            await subject.append(session, [said(f"m{place}"), custom({"place": place})])
        only = frozenset({EventKind.MESSAGE})

        tail = await subject.read(session, start=7)
        newest = await subject.read(session, last=3)
        messages = await subject.read(session, last=2, kinds=only)
        late_messages = await subject.read(session, start=5, kinds=only)
        beyond = await subject.read(session, start=99)

        assert [each.offset for each in tail.events] == [7, 8, 9]
        assert [each.offset for each in newest.events] == [7, 8, 9], "oldest first, the newest kept"
        assert [each.text for each in messages.events] == ["m3", "m4"], (
            "last counts after filtering"
        )
        assert [each.text for each in late_messages.events] == ["m3", "m4"]
        assert beyond.events == ()
        assert {each.length for each in (tail, newest, messages, late_messages, beyond)} == {10}, (
            "length counts all events, whatever the window"
        )

    # -- the checkpoint --

    async def test_newest_checkpoint_comes_with_every_window(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        stored = await subject.append(session, [said("a"), said("b")])
        one, two = fold(stored[:1]), fold(stored)

        before = await subject.read(session)
        await subject.append(session, [custom()], checkpoint=Checkpoint(2, two))
        await subject.append(session, [custom()], checkpoint=Checkpoint(1, one))
        history = await subject.read(session, start=99)

        assert before.checkpoint is None
        assert history.checkpoint == Checkpoint(2, two), "an older one does not replace a newer one"

    async def test_refused_append_keeps_no_checkpoint(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        stored = await subject.append(session, [said("a")])

        with pytest.raises(ConflictError):
            await subject.append(
                session, [custom()], after=0, checkpoint=Checkpoint(1, fold(stored))
            )

        assert (await subject.read(session)).checkpoint is None, "all or nothing"

    # -- the lease --

    async def test_one_owner_at_a_time(self, subject: SessionStore, session: SessionId) -> None:
        fence = await subject.claim(session, "one", TTL)

        assert fence is not None
        assert await subject.claim(session, "two", TTL) is None
        assert await subject.claim(session, "one", TTL) == fence, "renewing keeps the epoch"

    async def test_expired_lease_can_be_taken_over(
        self, subject: SessionStore, session: SessionId, clock: FrozenClock
    ) -> None:
        old = await subject.claim(session, "one", TTL)
        clock.advance(19)
        early = await subject.claim(session, "two", TTL)
        clock.advance(1)

        new = await subject.claim(session, "two", TTL)

        assert early is None, "held until the very end of its time"
        assert old is not None
        assert new is not None
        assert new.epoch > old.epoch, "a take-over raises the epoch"

    async def test_renewing_extends_a_lease(
        self, subject: SessionStore, session: SessionId, clock: FrozenClock
    ) -> None:
        await subject.claim(session, "one", TTL)
        clock.advance(15)
        await subject.claim(session, "one", TTL)
        clock.advance(15)

        assert await subject.claim(session, "two", TTL) is None

    async def test_stale_owner_cannot_write(
        self, subject: SessionStore, session: SessionId, clock: FrozenClock
    ) -> None:
        old = await subject.claim(session, "one", TTL)
        clock.advance(21)
        new = await subject.claim(session, "two", TTL)

        with pytest.raises(StaleFenceError):
            await subject.append(session, [said("late")], fence=old)
        with pytest.raises(StaleFenceError):
            await subject.append(session, [said("late")], fence=old, after=7)

        assert (await subject.get(session)).length == 0, "nothing of it was written"
        assert len(await subject.append(session, [said("now")], fence=new)) == 1

    async def test_owner_that_returns_after_a_take_over_is_stale_all_the_same(
        self, subject: SessionStore, session: SessionId, clock: FrozenClock
    ) -> None:
        old = await subject.claim(session, "one", TTL)
        clock.advance(21)
        await subject.claim(session, "two", TTL)
        clock.advance(21)
        again = await subject.claim(session, "one", TTL)

        assert again is not None
        with pytest.raises(StaleFenceError):
            await subject.append(session, [said("late")], fence=old)
        assert len(await subject.append(session, [said("now")], fence=again)) == 1

    async def test_expired_lease_holds_while_nobody_takes_it_over(
        self, subject: SessionStore, session: SessionId, clock: FrozenClock
    ) -> None:
        fence = await subject.claim(session, "one", TTL)
        clock.advance(60)

        stored = await subject.append(session, [said("slow, but mine")], fence=fence)

        assert len(stored) == 1

    async def test_released_lease_is_free_and_its_fence_stale(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        old = await subject.claim(session, "one", TTL)
        assert old is not None

        await subject.release(old)
        new = await subject.claim(session, "two", TTL)
        await subject.release(old)

        assert new is not None, "a released lease can be claimed at once"
        with pytest.raises(StaleFenceError):
            await subject.append(session, [said("late")], fence=old)
        assert len(await subject.append(session, [said("now")], fence=new)) == 1, (
            "releasing a stale fence takes nothing from the new owner"
        )

    async def test_fence_of_another_session_is_stale(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        other = (await subject.open(header_of("other"))).header.id
        await subject.claim(session, "one", TTL)
        fence = await subject.claim(other, "one", TTL)

        with pytest.raises(StaleFenceError):
            await subject.append(session, [said("astray")], fence=fence)

    async def test_anyone_may_append_beside_a_lease(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        await subject.claim(session, "one", TTL)

        assert len(await subject.append(session, [said("hello")])) == 1

    # -- following --

    async def test_follow_gives_what_is_there_and_what_comes(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        await subject.append(session, [said("a"), said("b")])
        events = subject.follow(session, 1)

        there = await take(events, 1)
        await subject.append(session, [said("c")])
        await subject.append(session, [said("d"), said("e")])
        come = await take(events, 3)
        await events.aclose()  # type: ignore[attr-defined]

        assert [each.text for each in (*there, *come)] == ["b", "c", "d", "e"]

    async def test_followers_that_wait_are_woken_without_gaps(
        self, subject: SessionStore, session: SessionId
    ) -> None:
        seen: list[list[int]] = [[], [], []]

        async def follow(place: int) -> None:
            events = subject.follow(session, 0)
            seen[place] = [each.offset for each in await take(events, 30)]
            await events.aclose()  # type: ignore[attr-defined]

        async with anyio.create_task_group() as group:
            for place in range(3):
                group.start_soon(follow, place)
            await anyio.wait_all_tasks_blocked()
            for place in range(30):
                await subject.append(session, [said(str(place))])

        assert seen == [list(range(30))] * 3
