"""What a customer may have meant: the readings of a doubtful message, and how to ask about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Question
from poise.turn.queries import clip_words
from poise.values.ids import JourneyId, RuleId, Subject
from poise.values.rules import Rule
from poise_matching.questions import condition_of, question_about
from poise_matching.settings import MatchingSettings

_OPTION_WORDS = 16


@attrs.frozen
class Reading:
    """One thing that may be meant.

    Attributes:
        subject: The rule or journey.
        candidate: The rule itself, or a trigger of the journey that this turn considers.
    """

    subject: Subject
    candidate: Candidate

    def asked_for(self, head: RuleId) -> str:
        """Return the id of the question whether it may be meant."""
        return f"{head}/{self.subject}"


def readings_of(head: RuleId, turn: TurnContext) -> Sequence[Reading]:
    """Return what `head` tells apart, as far as this turn considers it."""
    known = {each.rule.id: each for each in turn.candidates}
    found: list[Reading] = []
    for subject in turn.snapshot.in_doubt(head):
        journey = turn.snapshot.journeys.get(JourneyId(subject))
        rules = journey.triggers if journey is not None else (RuleId(subject),)
        candidate = next((known[rule] for rule in rules if rule in known), None)
        if candidate is not None:
            found.append(Reading(subject, candidate))
    return found


def options_of(
    head: RuleId, among: Sequence[Reading], worded: Mapping[Subject, str], turn: TurnContext
) -> tuple[str, ...]:
    """Return each reading as the customer would say it: no two in the same words.

    Args:
        head: The observation that tells them apart.
        among: The readings in question.
        worded: What a model would call them; empty where it said nothing.
        turn: The turn.
    """
    pending = turn.state.clarifications.get(head)
    before = dict(pending.options) if pending is not None else {}
    said = [
        worded.get(each.subject) or before.get(each.subject) or _as_customer_says(each, turn)
        for each in among
    ]
    shared = {text for text, count in Counter(map(str.casefold, said)).items() if count > 1}
    names = [clip_words(turn.snapshot.name_of(each.subject), _OPTION_WORDS) for each in among]
    told = tuple(
        name if text.casefold() in shared else text for name, text in zip(names, said, strict=True)
    )
    return told if len(set(told)) == len(told) else tuple(names)


def _as_customer_says(reading: Reading, turn: TurnContext) -> str:
    """Return a reading in words that a customer would use, without asking a model.

    The signal nearest to what was said, else the first one, else what people call it.
    """
    rule = reading.candidate.rule
    sighting = reading.candidate.sighting
    nearest = sighting.signal if sighting is not None else None
    annotation = turn.snapshot.annotations.get(rule.id)
    proposed = annotation.signals if annotation is not None else ()
    said = nearest or next(iter((*rule.signals, *proposed)), None)
    return clip_words(said or turn.snapshot.name_of(reading.subject), _OPTION_WORDS)


def question_to_customer(options: Sequence[str]) -> str:
    """Return what to ask, where nobody worded it."""
    return f"Which of these do you mean: {'; or '.join(options)}?"


def doubt_about(
    candidate: Candidate, readings: Sequence[Reading], turn: TurnContext, settings: MatchingSettings
) -> Question:
    """Return the question whether it is unclear which reading is meant."""
    rule = candidate.rule
    listed = "; ".join(turn.snapshot.name_of(each.subject) for each in readings)
    pending = turn.state.clarifications.get(rule.id)
    asked_before = ""
    if pending is not None:
        choices = "; ".join(as_said for _, as_said in pending.options)
        asked = f"The agent has asked about it already: {pending.question}"
        asked_before = f" {asked} The choices were: {choices}."
    return attrs.evolve(
        _plain(candidate, turn, settings),
        text=f"Is it unclear which of these the customer means ({listed})?{asked_before}",
        yes_if=f"{_situation(rule)}More than one of them fits what was said, and nothing in the "
        "conversation tells which one is meant.",
        no_if="What was said, answers to the agent's questions included, tells which one is meant; "
        "or the customer wants several of them, or none.",
    )


def fitting(
    reading: Reading, head: RuleId, turn: TurnContext, settings: MatchingSettings
) -> Question:
    """Return the question whether a reading may be what is meant."""
    return attrs.evolve(
        _plain(reading.candidate, turn, settings),
        id=reading.asked_for(head),
        text=f"May the customer mean this: {turn.snapshot.name_of(reading.subject)}?",
        yes_if=f"{_situation(reading.candidate.rule)}It fits what the customer said.",
        no_if="What the customer said rules it out, or speaks of something else.",
    )


def choice_of(
    candidate: Candidate, asked: str, option: str, turn: TurnContext, settings: MatchingSettings
) -> Question:
    """Return the question whether the customer chose an option that was put to them."""
    plain = _plain(candidate, turn, settings)
    return attrs.evolve(
        plain,
        text=f"The agent asked: {asked} Do the new messages choose this: {option}?",
        yes_if=f"They name it or point to it, alone or with others, or fit it better than the "
        f"other choices.{_elsewhere(candidate.rule)}",
        no_if="They choose others, or none, or the customer has turned to something else that "
        "does not call for it.",
        examples=tuple(dict.fromkeys((option, *plain.examples)))[: max(settings.examples, 1)],
    )


def _plain(candidate: Candidate, turn: TurnContext, settings: MatchingSettings) -> Question:
    return question_about(
        candidate,
        turn.snapshot,
        examples=settings.examples,
        counterexamples=settings.counterexamples,
    )


def _situation(rule: Rule) -> str:
    condition = condition_of(rule)
    return f"The situation is: {condition}. " if condition else ""


def _elsewhere(rule: Rule) -> str:
    condition = condition_of(rule)
    return (
        f" Or they have turned to something else, and this is so: {condition}." if condition else ""
    )
