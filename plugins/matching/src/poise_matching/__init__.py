"""Matching: which candidates apply to this very turn, and how much the turn may spend on it."""

from poise_matching.always import AlwaysMatcher
from poise_matching.answering import AnsweringMatcher
from poise_matching.code import CodeMatcher
from poise_matching.conditions import ActionableMatcher, LowWeightMatcher, ObservationalMatcher
from poise_matching.customer_dependent import CustomerDependentMatcher
from poise_matching.decision_batch import DecisionBatchMatcher
from poise_matching.disambiguation import DisambiguationMatcher
from poise_matching.planner import EffortPlanner
from poise_matching.previously_applied import PreviouslyAppliedMatcher
from poise_matching.settings import MatchingSettings

__all__ = [
    "ActionableMatcher",
    "AlwaysMatcher",
    "AnsweringMatcher",
    "CodeMatcher",
    "CustomerDependentMatcher",
    "DecisionBatchMatcher",
    "DisambiguationMatcher",
    "EffortPlanner",
    "LowWeightMatcher",
    "MatchingSettings",
    "ObservationalMatcher",
    "PreviouslyAppliedMatcher",
]
