"""Matching: which candidates apply to this very turn, and how much the turn may spend on it."""

from poise_matching.code import CodeMatcher
from poise_matching.decision_batch import DecisionBatchMatcher
from poise_matching.planner import EffortPlanner
from poise_matching.settings import MatchingSettings

__all__ = ["CodeMatcher", "DecisionBatchMatcher", "EffortPlanner", "MatchingSettings"]
