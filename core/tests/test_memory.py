"""The in-memory implementations keep the promises of their ports, and a few of their own."""

from __future__ import annotations

import gc
import logging
from collections.abc import AsyncIterator

import anyio
import pytest
from hypothesis import settings

from poise.errors import ContractError
from poise.memory.artifacts import MemoryArtifactStore
from poise.memory.bus import MemoryBus
from poise.memory.dispatcher import InProcessDispatcher
from poise.memory.repositories import MemoryRepository
from poise.memory.session_store import MemorySessionStore
from poise.memory.stores import MemoryStores
from poise.ports.codecs import CUSTOMERS
from poise.ports.runtime import Bus, Dispatcher, Signal, TurnEnd
from poise.ports.stores import ArtifactStore, Repository, SessionStore, Stores
from poise.testing.clock import START, FrozenClock
from poise.testing.events import said
from poise.testing.runtime import (
    BusConformance,
    DispatcherConformance,
    RecordingBus,
    RecordingDispatcher,
    ScriptedEngine,
)
from poise.testing.session_store import header_of
from poise.testing.stores import (
    ArtifactStoreConformance,
    RepositoryConformance,
    SessionStoreConformance,
    SessionStoreMachine,
    StoresConformance,
)
from poise.turn.context import Wake
from poise.values.customers import Customer
from poise.values.ids import CustomerId, SessionId, VariableId
from poise.values.scope import Scope
from poise.values.variables import VariableValue

SCOPE = Scope.local()
ONE = SessionId("session_one")


class TestMemorySessionStore(SessionStoreConformance):
    @pytest.fixture
    def subject(self, clock: FrozenClock) -> SessionStore:
        return MemorySessionStore(clock)


class TestMemoryRepository(RepositoryConformance):
    @pytest.fixture
    def subject(self) -> Repository[Customer]:
        return MemoryRepository(CUSTOMERS)


class TestMemoryArtifactStore(ArtifactStoreConformance):
    @pytest.fixture
    def subject(self) -> ArtifactStore:
        return MemoryArtifactStore()


class TestMemoryStores(StoresConformance):
    @pytest.fixture
    def subject(self) -> Stores:
        return MemoryStores(FrozenClock())


class MemoryMachine(SessionStoreMachine):
    def open(self) -> SessionStore:
        return MemorySessionStore(self.clock)


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


class TestMemoryBus(BusConformance):
    @pytest.fixture
    def subject(self) -> Bus:
        return MemoryBus()


class TestRecordingBus(BusConformance):
    @pytest.fixture
    def subject(self) -> Bus:
        return RecordingBus()


class TestInProcessDispatcher(DispatcherConformance):
    @pytest.fixture
    async def subject(self, engine: ScriptedEngine) -> AsyncIterator[Dispatcher]:
        async with InProcessDispatcher(engine, grace=0.0) as dispatcher:
            yield dispatcher


class TestRecordingDispatcher(DispatcherConformance):
    @pytest.fixture
    async def subject(self, engine: ScriptedEngine) -> AsyncIterator[Dispatcher]:
        async with RecordingDispatcher(engine) as dispatcher:
            yield dispatcher


@pytest.mark.anyio
class TestWatching:
    async def test_slow_watcher_misses_what_its_queue_does_not_hold(self) -> None:
        bus = MemoryBus(capacity=2)
        watcher = bus.watch(ONE)

        for place in range(4):
            await bus.publish(Signal(ONE, None, "chunk", {"place": place}))
        kept = [(await anext(watcher)).data["place"] for _ in range(2)]
        await bus.publish(Signal(ONE, None, "chunk", {"place": 9}))

        assert kept == [0, 1]
        assert (await anext(watcher)).data["place"] == 9

    async def test_watcher_that_is_dropped_leaves_nothing_behind(self) -> None:
        bus = MemoryBus()
        watcher = bus.watch(ONE)
        signal = Signal(ONE, None, "chunk", {})

        del watcher
        gc.collect()
        await bus.publish(signal)

        assert not bus._watchers


@pytest.mark.anyio
class TestDispatching:
    async def test_two_dispatchers_of_one_process_do_not_cancel_each_other(self) -> None:
        engines = ScriptedEngine(), ScriptedEngine()
        async with (
            InProcessDispatcher(engines[0], grace=0.0) as first,
            InProcessDispatcher(engines[1], grace=0.0) as second,
        ):
            for dispatcher in (first, second):
                for place in range(5):
                    await dispatcher.dispatch(SCOPE, SessionId(f"s{place}"), Wake.MESSAGE)
            for engine in engines:
                await engine.until(begun=5)

            await first.dispatch(SCOPE, SessionId("s3"), Wake.MESSAGE)
            await engines[0].until(begun=6, ended=1)
            for engine in engines:
                for place in range(6):
                    engine.finish(place)
            await engines[0].until(ended=6)
            await engines[1].until(ended=5)

        assert list(engines[0].ended.values()).count("cancelled") == 1
        assert set(engines[1].ended.values()) == {"ready"}

    async def test_take_over_stops_the_live_turn(self) -> None:
        engine = ScriptedEngine()
        async with InProcessDispatcher(engine, grace=0.0) as dispatcher:
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            await engine.until(begun=1)

            await dispatcher.dispatch(SCOPE, ONE, Wake.OPERATOR)
            await engine.until(begun=2, ended=1)

        assert engine.ended[0] == "cancelled"
        assert engine.begun[1].wake is Wake.OPERATOR

    async def test_message_that_waits_is_not_replaced_by_a_timer(self) -> None:
        engine = ScriptedEngine()
        engine.spoken.add(0)
        async with InProcessDispatcher(engine, grace=0.0) as dispatcher:
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            await engine.until(begun=1)

            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            await dispatcher.dispatch(SCOPE, ONE, Wake.TIMER)
            engine.finish(0)
            await engine.until(begun=2)

        assert engine.begun[1].wake is Wake.MESSAGE

    async def test_idle_waits_for_the_last_turn(self) -> None:
        engine = ScriptedEngine()
        async with InProcessDispatcher(engine) as dispatcher:
            await dispatcher.idle(ONE)  # nothing runs: returns at once
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            await engine.until(begun=1)
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            engine.finish(1)

            with anyio.fail_after(10):
                await dispatcher.idle(ONE)

        assert engine.ended == {0: "cancelled", 1: "ready"}

    async def test_leaving_waits_for_live_turns(self) -> None:
        engine = ScriptedEngine()
        with anyio.fail_after(10):
            async with InProcessDispatcher(engine, grace=60.0) as dispatcher:
                await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
                await engine.until(begun=1)
                engine.finish(0)

        assert engine.ended == {0: "ready"}

    async def test_leaving_cancels_what_outlasts_the_grace(self) -> None:
        engine = ScriptedEngine()
        async with InProcessDispatcher(engine, grace=0.01) as dispatcher:
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
            await engine.until(begun=1)

        assert engine.ended == {0: "cancelled"}

    async def test_leaving_gives_up_a_session_that_another_owner_holds(self) -> None:
        engine = ScriptedEngine()
        engine.ends = dict.fromkeys(range(1000), TurnEnd.BUSY)
        for place in range(1000):
            engine.finish(place)

        with anyio.fail_after(10):
            async with InProcessDispatcher(engine, grace=60.0) as dispatcher:
                await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
                await engine.until(ended=2)

        assert len(engine.begun) < 10

    async def test_error_within_leaves_as_it_is(self) -> None:
        async def fail_within() -> None:
            async with InProcessDispatcher(ScriptedEngine(), grace=0.0) as dispatcher:
                await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
                raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            await fail_within()

    async def test_cancelled_application_cancels_its_turns(self) -> None:
        engine = ScriptedEngine()
        with anyio.CancelScope() as outer:
            async with InProcessDispatcher(engine, grace=60.0) as dispatcher:
                await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
                await engine.until(begun=1)
                outer.cancel()
                await anyio.sleep_forever()

        assert outer.cancelled_caught
        assert engine.ended == {0: "cancelled"}

    async def test_dispatcher_that_is_not_running_says_so(self) -> None:
        dispatcher = InProcessDispatcher(ScriptedEngine())

        with pytest.raises(ContractError, match="async with"):
            await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)

    async def test_failed_turn_is_logged_with_its_session(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        engine = ScriptedEngine()
        engine.failing.add(0)
        with caplog.at_level(logging.ERROR):
            async with InProcessDispatcher(engine) as dispatcher:
                await dispatcher.dispatch(SCOPE, ONE, Wake.MESSAGE)
                await engine.until(ended=1)

        assert [record.getMessage() for record in caplog.records] == ["a turn failed"]
        assert vars(caplog.records[0])["session"] == ONE


@pytest.mark.anyio
async def test_timer_and_customer_that_write_at_once_lose_nothing() -> None:
    stores = MemoryStores(FrozenClock()).scope(SCOPE)
    for run in range(500):
        session = (await stores.sessions.open(header_of(str(run)))).header.id
        async with anyio.create_task_group() as group:
            group.start_soon(stores.sessions.append, session, [said("customer")])
            group.start_soon(stores.sessions.append, session, [said("timer")])
        history = await stores.sessions.read(session)

        assert [each.offset for each in history.events] == [0, 1]
        assert {each.text for each in history.events} == {"customer", "timer"}


@pytest.mark.anyio
async def test_what_a_repository_gives_out_is_no_door_to_what_it_keeps() -> None:
    stores = MemoryStores(FrozenClock()).scope(SCOPE)
    data = {"list": [1]}
    value = VariableValue(VariableId("v"), CustomerId("c"), data, START)
    await stores.values.put(value)
    data["list"].append(2)
    (await stores.values.get(value.key)).value.data["list"].append(3)

    assert (await stores.values.get(value.key)).value.data == {"list": [1]}
