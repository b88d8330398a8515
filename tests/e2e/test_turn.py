"""A turn as it stands in the log: its statuses, its account, and what the account reconciles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise import Application, Bail, Bus, EventKind, Fate, Session, SessionMode, TurnContext
from poise.memory.bus import MemoryBus
from poise.testing.applications import ScriptedParts
from poise.testing.hook_probe import HookProbe
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import (
    agent_messages,
    assert_session_laws,
    ledgers,
    statuses,
)

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


class Moody:
    """A probe whose answers follow from what the customer says."""

    def __init__(self) -> None:
        self.probe = HookProbe("moody", {
            "on_acknowledging": self._at("early", Bail("closed")),
            "on_preparing": self._at("bail", Bail("not today")),
            "on_preparation_iteration_start": self._at("midway", Bail("enough")),
            "on_generating_messages": self._before_the_reply,
            "on_draft_generated": self._fail,
            "on_message_generated": self._hush,
        })  # fmt: skip
        self.say: Callable[[str], Any] | None = None
        self._interrupted: set[int] = set()

    def _at(self, word: str, answer: Bail) -> Any:
        async def answers(arguments: Mapping[str, Any]) -> Bail | None:
            return answer if word in _said(arguments) else None

        return answers

    async def _before_the_reply(self, arguments: Mapping[str, Any]) -> None:
        turn: TurnContext = arguments["turn"]
        if "interrupt" in _said(arguments) and turn.base not in self._interrupted:
            self._interrupted.add(turn.base)
            assert self.say is not None
            await self.say("and where can I park?")

    async def _fail(self, arguments: Mapping[str, Any]) -> None:
        if "fail" in _said(arguments):
            raise ZeroDivisionError("as told")

    async def _hush(self, arguments: Mapping[str, Any]) -> Bail | None:
        return Bail("hush") if "hush" in _said(arguments) else None


def _said(arguments: Mapping[str, Any]) -> str:
    return " ".join(arguments["turn"].new_messages)


@asynccontextmanager
async def conversation(
    open_application: Open, shop: Any, scripted: ScriptedParts | None = None
) -> AsyncIterator[tuple[Application, Session]]:
    moody = Moody()
    async with open_application(scripted, moody.probe) as app:
        session = await app.open_session(await shop.open(app))

        async def say(text: str) -> None:
            await app.runtime.receive(app.scope, session.id, text)

        moody.say = say
        yield app, session


ENDS = {
    "normal": ("When do you open?", "acknowledged processing typing ready"),
    "no match": ("xyzzy", "acknowledged processing typing ready"),
    "tool": ("freeze my card", "acknowledged processing typing ready"),
    "silenced": ("open, but hush", "acknowledged processing typing ready"),
    "error": ("open, then fail", "acknowledged processing typing error ready"),
    "bailed": ("open, but bail", "acknowledged processing ready"),
    "bailed midway": ("open, stop midway", "acknowledged processing ready"),
}


@pytest.mark.parametrize(("text", "expected"), ENDS.values(), ids=ENDS)
async def test_statuses_of_a_turn_follow_the_grammar(
    open_application: Open, shop: Any, text: str, expected: str
) -> None:
    """B-072."""
    async with conversation(open_application, shop) as (_, session):
        reply = await session.say(text)

        assert list(statuses(reply.events).values()) == [expected]
        assert_session_laws(await session.events())


async def test_statuses_are_shown_live_as_they_come(open_application: Open, shop: Any) -> None:
    bus = MemoryBus()
    async with open_application(overrides={Bus: bus}) as app:
        session = await app.open_session(await shop.open(app))
        signals = bus.watch(session.id)

        reply = await session.say("open?")

        shown = [await anext(signals) for _ in range(2)]
        assert [each.data["status"] for each in shown] == ["processing", "typing"]
        assert {each.turn for each in shown} == {reply.turn}


async def test_interrupted_turn_is_cancelled_and_the_next_one_answers_everything(
    open_application: Open, shop: Any
) -> None:
    """B-072."""
    async with conversation(open_application, shop) as (_, session):
        reply = await session.say("open? interrupt")

        first, second = statuses(reply.events).values()
        assert first.endswith("cancelled ready")
        assert second == "acknowledged processing typing ready"
        assert "nine to five" in reply.text
        assert "behind the shop" in reply.text
        assert_session_laws(await session.events())


async def test_turn_that_a_hook_ends_before_it_begins_shows_nothing(
    open_application: Open, shop: Any
) -> None:
    async with conversation(open_application, shop) as (_, session):
        reply = await session.say("open, too early")

        assert not statuses(reply.events)
        assert [ledger.outcome for ledger in ledgers(reply.events)] == ["silent"]
        assert_session_laws(await session.events())


async def test_utterance_that_nothing_serves_is_silent_and_says_why(
    open_application: Open, shop: Any
) -> None:
    """B-008."""
    async with conversation(open_application, shop) as (_, session):
        reply = await session.utter("xyzzy plugh")

        assert reply.messages == ()
        assert reply.ledger is not None
        assert reply.ledger.outcome == "silent"
        assert reply.ledger.composition is not None
        assert reply.ledger.composition.note.startswith("silent: ")
        assert list(statuses(reply.events).values()) == ["acknowledged processing typing ready"]


async def test_manual_mode_starts_no_turn(open_application: Open, shop: Any) -> None:
    async with conversation(open_application, shop) as (app, session):
        await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        reply = await session.say("open?")

        assert {event.kind for event in reply.events} <= {EventKind.MODE}


TEXTS = [text for text, _ in ENDS.values()] + [
    "open? interrupt",
    "balance? interrupt",
    "freeze it, interrupt",
    "open, too early",
    "my balance and where can I park",
    "balance, then fail",
]


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6))
def test_every_mix_of_turns_keeps_the_laws_of_a_log(
    open_application: Open, texts: Sequence[str]
) -> None:
    """B-072, B-126: statuses, one turn at a time, accounts, and requests that reconcile."""
    from_fixture = open_application

    async def play() -> None:
        scripted = ScriptedParts()
        async with conversation(from_fixture, _shop(), scripted) as (app, session):
            await app.start()
            indexing = len(scripted.embedder.embedded), len(scripted.decisions.requests)
            for text in texts:
                await session.say(text)
            events = await session.events()

        assert_session_laws(events)
        found = [line for ledger in ledgers(events) for line in ledger.requests]
        embedded = [line.items for line in found if line.model == "scripted:words"]
        decided = [line.items for line in found if line.model == "scripted:script"]
        assert embedded == [len(batch) for batch in scripted.embedder.embedded[indexing[0] :]]
        assert decided == [
            len(request.questions) for request in scripted.decisions.requests[indexing[1] :]
        ]

    anyio.run(play)


_SHOPS: list[Callable[[], Any]] = []


@pytest.fixture(autouse=True)
def remember_shops(shop: Any) -> None:
    _SHOPS[:] = [type(shop)]


def _shop() -> Any:
    return _SHOPS[0]()


# -- the account --


async def test_account_has_one_line_for_every_candidate_with_its_fate(
    open_application: Open, shop: Any
) -> None:
    """B-125."""
    async with open_application() as app:
        agent = await shop.open(app)
        hours = await agent.create_policy("Sunday hours", "Say it", signals=["sunday"])
        always = await agent.create_policy("Tone", "Be kind", matcher="always")
        await agent.create_policy("Never", "Say it", signals=["sunday"], enabled=False)
        session = await app.open_session(agent)

        ledger = (await session.say("Are you open on sunday?")).ledger

        assert ledger is not None
        fates = {line.name: line.fate for line in ledger.lines}
        assert fates == {
            "Opening hours": Fate.MATCHED.value,
            hours.rule.name: Fate.MATCHED.value,
            always.rule.name: Fate.MATCHED.value,
        }
        sighted = {line.name: line for line in ledger.lines}["Opening hours"]
        assert (sighted.signal, sighted.query) == ("open", "Are you open on sunday?")
        assert sighted.judged_by == "decision_batch/scripted:script"


async def test_every_no_says_who_said_it(open_application: Open, shop: Any) -> None:
    """B-125."""
    doubting = ScriptedParts(decisions=ScriptedDecisionModel(lambda _question, _request: 0.1))
    async with open_application(doubting) as app:
        agent = await shop.open(app)

        async def no(turn: TurnContext) -> bool:
            return False

        await agent.create_observation("it rains", title="Rain", matcher=no)
        session = await app.open_session(agent)

        ledger = (await session.say("open?")).ledger

        assert ledger is not None
        negative = [line for line in ledger.lines if line.fate == Fate.NOT_APPLICABLE.value]
        assert {line.name for line in negative} == {"Rain", "Opening hours"}
        assert all(line.judged_by for line in negative)


async def test_over_budget_rules_have_a_line_with_their_score(
    open_application: Open,
) -> None:
    async with open_application(settings={"matching": {"admit_limit": 2}}) as app:
        agent = await app.create_agent("Clerk")
        for number in range(5):
            await agent.create_policy(f"Rule {number}", "Say it", signals=["open"])
        session = await app.open_session(agent)

        ledger = (await session.say("open?")).ledger

        assert ledger is not None
        over = [line for line in ledger.lines if line.fate == Fate.OVER_BUDGET.value]
        assert len(over) == 3
        assert all(line.score == 1.0 for line in over)
        assert len(ledger.lines) == 5


async def test_account_pins_what_decided(open_application: Open, shop: Any) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)

        ledger = (await session.say("open?")).ledger

        published = app.runtime.catalogs.published(agent.id)
        assert ledger is not None
        assert published is not None
        assert (ledger.catalog, ledger.index) == (published.snapshot.version, published.index)
        assert ledger.embedder == "scripted-words-256"
        assert ledger.composition is not None
        assert (ledger.composition.mode, ledger.composition.mode_set_by) == (
            "canned_strict",
            "agent",
        )


async def test_account_is_complete_and_final_at_ready(open_application: Open, shop: Any) -> None:
    """B-127."""
    async with conversation(open_application, shop) as (app, session):
        store = app.runtime.stores.scope(app.scope).sessions
        at_ready: list[Any] = []

        async def watch() -> None:
            async for event in store.follow(session.id, 0):
                if event.data.get("status") == "ready":
                    log = (await store.read(session.id)).events
                    at_ready.append(next(ledger for ledger in ledgers(log[::-1])))

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            for number in range(20):
                await session.say(TEXTS[number % len(ENDS)])
            group.cancel_scope.cancel()

        final = ledgers(await session.events())
        assert at_ready == final[: len(at_ready)]
        assert len(at_ready) >= 19
        answered = [each for each in final if each.outcome == "sent"]
        phases = {"acknowledge", "load", "plan", "discover", "match", "resolve", "tools", "compose"}
        assert all(phases <= each.milliseconds.keys() for each in answered)


async def test_tool_calls_of_the_account_are_those_that_ran(
    open_application: Open, shop: Any
) -> None:
    """B-126."""
    async with conversation(open_application, shop) as (_, session):
        for text in ("freeze my card", "my balance?", "open?", "freeze it again"):
            await session.say(text)

        log = await session.events()
        lines = [line.tool for ledger in ledgers(log) for line in ledger.calls]
        assert lines == shop.calls
        assert shop.calls.count("freeze_card") == 2
        assert agent_messages(log)[0] == "Your card is frozen."
