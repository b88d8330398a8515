"""Whole sessions in any order of events, held against a model of the working set and what was done.

Messages, results of tools, messages that cancel a turn at any point, and changes of the catalog
come as Hypothesis draws them. The model knows topics and words, and nothing of folds and fates.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import attrs
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import poise_compose.plugin
import poise_matching.plugin
import poise_relations.plugin
import poise_tools.plugin
from poise import (
    Application,
    Discoverer,
    EventKind,
    Matcher,
    Offers,
    TurnContext,
    Verdict,
    VerdictKind,
    hookimpl,
    tool,
)
from poise.testing.applications import ScriptedParts
from poise.testing.hook_probe import HookProbe
from poise.testing.interruptions import POINTS_BEFORE_WORDS, Once
from poise.testing.session_laws import assert_session_laws
from poise.turn.candidates import Budget, Candidate, Sighting
from poise.turn.ledger import ledger_from_json
from poise.turn.queries import Query, QueryKind
from poise.turn.state import SessionState, fold
from poise.values.catalog import CatalogSnapshot
from poise.values.events import Event
from poise.values.ids import IndexId, RuleId

T = TypeVar("T")

ROOM, LEFT = 4, 3
"""The working set is pruned above so many rules, down to so many."""

TOPICS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes")
FOUND = "grapes"
"""What the result of the tool of the first topic speaks of."""


class WordDiscoverer(Discoverer):
    """Sights a rule where a text holds its one signal; prunes whatever was hit longest ago."""

    async def prepare(self, snapshot: CatalogSnapshot, progress: Any) -> IndexId:
        return IndexId(f"words-{snapshot.version}")

    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        found: list[Sighting] = []
        for each in turn.snapshot.rules:
            sighting = await self.explain(each, turn.snapshot, queries)
            pruned = turn.state.pruned.get(each, -1)
            if sighting is not None and sighting.query is not None:
                fresh = sighting.query.offset >= pruned
                found.append(sighting if fresh else attrs.evolve(sighting, margin=-1.0))
        return [each for each in found if each.is_hit]

    def prune(self, turn: TurnContext, budget: Budget) -> Sequence[RuleId]:
        members = turn.state.working_set
        now = {each.rule for each in turn.sightings if each.is_hit}
        leaving = sorted(
            (each for each in members if each not in turn.resolution.active),
            key=lambda each: (each in now, members[each].last_hit, each),
        )
        return leaving[: max(0, len(members) - budget.rules)]

    async def explain(
        self, rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
    ) -> Sighting | None:
        (signal,) = snapshot.rules[rule].signals
        hits = _fresh(queries, signal)
        if not hits:
            return None
        newest = max(hits, key=lambda query: query.offset)
        return Sighting(rule, 1.0, 1.0, 0.0, 1.0, newest, signal)


class WordMatcher(Matcher):
    """A rule applies where what is new holds its signal."""

    name = "words"

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return True

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Sequence[Verdict]:
        return [
            Verdict(
                each.rule.id,
                VerdictKind.APPLIES
                if _fresh(turn.queries, each.rule.signals[0])
                else VerdictKind.DOES_NOT,
                self.name,
            )
            for each in candidates
        ]


def _fresh(queries: Sequence[Query], signal: str) -> list[Query]:
    """Return the queries that hold a signal, but for those that repeat what was said before."""
    return [each for each in queries if signal in each.text and each.kind is not QueryKind.JOINED]


class Words:
    """Offers the matcher."""

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(Matcher, "words", WordMatcher)


@attrs.define
class Model:
    """What the session should have come to."""

    hits: dict[str, int] = attrs.field(factory=dict)
    dropped: set[str] = attrs.field(factory=set)
    done: set[str] = attrs.field(factory=set)

    def turn(self, said: Mapping[str, int]) -> None:
        """Take in a turn that was sent: each topic that came up, with the offset of its text."""
        self.hits.update(said)
        self.dropped -= said.keys()
        self.done |= said.keys()
        if len(self.hits) > ROOM:
            silent = self.hits.keys() - said.keys()
            for topic in sorted(silent, key=lambda each: (self.hits[each], RULES[each])):
                if len(self.hits) > LEFT:
                    del self.hits[topic]
                    self.dropped.add(topic)


RULES: dict[str, str] = {}
"""The id of each topic's rule, filled in as they are declared."""


class SessionsMachine(RuleBasedStateMachine):
    """One session of one agent."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._probe = HookProbe()
        self._model = Model()
        self._read = 0
        RULES.clear()

    def wait(self, call: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        async def run() -> T:
            return await call(*args, **named)

        return self._portal.call(run)

    @initialize()
    def open(self) -> None:
        self._app = Application(
            plugins=[
                ScriptedParts(discoverer=WordDiscoverer()),
                Words(),
                self._probe,
                poise_compose.plugin,
                poise_matching.plugin,
                poise_relations.plugin,
                poise_tools.plugin,
            ],
            installed=False,
            stores="memory",
            settings={
                "matchers": ["words"],
                "engine": {"working_set": ROOM, "working_set_after": LEFT},
            },
        )
        self._stack.enter_context(self._portal.wrap_async_context_manager(self._app))
        self._agent = self.wait(
            self._app.create_agent, "Clerk", composition_mode="canned_strict", no_match="Hm?"
        )

        async def look_up() -> str:
            return f"there are {FOUND}"

        self._declare(TOPICS[0], tools=[tool(look_up)])
        self._declare(TOPICS[1])
        self._declare(FOUND)
        self._session = self.wait(self._app.open_session, self._agent)

    def _declare(self, topic: str, **options: Any) -> None:
        handle = self.wait(
            self._agent.create_policy,
            topic,
            f"Speak of {topic}",
            signals=[topic],
            labels=[topic],  # a consequence: judged at every effort
            canned_responses=[f"About {topic}."],
            **options,
        )
        RULES[topic] = handle.id

    # -- what happens --

    @rule(topics=st.lists(st.sampled_from(TOPICS), max_size=3))
    def say(self, topics: list[str]) -> None:
        self.wait(self._session.say, " ".join(["well", *topics]))
        self._take_in()

    @rule(
        first=st.lists(st.sampled_from(TOPICS), max_size=2),
        then=st.lists(st.sampled_from(TOPICS), max_size=1),
        point=st.sampled_from(POINTS_BEFORE_WORDS),
    )
    def say_more_while_it_works(self, first: list[str], then: list[str], point: str) -> None:
        once = Once()

        async def more() -> None:
            text = " ".join(["also", *then])
            await self._app.runtime.receive(self._app.scope, self._session.id, text)

        once.action = more
        self._probe.answers = {point: once}
        self.wait(self._session.say, " ".join(["well", *first]))
        self.wait(self._app.runtime.dispatcher.idle, self._session.id)
        self._probe.answers = {}
        self._take_in()

    @precondition(lambda self: len(RULES) < len(TOPICS))
    @rule()
    def change_the_catalog(self) -> None:
        self._declare(next(each for each in TOPICS if each not in RULES))

    # -- what must hold --

    def _take_in(self) -> None:
        """Tell the model of every turn that was sent since the last time."""
        events = self.wait(self._session.events)
        for event in events[self._read :]:
            if event.kind is EventKind.MATCH and event.data["outcome"] in ("sent", "silent"):
                self._model.turn(self._said(events, event))
        self._read = len(events)
        self._events: Sequence[Event] = events

    def _said(self, events: Sequence[Event], match: Event) -> Mapping[str, int]:
        ledger = ledger_from_json(match.data)
        said: dict[str, int] = {}
        for event in events[ledger.base : ledger.upto]:
            if event.is_customer_message:
                said.update({topic: event.offset for topic in RULES if topic in event.text})
        for event in events[ledger.base : ledger.upto]:
            if event.kind is EventKind.TOOL:  # also one of a cancelled turn: it is not made twice
                found = str(event.data.get("result", {}).get("data", ""))
                for topic in RULES:
                    if topic in found:  # where the customer said it too, those words stand first
                        said.setdefault(topic, event.offset)
        return said

    @invariant()
    def state_follows_from_what_was_said(self) -> None:
        if not self._read:
            return
        state = fold(self._events)
        names = {rule_id: topic for topic, rule_id in RULES.items()}
        held = {names[each]: place.last_hit for each, place in state.working_set.items()}
        assert held == self._model.hits
        assert {names[each] for each in state.applied} == self._model.done
        assert {names[each] for each in state.pruned} == self._model.dropped
        assert not state.partly

    @invariant()
    def the_log_is_sound(self) -> None:
        if self._read:
            assert_session_laws(self._events)
            assert fold(self._events[self._read // 2 :], fold(self._events[: self._read // 2])) == (
                fold(self._events, SessionState())
            )

    def teardown(self) -> None:
        self._stack.close()


TestSessions = SessionsMachine.TestCase
TestSessions.settings = settings(
    max_examples=25,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
