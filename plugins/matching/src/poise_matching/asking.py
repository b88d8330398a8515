"""What matchers have in common that ask one question per rule and read yes, no or unclear."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from poise import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer, Capability, Question
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise_matching.questions import question_about
from poise_matching.settings import MatchingSettings

if TYPE_CHECKING:
    from pydantic import BaseModel

logger = logging.getLogger(__name__)

VERDICT_ROUTE = "matching.verdict"
"""The route over which verdicts are asked for."""


class AskingMatcher(Matcher):
    """Asks one question per candidate in a form of its own; every candidate gets a verdict."""

    def __init__(self, settings: MatchingSettings) -> None:
        self._settings = settings

    @property
    @abstractmethod
    def section(self) -> str:
        """How the questions are to be read."""

    def form(self, turn: TurnContext) -> type[BaseModel] | None:
        """Return what a model that writes fills in; `None` for the engine's short form."""
        return None

    def question(self, candidate: Candidate, turn: TurnContext) -> Question:
        """Return the question about one candidate; its id is the rule's."""
        return question_about(
            candidate,
            turn.snapshot,
            examples=self._settings.examples,
            counterexamples=self._settings.counterexamples,
        )

    def read(self, candidate: Candidate, answer: Answer, turn: TurnContext) -> VerdictKind:
        """Return what an answer of yes or no means."""
        return VerdictKind.APPLIES if answer.yes else VerdictKind.DOES_NOT

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        questions = tuple(self.question(each, turn) for each in candidates)
        return Inquiry(self.section, questions, self.form(turn))

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        warn_of_strangers(answers, (*candidates, *turn.candidates))
        return [self._verdict(each, answers.get(each.rule.id), turn) for each in candidates]

    def _verdict(self, candidate: Candidate, answer: Answer, turn: TurnContext) -> Verdict:
        return verdict_on(
            candidate,
            VerdictKind.UNDECIDED if answer.yes is None else self.read(candidate, answer, turn),
            answer,
            self.name,
            self.owed(candidate, turn),
        )

    def owed(self, candidate: Candidate, turn: TurnContext) -> str | None:
        """Return what is still to be done of a rule that was carried out in part."""
        return None


def verdict_on(
    candidate: Candidate,
    kind: VerdictKind,
    answer: Answer,
    matcher: str,
    owed: str | None = None,
    rationale: str = "",
) -> Verdict:
    """Return a verdict that rests on an answer."""
    return Verdict(
        candidate.rule.id,
        kind,
        judged_by=f"{matcher}/{answer.judged_by}",
        probability=answer.probability,
        rationale=rationale or answer.rationale,
        owed=owed if kind is VerdictKind.PARTLY_APPLIED else None,
    )


def has_decision_model(turn: TurnContext) -> bool:
    """Say whether verdicts come from a model that decides, and reads no forms."""
    return turn.models.way(VERDICT_ROUTE, Capability.DECIDE) is Capability.DECIDE


def warn_of_strangers(answers: Answers, candidates: Iterable[Candidate]) -> None:
    """Warn of answers to what nobody asked: a model that invents ids may confuse others."""
    asked = {candidate.rule.id for candidate in candidates}
    strangers = {each for each in answers.by_id if each.partition("/")[0] not in asked}
    for stranger in sorted(strangers):
        logger.warning(
            "a model answered a question that was not asked", extra={"question": stranger}
        )
