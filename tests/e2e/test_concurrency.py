"""What several sessions, owners and applications do at the same time, and what must come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import poise_sql.plugin
from poise import Application, EventKind, Session, SessionMode, Source
from poise.memory.stores import MemoryStores
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.clock import FrozenClock
from poise.testing.hook_probe import HookProbe
from poise.testing.interruptions import (
    POINTS_AFTER_WORDS,
    POINTS_BEFORE_WORDS,
    Action,
)
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import agent_messages, assert_session_laws, statuses
from poise.values.clock import Clock
from poise.values.events import Event

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

BEFORE_THE_REPLY = (*POINTS_BEFORE_WORDS, "in the tool")


async def at_rest(app: Application, session: Session) -> Sequence[Event]:
    await app.runtime.dispatcher.idle(session.id)
    return await session.events()


def send(app: Application, session: Session, text: str) -> Action:
    async def sends() -> None:
        await app.runtime.receive(app.scope, session.id, text)

    return sends


# -- several sessions and applications --


async def test_cancelling_one_turn_leaves_those_of_other_sessions_and_applications_alone(
    open_application: Open, shop: Any
) -> None:
    """B-061."""
    gate = anyio.Event()

    def gated() -> ScriptedParts:
        return ScriptedParts(decisions=ScriptedDecisionModel(discoverys_own, gate=gate))

    async with open_application(gated()) as one, open_application(gated()) as other:
        opened = [
            (app, await app.open_session(agent))
            for app, agent in ((one, await shop.open(one)), (other, await shop.open(other)))
            for _ in range(5)
        ]
        for app, session in opened:
            await app.runtime.receive(app.scope, session.id, "open?")
        await anyio.wait_all_tasks_blocked()

        app, interrupted = opened[3]
        await app.runtime.set_mode(app.scope, interrupted.id, SessionMode.MANUAL)
        gate.set()

        for app, session in opened:
            events = await at_rest(app, session)
            assert_session_laws(events)
            expected = [] if session is interrupted else ["We are open from nine to five."]
            assert agent_messages(events) == expected


async def test_two_hundred_sessions_at_once_are_all_answered(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        answers: dict[int, str] = {}

        async def talk(number: int) -> None:
            session = await app.open_session(agent)
            text = ("open?", "where can I park?", "freeze my card", "my balance?")[number % 4]
            answers[number] = (await session.say(text)).text

        async with anyio.create_task_group() as group:
            for number in range(200):
                group.start_soon(talk, number)

        expected = (
            "We are open from nine to five.",
            "You can park behind the shop.",
            "Your card is frozen.",
            "You have 12 euros left.",
        )
        assert answers == {number: expected[number % 4] for number in range(200)}
        assert len(shop.calls) == 100


# -- anything, anywhere --

ACTIONS = ("message", "manual", "auto", "utter")


class Chaos:
    """Does what a plan says at the nth visit of each point, from within whatever runs there."""

    def __init__(self, plan: Mapping[tuple[str, int], str]) -> None:
        self._plan = plan
        self._visits: Counter[str] = Counter()
        self.actions: dict[str, Action] = {}

    def at(self, point: str) -> Callable[..., Awaitable[None]]:
        async def act(_arguments: Mapping[str, Any] | None = None) -> None:
            self._visits[point] += 1
            action = self._plan.get((point, self._visits[point]))
            if action is not None:
                await self.actions[action]()
                await anyio.lowlevel.checkpoint()

        return act


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    plan=st.dictionaries(
        st.tuples(st.sampled_from(BEFORE_THE_REPLY + POINTS_AFTER_WORDS), st.integers(1, 3)),
        st.sampled_from(ACTIONS),
        max_size=5,
    ),
    texts=st.lists(
        st.sampled_from(["freeze my card", "my balance?", "open?"]), min_size=1, max_size=3
    ),
)
def test_whatever_happens_wherever_it_happens_the_log_keeps_its_laws(
    open_application: Open,
    shop: Any,
    tmp_path: Path,
    storage: str,
    plan: Mapping[tuple[str, int], str],
    texts: Sequence[str],
) -> None:
    """B-058, B-062, B-064, B-068, B-072."""
    database = {"sql": {"path": str(tmp_path / "poise.db")}}
    chaos = Chaos(plan)
    fresh = type(shop)()
    fresh.at_tool = chaos.at("in the tool")
    points = (*BEFORE_THE_REPLY, *POINTS_AFTER_WORDS)
    probe = HookProbe(answers={point: chaos.at(point) for point in points})

    async def play() -> Sequence[Event]:
        events: Sequence[Event] = ()
        app = open_application(None, probe, poise_sql.plugin, stores=storage, settings=database)
        async with app, anyio.create_task_group() as group:
            session = await app.open_session(await fresh.open(app))

            async def utter() -> None:
                group.start_soon(session.utter, "say when the shop is open")

            async def switch(mode: SessionMode) -> None:
                await app.runtime.set_mode(app.scope, session.id, mode)

            chaos.actions = {
                "message": send(app, session, "and where can I park?"),
                "manual": partial(switch, SessionMode.MANUAL),
                "auto": partial(switch, SessionMode.AUTO),
                "utter": utter,
            }
            for text in texts:
                await session.say(text)
            await at_rest(app, session)
            await switch(SessionMode.AUTO)
            events = await at_rest(app, session)
        return events

    events = anyio.run(play)

    assert_session_laws(events)
    mode = SessionMode.AUTO
    for event in events:
        if event.kind is EventKind.MODE:
            mode = SessionMode(event.data["mode"])
        elif event.kind is EventKind.MESSAGE and event.source is Source.AI_AGENT:
            assert mode is SessionMode.AUTO, f"a person was talked over at {event.offset}"
    keys = [each.data["key"] for each in events if each.data.get("stage") == "finished"]
    assert len(set(keys)) == len(keys), "one call was made twice"
    assert len(keys) == len(fresh.calls), "a call is not on record"


# -- a turn that takes too long --


async def test_turn_beyond_its_deadline_says_the_apology_once_and_the_next_one_works(
    open_application: Open, shop: Any
) -> None:
    """B-058."""
    gate = anyio.Event()
    scripted = ScriptedParts(decisions=ScriptedDecisionModel(discoverys_own, gate=gate))
    async with open_application(scripted, settings={"engine": {"turn_deadline": 0.05}}) as app:
        session = await app.open_session(await shop.open(app, apology="Sorry, that took long."))

        late = await session.say("open?")
        gate.set()
        events = await at_rest(app, session)

        assert late.text == "Sorry, that took long."
        assert next(iter(statuses(late.events).values())).endswith("error ready")
        assert late.ledger is not None
        assert late.ledger.outcome == "failed"
        assert_session_laws(events)


async def test_session_lives_on_after_a_deadline(open_application: Open, shop: Any) -> None:
    """B-058."""

    async def forever(_arguments: Mapping[str, Any]) -> None:
        if len(probe.at("on_preparing")) == 1:
            await anyio.sleep_forever()

    probe = HookProbe(answers={"on_preparing": forever})
    async with open_application(None, probe, settings={"engine": {"turn_deadline": 1.0}}) as app:
        session = await app.open_session(await shop.open(app, apology="Sorry."))

        first = await session.say("open?")
        second = await session.say("where can I park?")

        assert first.text == "Sorry."
        assert "behind the shop" in second.text
        assert_session_laws(await at_rest(app, session))


async def test_stale_owner_writes_nothing_and_another_owner_answers(
    open_application: Open, shop: Any
) -> None:
    """B-069: two applications on one storage, the lease of the first run out."""
    clock = FrozenClock()
    stores = MemoryStores(clock)
    gate = anyio.Event()
    stuck = ScriptedParts(decisions=ScriptedDecisionModel(discoverys_own, gate=gate))
    overrides = {Clock: clock}
    async with (
        open_application(stuck, stores=stores, overrides=overrides) as first,
        open_application(stores=stores, overrides=overrides) as second,
    ):
        agent = await shop.open(first)
        session = await first.open_session(agent)
        await first.runtime.receive(first.scope, session.id, "open?")
        await anyio.wait_all_tasks_blocked()
        there = await second.open_session(await shop.open(second), id=session.id)

        clock.advance(60)
        await there.say("where can I park?")
        gate.set()
        events = await at_rest(first, session)

        (answer,) = agent_messages(events)
        assert "nine to five" in answer
        assert "behind the shop" in answer
