"""The ports' suites, over ours and over the scripted ones of the test kit."""

import attrs
import pytest

from poise import Extractor, Matcher, Planner
from poise.testing.matching import MatcherConformance, PlannerConformance
from poise.testing.models import ScriptedModels
from poise.testing.scripted_matching import ScriptedMatcher, ScriptedPlanner
from poise.testing.scripted_tools import ScriptedExtractor
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.context import Plan
from poise.turn.models import Capability
from poise.turn.state import Awaited, Owed, SessionState
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Weight
from poise_matching import (
    ActionableMatcher,
    AlwaysMatcher,
    CodeMatcher,
    CustomerDependentMatcher,
    DecisionBatchMatcher,
    DisambiguationMatcher,
    EffortPlanner,
    LowWeightMatcher,
    MatchingSettings,
    ObservationalMatcher,
    PreviouslyAppliedMatcher,
)
from poise_matching.answering import AnsweringMatcher

SETTINGS = MatchingSettings()
EXTRACTOR: Extractor = ScriptedExtractor()


class Writes(ScriptedModels):
    """Models of which none decides natively."""

    def way(self, route, capability):
        return Capability.STRUCTURED


MATCHERS = {
    "always": AlwaysMatcher(),
    "code": CodeMatcher(SETTINGS),
    "disambiguation": DisambiguationMatcher(SETTINGS),
    "answering": AnsweringMatcher(EXTRACTOR, SETTINGS),
    "previously applied": PreviouslyAppliedMatcher(SETTINGS),
    "customer dependent": CustomerDependentMatcher(SETTINGS),
    "low weight": LowWeightMatcher(SETTINGS),
    "observational": ObservationalMatcher(SETTINGS),
    "actionable": ActionableMatcher(SETTINGS),
    "decision batch": DecisionBatchMatcher(SETTINGS),
}


class TestStrategies(MatcherConformance):
    """Each over a turn that has something for it."""

    @pytest.fixture(params=MATCHERS)
    def subject(self, request: pytest.FixtureRequest) -> Matcher:
        return MATCHERS[request.param]

    @pytest.fixture(params=[False, True], ids=["short", "explained"])
    def turn(self, request):
        always = policy("always", matcher="always")
        doubt = observation("it is unclear which card is meant")
        block, replace = policy("block"), policy("replace", signals=["send a new one"])
        done, owed = policy("done before"), policy("done in part")
        waiting = policy("ask for the number", customer_dependent=True)
        answered = policy("asked for an argument")
        light = policy("light", weight=Weight.LOW)
        seen = observation("seen")
        code = observation("yes by code", matcher="yes")
        failing = observation("failing code", matcher="fails")
        earlier = (done, owed, waiting, answered)
        rules = (always, doubt, block, replace, *earlier, light, seen, code, failing)
        relations = [
            Relation(RelationKind.DISAMBIGUATION, doubt.id, each.id) for each in (block, replace)
        ]

        async def yes(turn):
            return True

        async def fails(turn):
            raise ZeroDivisionError

        state = SessionState(
            applied={done.id: 1, waiting.id: 1},
            partly={owed.id: Owed(1, "offer the voucher")},
            awaiting={answered.id: Awaited("pay", ("amount",))},
        )
        turn = turn_of(
            catalog_of(rules, relations, bindings={"yes": yes, "fails": fails}),
            "that one",
            state=state,
            models=Writes(),
            plan=Plan(explain=request.param),
        )
        candidates = tuple(Candidate(rule, judged=True) for rule in rules)
        return attrs.evolve(turn, candidates=candidates)


class TestScriptedMatcher(MatcherConformance):
    @pytest.fixture
    def subject(self) -> Matcher:
        return ScriptedMatcher()


class TestAskingScriptedMatcher(MatcherConformance):
    @pytest.fixture
    def subject(self) -> Matcher:
        return ScriptedMatcher(asks=True)


class TestEffortPlanner(PlannerConformance):
    @pytest.fixture
    def subject(self) -> Planner:
        return EffortPlanner(MatchingSettings())


class TestScriptedPlanner(PlannerConformance):
    @pytest.fixture
    def subject(self) -> Planner:
        return ScriptedPlanner()
