"""What several people, sessions and applications do at the same time, and what must come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise import Application, EventKind, NewEvent, Session, SessionMode, Source, ToolResult, tool
from poise.memory.session_store import MemorySessionStore
from poise.memory.stores import MemoryStores
from poise.ports.stores import Fence, ScopedStores, Stores
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.clock import FrozenClock
from poise.testing.hook_probe import HookProbe
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import agent_messages, assert_session_laws, ledgers, statuses
from poise.turn.state import fold
from poise.values.clock import Clock, SystemClock
from poise.values.events import Event
from poise.values.ids import EventId, SessionId
from poise.values.scope import Scope

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]
Action = Callable[[], Awaitable[Any]]

BEFORE_THE_REPLY = (
    "on_acknowledging",
    "on_acknowledged",
    "on_preparing",
    "on_preparation_iteration_start",
    "on_model_request",
    "on_model_response",
    "on_tool_call",
    "in the tool",
    "on_tool_result",
    "on_preparation_iteration_end",
    "on_rule_selected",
    "on_generating_messages",
    "on_draft_generated",
    "on_message_generated",
)
AFTER_THE_REPLY = ("on_messages_emitted", "on_rule_message")


class Once:
    """Does something the first time that a turn comes to a point, then lets it be."""

    def __init__(self, action: Action | None = None) -> None:
        self.action = action
        self.done = 0

    async def __call__(self, _arguments: Mapping[str, Any] | None = None) -> None:
        if self.action is not None and not self.done:
            self.done += 1
            await self.action()
            await anyio.lowlevel.checkpoint()


def placed(point: str, once: Once, shop: Any) -> HookProbe:
    """Return a probe that does something at that point of a turn."""
    if point == "in the tool":
        shop.at_tool = once
        return HookProbe()
    return HookProbe(answers={point: once})


async def at_rest(app: Application, session: Session) -> Sequence[Event]:
    await app.runtime.dispatcher.idle(session.id)
    return await session.events()


def send(app: Application, session: Session, text: str) -> Action:
    async def sends() -> None:
        await app.runtime.receive(app.scope, session.id, text)

    return sends


# -- a new message at any point --


@pytest.mark.parametrize("point", BEFORE_THE_REPLY)
async def test_message_before_the_first_words_restarts_the_turn_and_both_are_answered(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-058, B-062."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))
        once.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "frozen" in answer
        assert "behind the shop" in answer
        assert shop.calls == ["freeze_card"]


@pytest.mark.parametrize("point", AFTER_THE_REPLY)
async def test_message_after_the_first_words_waits_for_the_next_turn(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-058."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))
        once.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        first, second = agent_messages(events)
        assert "frozen" in first
        assert "behind the shop" in second
        assert shop.calls == ["freeze_card"]


class InterruptedStores(Stores):
    """A storage in memory whose turns are interrupted around the nth of their appends.

    Attributes:
        action: What interrupts; called once.
    """

    def __init__(self, at: int, *, before: bool) -> None:
        self.sessions = InterruptedSessionStore(SystemClock(), at, before=before)
        self._plain = MemoryStores(SystemClock())

    def scope(self, scope: Scope) -> ScopedStores:
        plain = self._plain.scope(scope)
        return ScopedStores(self.sessions, plain.customers, plain.tags, plain.values)

    @property
    def artifacts(self) -> Any:
        return self._plain.artifacts


class InterruptedSessionStore(MemorySessionStore):
    def __init__(self, clock: Clock, at: int, *, before: bool) -> None:
        super().__init__(clock)
        self.action: Action | None = None
        self.is_interrupted = False
        self._left = at
        self._before = before

    async def append(
        self, session: SessionId, events: Any, *, fence: Fence | None = None, **more: Any
    ) -> Sequence[Event]:
        if fence is None or self.action is None:
            return await super().append(session, events, fence=fence, **more)
        self._left -= 1
        if self._left == 0 and self._before:
            await self._interrupt()
        stored = await super().append(session, events, fence=fence, **more)
        if self._left == 0 and not self._before:
            await self._interrupt()
        return stored

    async def _interrupt(self) -> None:
        action, self.action = self.action, None
        assert action is not None
        self.is_interrupted = True
        await action()
        await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 6))
async def test_message_around_any_append_of_a_turn_is_answered(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-058, B-062: nothing is lost, hung or done twice, wherever the next message falls."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))
        stores.sessions.action = send(app, session, "and where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert stores.sessions.is_interrupted
        assert_session_laws(events)
        said = " ".join(agent_messages(events))
        assert "frozen" in said
        assert "behind the shop" in said
        assert len(agent_messages(events)) <= 2
        assert shop.calls == ["freeze_card"]


async def test_message_while_the_model_thinks_is_answered_together_with_the_first(
    open_application: Open, shop: Any
) -> None:
    """B-058, B-059."""
    gate, asked = anyio.Event(), anyio.Event()

    async def tell(_arguments: Mapping[str, Any]) -> None:
        asked.set()

    scripted = ScriptedParts(decisions=ScriptedDecisionModel(discoverys_own, gate=gate))
    probe = HookProbe(answers={"on_model_request": tell})
    async with open_application(scripted, probe) as app:
        session = await app.open_session(await shop.open(app))
        await app.runtime.receive(app.scope, session.id, "open?")
        await asked.wait()

        await app.runtime.receive(app.scope, session.id, "and where can I park?")
        gate.set()
        events = await at_rest(app, session)

        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "nine to five" in answer
        assert "behind the shop" in answer
        assert [each.outcome for each in ledgers(events)] == ["cancelled", "sent"]
        cancelled = ledgers(events)[0]
        assert [line.error for line in cancelled.requests if line.model.endswith("script")] == [
            "cancelled"
        ]


async def test_burst_of_messages_gets_one_answer_that_uses_the_last(
    open_application: Open, shop: Any
) -> None:
    """B-059, B-062."""
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        for text in ("hello", "freeze my card", "and where can I park?"):
            await app.runtime.receive(app.scope, session.id, text)
        events = await at_rest(app, session)

        assert_session_laws(events)
        (answer,) = agent_messages(events)
        assert "behind the shop" in answer
        assert shop.calls == ["freeze_card"]


async def test_consequential_tool_of_a_stale_turn_is_found_in_the_log_under_the_same_key(
    open_application: Open, shop: Any
) -> None:
    """B-062."""
    once = Once()
    async with open_application(None, placed("in the tool", once, shop)) as app:
        session = await app.open_session(await shop.open(app))

        async def twice() -> None:
            await send(app, session, "hello?")()
            await send(app, session, "anybody?")()

        once.action = twice
        await session.say("freeze my card")
        events = await at_rest(app, session)

        calls = [line for ledger in ledgers(events) for line in ledger.calls]
        assert shop.calls == ["freeze_card"]
        assert len({line.key for line in calls}) == 1
        assert [line.outcome for line in calls] == ["finished", "reused"]


async def test_result_of_a_stale_turns_tool_still_brings_rules_up(
    open_application: Open, shop: Any
) -> None:
    """What a tool said before the restart leads on as if it had been called in this turn."""
    once = Once()
    async with open_application(None, placed("in the tool", once, shop)) as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Frozen",
            "Say what comes next",
            signals=["frozen"],
            canned_responses=["A new card is on its way."],
        )
        session = await app.open_session(agent)
        once.action = send(app, session, "please hurry")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert shop.calls == ["freeze_card"]
        lines = {line.name: line for line in ledgers(events)[-1].lines}
        assert lines["Frozen"].fate == "matched"


async def test_consequential_call_is_not_started_for_somebody_who_changed_their_mind(
    open_application: Open, shop: Any
) -> None:
    """B-062: what came before the call began is heard first, and nothing is left in doubt."""
    stores = InterruptedStores(2, before=True)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))
        stores.sessions.action = send(app, session, "wait, where can I park?")

        await session.say("freeze my card")
        events = await at_rest(app, session)

        stages = [event.data["stage"] for event in events if event.kind is EventKind.TOOL]
        assert stages == ["started", "finished"]
        first_turn = next(event.turn for event in events if event.turn is not None)
        assert all(event.turn != first_turn for event in events if event.kind is EventKind.TOOL)


# -- what follows the reply --


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 4))
async def test_what_follows_the_reply_is_recorded_whole_or_not_at_all(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-060."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)
        stores.sessions.action = send(app, session, "where can I park?")

        await session.say("open?")
        events = await at_rest(app, session)

        assert_session_laws(events)
        rules = app.runtime.catalogs.all()[agent.id].snapshot.rules
        applied = {rules[rule].name for rule in fold(events).applied}
        assert applied == {"Opening hours", "Parking"}
        assert fold(events).unsettled is None


async def test_listener_that_never_returns_does_not_hold_the_session(
    open_application: Open, shop: Any
) -> None:
    """B-060."""

    async def forever(_arguments: Mapping[str, Any]) -> None:
        await anyio.sleep_forever()

    probe = HookProbe(answers={"on_messages_emitted": forever, "on_rule_message": forever})
    async with open_application(None, probe, settings={"engine": {"settle_wait": 0.02}}) as app:
        session = await app.open_session(await shop.open(app))

        await session.say("open?")
        reply = await session.say("where can I park?")

        assert "behind the shop" in reply.text
        assert_session_laws(await at_rest(app, session))


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


# -- what is not input, and who takes over --


def old(text: str, source: Source, number: int) -> NewEvent:
    at = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    return NewEvent(
        EventId(f"event_old_{number}"),
        EventKind.MESSAGE,
        source,
        "import",
        None,
        at,
        {"text": text},
    )


@pytest.mark.parametrize(
    "answerer",
    [
        Source.HUMAN_AGENT,
        Source.HUMAN_AGENT_ON_BEHALF_OF_AI_AGENT,
        Source.AI_AGENT,
    ],
)
async def test_imported_history_starts_no_turn_and_is_history_to_the_next_message(
    open_application: Open, shop: Any, answerer: Source
) -> None:
    """B-063."""
    scripted = ScriptedParts()
    async with open_application(scripted) as app:
        session = await app.open_session(await shop.open(app))
        store = app.runtime.stores.scope(app.scope).sessions
        asked = len(scripted.embedder.embedded)
        for number in range(60):
            await store.append(
                session.id,
                [
                    old("freeze my card", Source.CUSTOMER, 2 * number),
                    old("It is done.", answerer, 2 * number + 1),
                ],
            )
        await anyio.wait_all_tasks_blocked()
        assert not [event for event in await session.events() if event.turn is not None]
        assert len(scripted.embedder.embedded) == asked

        reply = await session.say("Where can I park?")

        assert reply.ledger is not None
        assert reply.ledger.base == 120
        messages = [each["text"] for each in reply.ledger.queries if each["kind"] == "message"]
        assert messages == ["Where can I park?"]


@pytest.mark.parametrize("point", BEFORE_THE_REPLY)
async def test_person_who_takes_over_during_a_turn_is_not_talked_over(
    open_application: Open, shop: Any, point: str
) -> None:
    """B-064."""
    once = Once()
    async with open_application(None, placed(point, once, shop)) as app:
        session = await app.open_session(await shop.open(app))

        async def take_over() -> None:
            await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        once.action = take_over
        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert once.done == 1
        assert_session_laws(events)
        assert agent_messages(events) == []
        assert fold(events).mode is SessionMode.MANUAL


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("append", range(1, 6))
async def test_take_over_around_any_append_silences_the_agent_from_then_on(
    open_application: Open, shop: Any, append: int, before: bool
) -> None:
    """B-064."""
    stores = InterruptedStores(append, before=before)
    async with open_application(stores=stores) as app:
        session = await app.open_session(await shop.open(app))

        async def take_over() -> None:
            await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        stores.sessions.action = take_over
        await session.say("freeze my card")
        events = await at_rest(app, session)

        assert_session_laws(events)
        switched = next(event.offset for event in events if event.kind is EventKind.MODE)
        assert agent_messages(events[switched:]) == []


async def test_handing_back_answers_what_was_asked_meanwhile(
    open_application: Open, shop: Any
) -> None:
    """B-067."""
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)
        await session.say("open?")

        await app.runtime.set_mode(app.scope, session.id, SessionMode.AUTO)
        events = await at_rest(app, session)

        assert agent_messages(events) == ["We are open from nine to five."]


async def test_tool_that_hands_over_leaves_the_mode_and_the_words_once(
    open_application: Open,
) -> None:
    """B-065."""

    @tool
    async def fetch_a_person() -> ToolResult:
        return ToolResult(data="on the way", mode="manual")

    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        await agent.create_policy(
            "Hand over",
            "Fetch a person",
            signals=["human"],
            tools=[fetch_a_person],
            canned_responses=["A colleague takes over."],
        )
        session = await app.open_session(agent)

        reply = await session.say("a human please")
        events = await at_rest(app, session)

        modes = [event.data["mode"] for event in events if event.kind is EventKind.MODE]
        assert modes == ["manual"]
        assert reply.messages == ("A colleague takes over.",)
        assert (await session.say("hello?")).messages == ()
        assert_session_laws(await session.events())


async def test_speaking_unprompted_and_a_message_at_once_lose_nothing(
    open_application: Open, shop: Any
) -> None:
    """B-068."""
    async with open_application() as app:
        agent = await shop.open(app)
        for _ in range(20):
            session = await app.open_session(agent)

            async with anyio.create_task_group() as group:
                group.start_soon(session.utter, "say when the shop is open")
                group.start_soon(session.say, "where can I park?")

            events = await at_rest(app, session)
            assert_session_laws(events)
            assert any("behind the shop" in text for text in agent_messages(events))


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


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    plan=st.dictionaries(
        st.tuples(st.sampled_from(BEFORE_THE_REPLY + AFTER_THE_REPLY), st.integers(1, 3)),
        st.sampled_from(ACTIONS),
        max_size=5,
    ),
    texts=st.lists(
        st.sampled_from(["freeze my card", "my balance?", "open?"]), min_size=1, max_size=3
    ),
)
def test_whatever_happens_wherever_it_happens_the_log_keeps_its_laws(
    open_application: Open, shop: Any, plan: Mapping[tuple[str, int], str], texts: Sequence[str]
) -> None:
    """B-058, B-062, B-064, B-068, B-072."""
    chaos = Chaos(plan)
    fresh = type(shop)()
    fresh.at_tool = chaos.at("in the tool")
    points = (*BEFORE_THE_REPLY, *AFTER_THE_REPLY)
    probe = HookProbe(answers={point: chaos.at(point) for point in points})

    async def play() -> Sequence[Event]:
        events: Sequence[Event] = ()
        async with open_application(None, probe) as app, anyio.create_task_group() as group:
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
    async with open_application(None, probe, settings={"engine": {"turn_deadline": 0.3}}) as app:
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
