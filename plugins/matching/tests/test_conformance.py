"""The ports' suites, over ours and over the scripted ones of the test kit."""

import pytest

from poise import Matcher, Planner
from poise.testing.matching import MatcherConformance, PlannerConformance
from poise.testing.scripted_matching import ScriptedMatcher, ScriptedPlanner
from poise_matching import CodeMatcher, DecisionBatchMatcher, EffortPlanner, MatchingSettings


class TestCodeMatcher(MatcherConformance):
    @pytest.fixture
    def subject(self) -> Matcher:
        return CodeMatcher(MatchingSettings())


class TestDecisionBatchMatcher(MatcherConformance):
    @pytest.fixture
    def subject(self) -> Matcher:
        return DecisionBatchMatcher(MatchingSettings())


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
