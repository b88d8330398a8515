"""What this distribution offers: three matchers, the default planner, and their settings."""

from __future__ import annotations

from poise import Matcher, Offers, Planner, Sections, hookimpl


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("matching", "poise_matching.settings:MatchingSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Matcher, "answering", "poise_matching.answering:AnsweringMatcher")
    offers.add(Matcher, "code", "poise_matching.code:CodeMatcher")
    offers.add(Matcher, "decision_batch", "poise_matching.decision_batch:DecisionBatchMatcher")
    offers.add(Planner, "default", "poise_matching.planner:EffortPlanner", default=True)
