"""The matcher of actions that wait on the customer's part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer, Question
from poise.turn.verdicts import VerdictKind
from poise.values.rules import RuleKind
from poise_matching.asking import AskingMatcher
from poise_matching.questions import action_of
from poise_matching.traits import is_continuous, is_customer_dependent

if TYPE_CHECKING:
    from pydantic import BaseModel


class CustomerDependentMatcher(AskingMatcher):
    """Judges policies whose action is under way: in force until the customer did their part.

    The first time such a policy is judged like any other; this is about the turns after it.
    """

    name = "customer_dependent"
    section = (
        "The agent has begun each of these, and the customer has a part in it: something to do or "
        "to tell. Say for each whether that part is still open. It is not once the customer has "
        "done it, has declined, or has turned to something else."
    )

    def form(self, turn: TurnContext) -> type[BaseModel] | None:
        from poise_matching.forms import ExplainedOpen, Open

        return ExplainedOpen if turn.plan.explain else Open

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        return (
            rule.matcher is None
            and rule.kind is RuleKind.POLICY
            and rule.track
            and (rule.id in turn.state.applied or rule.id in turn.state.partly)
            and is_customer_dependent(rule, turn.snapshot)
            and not is_continuous(rule, turn.snapshot)
        )

    def question(self, candidate: Candidate, turn: TurnContext) -> Question:
        owed = self.owed(candidate, turn)
        missing = f" Still missing: {owed}." if owed else ""
        return attrs.evolve(
            super().question(candidate, turn),
            text=f"The agent has begun this: {action_of(candidate.rule)}.{missing} Is the "
            f"customer's part in it still open?",
            yes_if="What the customer has to do or tell is missing, and they are still about it; "
            "or a new occasion for it has come up.",
            no_if="The customer has done or told it, has declined, or has turned to something "
            "else.",
        )

    def read(self, candidate: Candidate, answer: Answer, turn: TurnContext) -> VerdictKind:
        if not answer.yes:
            return VerdictKind.ALREADY_APPLIED
        is_partly = self.owed(candidate, turn) is not None
        return VerdictKind.PARTLY_APPLIED if is_partly else VerdictKind.APPLIES

    def owed(self, candidate: Candidate, turn: TurnContext) -> str | None:
        owed = turn.state.partly.get(candidate.rule.id)
        return owed.what if owed is not None else None
