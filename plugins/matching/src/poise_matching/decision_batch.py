"""The matcher that asks one yes/no question per rule, and reads a batch of probabilities."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from poise import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import RuleId
from poise_matching.questions import question_about
from poise_matching.settings import MatchingSettings

logger = logging.getLogger(__name__)

_SECTION = (
    "Each question is about the conversation above, at the point of the customer's new messages. "
    "Answer each by itself, from what was said and nothing else. A condition of several parts "
    "holds only when every part does. Where the conversation leaves it open, say so."
)


class DecisionBatchMatcher(Matcher):
    """Judges whatever code does not, by one question per rule."""

    name = "decision_batch"

    def __init__(self, settings: MatchingSettings) -> None:
        self._settings = settings

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.matcher is None

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        questions = tuple(
            question_about(
                candidate,
                turn.snapshot,
                examples=self._settings.examples,
                counterexamples=self._settings.counterexamples,
            )
            for candidate in candidates
        )
        return Inquiry(_SECTION, questions)

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        self._warn_of_strangers(answers, [*candidates, *turn.candidates])
        return [
            self._verdict(candidate.rule.id, answers.get(candidate.rule.id))
            for candidate in candidates
        ]

    def _verdict(self, rule: RuleId, answer: Answer) -> Verdict:
        if answer.yes is None:
            kind = VerdictKind.UNDECIDED
        else:
            kind = VerdictKind.APPLIES if answer.yes else VerdictKind.DOES_NOT
        return Verdict(
            rule,
            kind,
            judged_by=f"{self.name}/{answer.judged_by}",
            probability=answer.probability,
            rationale=answer.rationale,
        )

    def _warn_of_strangers(self, answers: Answers, candidates: Sequence[Candidate]) -> None:
        """Warn of answers to what nobody asked: a model that invents ids may confuse others."""
        asked = {candidate.rule.id for candidate in candidates}
        for stranger in sorted(answers.by_id.keys() - asked):
            logger.warning(
                "a model answered a question that was not asked", extra={"question": stranger}
            )


def _schema(*, explain: bool) -> Mapping[str, Any]:
    """Return the shape of one answer: evidence first, then the condition again, then the word."""
    condition = {"type": "string", "description": "The question, in your own words."}
    verdict = {"enum": ["yes", "no", "unclear"]}
    properties: dict[str, Any] = {"condition": condition, "verdict": verdict}
    if explain:
        evidence = {
            "type": "string",
            "description": "What was said that bears on the question, for and against.",
        }
        properties = {"evidence": evidence, **properties}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
