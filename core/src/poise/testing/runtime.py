"""What every bus and dispatcher promises, and second implementations to hold the suites against."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Self

import anyio
import pytest
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectSendStream

from poise.ports.runtime import (
    Bus,
    ConversationEngine,
    Dispatcher,
    Signal,
    TurnEnd,
    TurnOutcome,
    TurnRequest,
    UtteranceRequest,
)
from poise.turn.context import Wake
from poise.values.ids import SessionId
from poise.values.scope import Scope

ONE, TWO = SessionId("session_one"), SessionId("session_two")
SCOPE = Scope.local()


class RecordingBus(Bus):
    """Keeps every signal, and hands it to watchers that never miss one.

    Attributes:
        signals: All that was published, oldest first.
    """

    def __init__(self) -> None:
        self.signals: list[Signal] = []
        self._published = anyio.Event()

    async def publish(self, signal: Signal) -> None:
        self.signals.append(signal)
        self._published.set()
        self._published = anyio.Event()

    def watch(self, session: SessionId) -> AsyncIterator[Signal]:
        return self._from(session, len(self.signals))

    async def _from(self, session: SessionId, place: int) -> AsyncIterator[Signal]:
        while True:
            while place < len(self.signals):
                signal = self.signals[place]
                place += 1
                if signal.session == session:
                    yield signal
            await self._published.wait()


class ScriptedEngine(ConversationEngine):
    """Runs turns that last until they are told to end, and keeps account of them.

    Attributes:
        begun: The requests of all turns, in the order they began.
        ended: How each turn that is over ended, by its place in `begun`; `cancelled` or `ready`.
        ends: What turns return, by their place in `begun`; SENT unless told otherwise.
        failing: Places in `begun` of turns that raise.
        spoken: Places in `begun` of turns that finish although they are cancelled.
    """

    def __init__(self) -> None:
        self.begun: list[TurnRequest] = []
        self.ended: dict[int, str] = {}
        self.ends: dict[int, TurnEnd] = {}
        self.failing: set[int] = set()
        self.spoken: set[int] = set()
        self._may_end: dict[int, anyio.Event] = {}
        self._changed = anyio.Event()

    def finish(self, place: int) -> None:
        """Let the turn at `place` in `begun` end, now or as soon as it begins."""
        self._may_end.setdefault(place, anyio.Event()).set()

    async def until(self, *, begun: int = 0, ended: int = 0) -> None:
        """Wait until so many turns have begun and ended; fails when they do not."""
        with anyio.fail_after(10):
            while len(self.begun) < begun or len(self.ended) < ended:
                await self._changed.wait()

    async def process(self, request: TurnRequest) -> TurnOutcome:
        place = len(self.begun)
        self.begun.append(request)
        self._announce()
        try:
            if place in self.failing:
                raise RuntimeError("the engine broke")
            with anyio.CancelScope(shield=place in self.spoken):
                await self._may_end.setdefault(place, anyio.Event()).wait()
        except anyio.get_cancelled_exc_class():
            self.ended[place] = "cancelled"
            raise
        else:
            self.ended[place] = "ready"
        finally:
            self.ended.setdefault(place, "failed")
            self._announce()
        return TurnOutcome(self.ends.get(place, TurnEnd.SENT))

    async def utter(self, request: UtteranceRequest) -> TurnOutcome:
        return await self.process(TurnRequest(request.scope, request.session, Wake.UTTER))

    def _announce(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class RecordingDispatcher(Dispatcher):
    """Runs turns one task per session, fed through a stream, and keeps the wakes it was given.

    Attributes:
        wakes: Every wake, oldest first.
    """

    def __init__(self, engine: ConversationEngine) -> None:
        self.wakes: list[tuple[Scope, SessionId, Wake]] = []
        self._engine = engine
        self._group: TaskGroup = anyio.create_task_group()
        self._feeds: dict[tuple[str, SessionId], MemoryObjectSendStream[TurnRequest]] = {}
        self._live: dict[tuple[str, SessionId], anyio.CancelScope] = {}

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for feed in self._feeds.values():
            feed.close()
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(kind, exc, traceback)

    async def dispatch(self, scope: Scope, session: SessionId, wake: Wake) -> None:
        self.wakes.append((scope, session, wake))
        key = (scope.tenant, session)
        if key not in self._feeds:
            feed, requests = anyio.create_memory_object_stream[TurnRequest](math.inf)
            self._feeds[key] = feed

            async def serve() -> None:
                async with requests:
                    async for request in requests:
                        while requests.statistics().current_buffer_used:
                            request = requests.receive_nowait()
                        await self._process(key, request)

            self._group.start_soon(serve)
        self._feeds[key].send_nowait(TurnRequest(scope, session, wake))
        live = self._live.get(key)
        if live is not None and wake in (Wake.MESSAGE, Wake.OPERATOR):
            live.cancel()

    async def _process(self, key: tuple[str, SessionId], request: TurnRequest) -> None:
        while True:
            end: TurnEnd | None = None
            with anyio.CancelScope() as scope:
                self._live[key] = scope
                try:
                    end = (await self._engine.process(request)).end
                except Exception:
                    end = None  # the suite asks only that the lane goes on
            del self._live[key]
            if end is not TurnEnd.BUSY:
                return
            await anyio.sleep(0.01)


class BusConformance:
    """Fill `subject` with a bus that nobody watches."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def subject(self) -> Bus:
        raise NotImplementedError("fill the fixture 'subject' with your bus")

    async def test_watchers_get_the_signals_of_their_session(self, subject: Bus) -> None:
        first, second = subject.watch(ONE), subject.watch(ONE)
        other = subject.watch(TWO)
        sent = [_signal(ONE, place) for place in range(3)]

        for signal in sent:
            await subject.publish(signal)
        await subject.publish(_signal(TWO, 9))

        assert await _take(first, 3) == sent, "in order, from the moment of watching"
        assert await _take(second, 3) == sent, "every watcher gets every signal"
        assert await _take(other, 1) == [_signal(TWO, 9)], "and only those of its session"

    async def test_what_came_before_watching_is_gone(self, subject: Bus) -> None:
        await subject.publish(_signal(ONE, 1))
        watcher = subject.watch(ONE)
        await subject.publish(_signal(ONE, 2))

        assert await _take(watcher, 1) == [_signal(ONE, 2)]

    async def test_watcher_that_waits_is_woken(self, subject: Bus) -> None:
        watcher = subject.watch(ONE)
        seen: list[Signal] = []

        async def watch() -> None:
            seen.extend(await _take(watcher, 2))

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await anyio.wait_all_tasks_blocked()
            await subject.publish(_signal(ONE, 1))
            await subject.publish(_signal(ONE, 2))

        assert seen == [_signal(ONE, 1), _signal(ONE, 2)]

    async def test_publishing_never_waits(self, subject: Bus) -> None:
        watcher = subject.watch(ONE)  # and does not read

        with anyio.fail_after(10):
            for place in range(5000):
                await subject.publish(_signal(ONE, place))

        assert await _take(watcher, 1) == [_signal(ONE, 0)], "what it has not missed is in order"

    async def test_publishing_to_nobody_is_fine(self, subject: Bus) -> None:
        await subject.publish(_signal(ONE, 1))


class DispatcherConformance:
    """Fill `subject` with a running dispatcher of the fixture `engine`."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def engine(self) -> ScriptedEngine:
        """The engine whose turns the suite directs."""
        return ScriptedEngine()

    @pytest.fixture
    def subject(self, engine: ScriptedEngine) -> Dispatcher:
        raise NotImplementedError("fill the fixture 'subject' with your dispatcher of 'engine'")

    async def test_wake_runs_a_turn_and_dispatch_does_not_wait_for_it(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=1)

        assert engine.begun == [TurnRequest(SCOPE, ONE, Wake.MESSAGE)]
        assert engine.ended == {}, "dispatch returned while the turn was live"

    async def test_message_cancels_and_restarts_the_live_turn(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=1)

        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=2, ended=1)
        engine.finish(1)
        await engine.until(ended=2)

        assert engine.ended == {0: "cancelled", 1: "ready"}

    async def test_messages_that_come_together_become_one_turn(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=1)

        for _ in range(5):
            await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=2)
        engine.finish(1)
        await engine.until(ended=2)
        await anyio.wait_all_tasks_blocked()

        assert len(engine.begun) == 2, "one restart for all that was said meanwhile"

    async def test_turn_that_has_spoken_finishes_and_another_follows(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        engine.spoken.add(0)
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=1)

        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await anyio.wait_all_tasks_blocked()
        begun_meanwhile = len(engine.begun)
        engine.finish(0)
        await engine.until(begun=2, ended=1)

        assert begun_meanwhile == 1, "never two turns of one session at a time"
        assert engine.ended[0] == "ready"

    async def test_timer_waits_for_the_live_turn(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(begun=1)

        await subject.dispatch(SCOPE, ONE, Wake.TIMER)
        await anyio.wait_all_tasks_blocked()
        ended_meanwhile = dict(engine.ended)
        engine.finish(0)
        await engine.until(begun=2)

        assert ended_meanwhile == {}, "only somebody's words interrupt a turn"
        assert engine.begun[1].wake is Wake.TIMER
        assert engine.ended[0] == "ready"

    async def test_sessions_run_side_by_side_and_are_cancelled_apart(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        for place in range(5):
            await subject.dispatch(SCOPE, SessionId(f"session_{place}"), Wake.MESSAGE)
        await engine.until(begun=5)

        await subject.dispatch(SCOPE, SessionId("session_2"), Wake.MESSAGE)
        await engine.until(begun=6, ended=1)
        for place in range(6):
            engine.finish(place)
        await engine.until(ended=6)

        cancelled = {engine.begun[at].session for at, end in engine.ended.items() if end != "ready"}
        assert cancelled == {"session_2"}, "a cancellation reaches one session alone"

    async def test_tenants_with_equal_session_ids_are_apart(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        await subject.dispatch(Scope("acme", "ada"), ONE, Wake.MESSAGE)
        await subject.dispatch(Scope("other", "eve"), ONE, Wake.MESSAGE)
        await engine.until(begun=2)

        assert engine.ended == {}

    async def test_failing_engine_leaves_the_session_usable(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        engine.failing.add(0)
        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(ended=1)

        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        engine.finish(1)
        await engine.until(ended=2)

        assert engine.ended == {0: "failed", 1: "ready"}

    async def test_wake_is_kept_while_another_owner_has_the_session(
        self, subject: Dispatcher, engine: ScriptedEngine
    ) -> None:
        engine.ends = {0: TurnEnd.BUSY, 1: TurnEnd.BUSY}
        for place in range(3):
            engine.finish(place)

        await subject.dispatch(SCOPE, ONE, Wake.MESSAGE)
        await engine.until(ended=3)
        await anyio.wait_all_tasks_blocked()

        assert len(engine.begun) == 3, "tried again until the session was free, and then no more"


def _signal(session: SessionId, place: int) -> Signal:
    return Signal(session, None, "chunk", {"place": place})


async def _take(signals: AsyncIterator[Signal], count: int) -> Sequence[Signal]:
    with anyio.fail_after(10):
        return [await anext(signals) for _ in range(count)]
