"""The matcher of what was done before: quiet until something new calls for it, or for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer, Question
from poise.turn.verdicts import VerdictKind
from poise_matching.asking import AskingMatcher
from poise_matching.questions import action_of
from poise_matching.traits import is_customer_dependent, is_done_once

if TYPE_CHECKING:
    from pydantic import BaseModel


class PreviouslyAppliedMatcher(AskingMatcher):
    """Judges one-time policies whose action was carried out in this session, wholly or in part.

    A model without language can tell only that the new messages bring the rule up by themselves,
    and takes that for the new occasion.
    """

    name = "previously_applied"
    section = (
        "These actions were carried out earlier in this conversation. Say for each whether "
        "something has come up since for which it has to be done again, or whether what is "
        "missing of it is still called for. Merely going on about the same matter is no new "
        "occasion; another matter of the kind is one, and so is asking again for what the action "
        "gives."
    )

    def form(self, turn: TurnContext) -> type[BaseModel] | None:
        from poise_matching.forms import Again, ExplainedAgain

        return ExplainedAgain if turn.plan.explain else Again

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        return (
            rule.matcher is None
            and (rule.id in turn.state.applied or rule.id in turn.state.partly)
            and is_done_once(rule, turn.snapshot)
            and not is_customer_dependent(rule, turn.snapshot)
        )

    def question(self, candidate: Candidate, turn: TurnContext) -> Question:
        asked = super().question(candidate, turn)
        owed = self.owed(candidate, turn)
        if owed is not None:
            return attrs.evolve(
                asked,
                text=f"Of what was to be done, this is missing: {owed}. Is it still called for?",
                yes_if="The matter is still open, and what is missing would serve the customer.",
                no_if="The matter is closed, or the customer has turned to something else.",
            )
        return attrs.evolve(
            asked,
            text=f"This was done before: {action_of(candidate.rule)}. Has something come up "
            f"since that calls for it again?",
            yes_if="The customer's new messages bring a new occasion that it was not done for.",
            no_if="Nothing new calls for it: the talk goes on about what it was done for, or is "
            "about something else.",
        )

    def read(self, candidate: Candidate, answer: Answer, turn: TurnContext) -> VerdictKind:
        is_partly = self.owed(candidate, turn) is not None
        if answer.yes:
            return VerdictKind.PARTLY_APPLIED if is_partly else VerdictKind.APPLIES
        if is_partly or answer.details.get("condition_holds") is False:
            return VerdictKind.DOES_NOT
        return VerdictKind.ALREADY_APPLIED

    def owed(self, candidate: Candidate, turn: TurnContext) -> str | None:
        owed = turn.state.partly.get(candidate.rule.id)
        return owed.what if owed is not None else None
