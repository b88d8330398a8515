"""The matcher of doubt: which of several readings is meant, what to ask, and what was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer, Question
from poise.turn.state import Clarification
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import JourneyId, RuleId, Subject
from poise.values.rules import RuleKind
from poise_matching.asking import verdict_on, warn_of_strangers
from poise_matching.readings import (
    Reading,
    choice_of,
    doubt_about,
    fitting,
    options_of,
    question_to_customer,
    readings_of,
)
from poise_matching.settings import MatchingSettings

_SECTION = (
    "The customer's words may have several readings. Say for each question whether it is so, from "
    "the whole conversation: what was said before, and what the customer answered when asked, "
    "counts. Where it is unclear what is meant, word what to ask in the customer's language, and "
    "name each reading as the customer would."
)


class DisambiguationMatcher(Matcher):
    """Judges the observations that it is unclear what is meant, and the answers when it was asked.

    An observation comes out AMBIGUOUS, with who is in question and what to ask, or DOES_NOT; it
    never applies by itself. After the agent has asked, it judges what was in question too: what
    the customer chose applies.
    """

    name = "disambiguation"

    def __init__(self, settings: MatchingSettings) -> None:
        self._settings = settings

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        rule = candidate.rule
        if rule.matcher is not None:
            return False
        return _is_head(candidate, turn) or rule.id in _options(turn)

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        questions: list[Question] = []
        options = _options(turn)
        chosen_from = _chosen_from(candidates, turn)
        for candidate in candidates:
            if not _is_head(candidate, turn):
                asked, option = options[candidate.rule.id]
                questions.append(choice_of(candidate, asked.question, option, turn, self._settings))
                continue
            readings = readings_of(candidate.rule.id, turn)
            if len(readings) < 2:
                continue
            questions.append(doubt_about(candidate, readings, turn, self._settings))
            questions.extend(
                fitting(each, candidate.rule.id, turn, self._settings)
                for each in readings
                if each.candidate.rule.id not in chosen_from
            )
        if not questions:
            return self.conclude(candidates, Answers({}), turn)
        from poise_matching.forms import Doubt

        return Inquiry(_SECTION, tuple(questions), Doubt)

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        warn_of_strangers(answers, (*candidates, *turn.candidates))
        chosen_from = _chosen_from(candidates, turn)
        return [
            self._on_head(each, answers, chosen_from, turn)
            if _is_head(each, turn)
            else self._on_option(each, answers.get(each.rule.id))
            for each in candidates
        ]

    def _on_option(self, candidate: Candidate, answer: Answer) -> Verdict:
        if answer.yes is None:
            return verdict_on(candidate, VerdictKind.UNDECIDED, answer, self.name)
        kind = VerdictKind.APPLIES if answer.yes else VerdictKind.DOES_NOT
        told = (
            "the customer chose it when asked" if answer.yes else "the customer did not choose it"
        )
        return verdict_on(candidate, kind, answer, self.name, rationale=answer.rationale or told)

    def _on_head(
        self,
        candidate: Candidate,
        answers: Answers,
        chosen_from: frozenset[RuleId],
        turn: TurnContext,
    ) -> Verdict:
        head = candidate.rule.id
        readings = readings_of(head, turn)
        doubt = answers.get(head)
        if len(readings) < 2:
            told = "fewer than two of what it tells apart came up"
            return Verdict(head, VerdictKind.DOES_NOT, self.name, rationale=told)
        of_reading = {
            each.subject: answers.get(
                each.candidate.rule.id
                if each.candidate.rule.id in chosen_from
                else each.asked_for(head)
            )
            for each in readings
        }
        likely = [each for each in readings if of_reading[each.subject].yes]
        if head in turn.state.clarifications and len(likely) == 1:
            told = f"the customer chose {turn.snapshot.name_of(likely[0].subject)!r}"
            return verdict_on(candidate, VerdictKind.DOES_NOT, doubt, self.name, rationale=told)
        # A model without language can't see the doubt; two readings that both fit are one.
        if doubt.yes is False or (doubt.yes is None and len(likely) < 2):
            # One reading that fits is clear; where none does and several may, nobody knows.
            may_be = [each for each in of_reading.values() if each.yes is not False]
            is_open = doubt.yes is None and not likely and len(may_be) > 1
            kind = VerdictKind.UNDECIDED if is_open else VerdictKind.DOES_NOT
            return verdict_on(candidate, kind, doubt, self.name)
        return self._ambiguous(candidate, doubt, readings, of_reading, turn)

    def _ambiguous(
        self,
        candidate: Candidate,
        doubt: Answer,
        readings: Sequence[Reading],
        answers: Mapping[Subject, Answer],
        turn: TurnContext,
    ) -> Verdict:
        head = candidate.rule.id
        among = _among(head, readings, answers, turn)
        worded = {each: _told(said, "as_customer_would_say") for each, said in answers.items()}
        options = options_of(head, among, worded, turn)
        return Verdict(
            head,
            VerdictKind.AMBIGUOUS,
            judged_by=f"{self.name}/{doubt.judged_by}",
            probability=doubt.probability,
            rationale=doubt.rationale,
            among=tuple(each.subject for each in among),
            question=_told(doubt, "clarification") or question_to_customer(options),
            options=options,
        )


def _is_head(candidate: Candidate, turn: TurnContext) -> bool:
    rule = candidate.rule
    return rule.kind is RuleKind.OBSERVATION and len(turn.snapshot.in_doubt(rule.id)) > 1


def _options(turn: TurnContext) -> Mapping[RuleId, tuple[Clarification, str]]:
    """Return what the last reply asked the customer to choose between, by the rules behind it."""
    found: dict[RuleId, tuple[Clarification, str]] = {}
    for asked in turn.state.clarifications.values():
        for subject, as_said in asked.options:
            journey = turn.snapshot.journeys.get(JourneyId(subject))
            rules = journey.triggers if journey is not None else (RuleId(subject),)
            found.update((rule, (asked, as_said)) for rule in rules)
    return found


def _chosen_from(candidates: Sequence[Candidate], turn: TurnContext) -> frozenset[RuleId]:
    """Return the rules asked about by the customer's choice: their answers serve the head too.

    Not a reading that code judges, nor one that is itself a doubt: the question under its own id
    is another one, or none.
    """
    return frozenset(each.rule.id for each in candidates if not _is_head(each, turn))


def _among(
    head: RuleId,
    readings: Sequence[Reading],
    answers: Mapping[Subject, Answer],
    turn: TurnContext,
) -> Sequence[Reading]:
    """Return the readings in question: what may be meant, else what was asked about, else all."""
    possible = [each for each in readings if answers[each.subject].yes is not False]
    if len(possible) > 1:
        return possible
    pending = turn.state.clarifications.get(head)
    offered = {subject for subject, _ in pending.options} if pending is not None else set()
    again = [each for each in readings if each.subject in offered]
    return again if len(again) > 1 else readings


def _told(answer: Answer, field: str) -> str:
    told = answer.details.get(field)
    return told.strip() if isinstance(told, str) else ""
