"""From a rule to the yes/no question that asks whether it applies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, zip_longest

from poise.turn.candidates import Candidate
from poise.turn.models import Question
from poise.turn.queries import clip_words
from poise.values.catalog import CatalogSnapshot
from poise.values.rules import Rule, RuleKind
from poise_matching.traits import end_of, is_about_agent, is_continuous

CONTENT_WORDS = 80
"""Words of a rule's content that a question quotes: its head and its tail."""

_LEADING = re.compile(r"^\s*(?:when|if|whenever)\s+", re.IGNORECASE)


def question_about(
    candidate: Candidate, snapshot: CatalogSnapshot, *, examples: int, counterexamples: int
) -> Question:
    """Return the question whether `candidate` applies now; its id is the rule's.

    Args:
        candidate: The rule, with its sighting where discovery scored it.
        snapshot: The catalog, for what hangs on the rule.
        examples: How many signals to give at most.
        counterexamples: How many anti-signals to give at most.
    """
    rule = candidate.rule
    sighting = candidate.sighting
    is_scored = sighting is not None and sighting.query is not None
    nearest = (sighting.signal,) if sighting is not None and sighting.signal else ()
    return Question(
        id=rule.id,
        text=_text(rule, snapshot),
        yes_if=_yes_if(rule, snapshot),
        no_if=_no_if(rule, snapshot),
        examples=_first(examples, chain(nearest, _signals(rule, snapshot))),
        counterexamples=_first(counterexamples, _not_meant(rule, snapshot)),
        prior=sighting.probability if sighting is not None and is_scored else None,
    )


def condition_of(rule: Rule) -> str | None:
    """Return the condition as part of a sentence: without its *when*, and without its stop."""
    return _LEADING.sub("", rule.when).strip().rstrip(".?!") if rule.when else None


def action_of(rule: Rule) -> str:
    """Return what the rule prescribes and when, as part of a sentence, cut to head and tail."""
    action = clip_words(rule.then or rule.content or rule.name, CONTENT_WORDS).rstrip(".?!")
    condition = condition_of(rule)
    return f"{action} when {condition}" if condition else action


_NO_IF_CONDITION = (
    "A part of it does not hold, is denied, belongs to an earlier matter that is closed, or is "
    "only near to what was said."
)
_NO_IF_SUBJECT = "What the customer says now is about something else, or only near to it."


_ABOUT_AGENT = (
    "A helpful answer to the new messages would most likely do that, whether or not it has begun"
)


def _no_if(rule: Rule, snapshot: CatalogSnapshot) -> str:
    told = _NO_IF_CONDITION if rule.when else _NO_IF_SUBJECT
    end = end_of(rule) if is_continuous(rule, snapshot) else None
    return f"{told} Also once this has come: {end}." if end else told


def _text(rule: Rule, snapshot: CatalogSnapshot) -> str:
    condition = condition_of(rule)
    if condition:
        if is_about_agent(rule, snapshot):
            return f"Is the agent, in answering now, about to be in this situation: {condition}?"
        return f"Is this so at this point of the conversation: {condition}?"
    if rule.title and rule.content:
        return f"Does what the customer says now call for this guidance: {rule.title}?"
    subject = clip_words(rule.then or rule.content or rule.name, CONTENT_WORDS).rstrip(".?!")
    return f"Does what the customer says now call for this: {subject}?"


def _yes_if(rule: Rule, snapshot: CatalogSnapshot) -> str:
    if rule.when and is_about_agent(rule, snapshot):
        told = _ABOUT_AGENT
    elif rule.when:
        told = "The customer's new messages, read with the conversation, make every part of it true"
    else:
        told = "The customer's new messages are about what it is for"
    if rule.content and (rule.when or rule.title):
        return f"{told}. What is meant: {clip_words(rule.content, CONTENT_WORDS)}"
    return f"{told}."


def _signals(rule: Rule, snapshot: CatalogSnapshot) -> Iterable[str]:
    """Yield the rule's own signals, then for an observation its dependents', one of each in turn.

    What brings up a policy about cards also says that the conversation is about cards, so an
    observation that others depend on takes their signals as its own, unless it says otherwise.
    """
    yield from _own(rule, snapshot)
    if rule.kind is RuleKind.OBSERVATION and not rule.own_signals_only:
        dependents = (snapshot.rules[each] for each in snapshot.dependents_of(rule.id))
        theirs = [_own(each, snapshot) for each in dependents if each.enabled]
        for round_of in zip_longest(*theirs):
            yield from (signal for signal in round_of if signal is not None)


def _own(rule: Rule, snapshot: CatalogSnapshot) -> tuple[str, ...]:
    annotation = snapshot.annotations.get(rule.id)
    return (*rule.signals, *(annotation.signals if annotation else ()))


def _not_meant(rule: Rule, snapshot: CatalogSnapshot) -> tuple[str, ...]:
    annotation = snapshot.annotations.get(rule.id)
    return (*rule.anti_signals, *(annotation.anti_signals if annotation else ()))


def _first(count: int, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the first `count` different texts."""
    found: dict[str, None] = {}
    for text in texts:
        if len(found) >= count:
            break
        found[text] = None
    return tuple(found)
