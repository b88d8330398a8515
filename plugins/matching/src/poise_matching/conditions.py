"""The strategies of plain conditions, where a model that writes judges: three forms of one task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.rules import RuleKind, Weight
from poise_matching.asking import AskingMatcher, has_decision_model, verdict_on

if TYPE_CHECKING:
    from pydantic import BaseModel

_READ = (
    "Each question is about the conversation above, at the point of the customer's new messages. "
    "Answer it from what was said and nothing else. A condition of several parts holds only when "
    "every part does; more than one question may be answered with yes."
)


class _ConditionMatcher(AskingMatcher):
    """Judges a condition; a yes does not stand beside a part of it that does not hold."""

    def form(self, turn: TurnContext) -> type[BaseModel] | None:
        from poise_matching.forms import Explained, Short

        return Explained if turn.plan.explain else Short

    def _verdict(self, candidate: Candidate, answer: Answer, turn: TurnContext) -> Verdict:
        # An empty line among the parts names none.
        missing = [part for part in answer.details.get("not_holding", ()) if part.strip()]
        if answer.yes and missing:
            told = f"does not hold: {'; '.join(missing)}"
            return verdict_on(candidate, VerdictKind.DOES_NOT, answer, self.name, rationale=told)
        return super()._verdict(candidate, answer, turn)


class ObservationalMatcher(_ConditionMatcher):
    """Judges observations: is the situation there?"""

    name = "observational"
    section = f"Say for each situation whether it is there now. {_READ}"

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        return (
            rule.matcher is None
            and rule.kind is RuleKind.OBSERVATION
            and not has_decision_model(turn)
        )


class ActionableMatcher(_ConditionMatcher):
    """Judges policies: does what is said now call for the action?"""

    name = "actionable"
    section = (
        f"Say for each policy whether the situation that it is for is there now. {_READ} Whether "
        "its action is wise, welcome or possible is not the question."
    )

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        return (
            rule.matcher is None and rule.kind is RuleKind.POLICY and not has_decision_model(turn)
        )


class LowWeightMatcher(AskingMatcher):
    """Judges rules of little weight: the word, and nothing beside it."""

    name = "low_weight"
    section = f"A word for each is enough. {_READ}"

    def form(self, turn: TurnContext) -> type[BaseModel] | None:
        from poise_matching.forms import Bare

        return Bare

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        return rule.matcher is None and rule.weight is Weight.LOW and not has_decision_model(turn)
