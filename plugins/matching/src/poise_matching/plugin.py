"""What this distribution offers: the matchers, the default planner, and their settings."""

from __future__ import annotations

from poise import Matcher, Offers, Planner, Sections, hookimpl

MATCHERS = {
    "actionable": "conditions:ActionableMatcher",
    "always": "always:AlwaysMatcher",
    "answering": "answering:AnsweringMatcher",
    "code": "code:CodeMatcher",
    "customer_dependent": "customer_dependent:CustomerDependentMatcher",
    "decision_batch": "decision_batch:DecisionBatchMatcher",
    "disambiguation": "disambiguation:DisambiguationMatcher",
    "low_weight": "conditions:LowWeightMatcher",
    "observational": "conditions:ObservationalMatcher",
    "previously_applied": "previously_applied:PreviouslyAppliedMatcher",
}
"""Each by the name that the setting `matchers` uses."""


@hookimpl
def poise_config(sections: Sections) -> None:
    sections.add("matching", "poise_matching.settings:MatchingSettings")


@hookimpl
def poise_provide(offers: Offers) -> None:
    for name, place in MATCHERS.items():
        offers.add(Matcher, name, f"poise_matching.{place}")
    offers.add(Planner, "default", "poise_matching.planner:EffortPlanner", default=True)
