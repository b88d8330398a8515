"""From what is known of a rule to its annotation; from what a model said to an entry on file."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise.values.catalog import Annotation
from poise.values.rules import ALWAYS, Rule, WayIn
from poise_discovery.phrases import folded
from poise_discovery.questions import WANTED, RuleAnswers, RuleProposal
from poise_discovery.reading import declared_of, read
from poise_discovery.reviewed import ANSWERS, Entry, digest_of


def way_in(rule: Rule) -> WayIn:
    """Return what can make the rule relevant, by its flags.

    A rule about what the agent is about to do comes up by what customers say, too: their question
    is why the agent will speak of it.
    """
    return WayIn.ALWAYS if rule.matcher == ALWAYS else rule.way_in


def open_questions(rule: Rule) -> Sequence[str]:
    """Return the questions that neither the author nor the rule's kind has answered."""
    declared = declared_of(rule)
    return [name for name in ANSWERS if name not in declared]


def takes_phrases(rule: Rule) -> bool:
    """Say whether phrases can bring the rule up at all."""
    return rule.enabled and rule.matcher is None and rule.way_in is WayIn.SIGNALS


def annotation_of(rule: Rule, entry: Entry | None) -> Annotation:
    """Return a rule's annotation: by its author, then by what is on file, then by its words."""
    reading = read(rule)
    signals: tuple[str, ...] = ()
    anti_signals: tuple[str, ...] = ()
    if entry is not None:
        said = {name: getattr(entry, name) for name in open_questions(rule)}
        reading = attrs.evolve(
            reading, **{name: value for name, value in said.items() if value is not None}
        )
        if takes_phrases(rule):
            signals, anti_signals = entry.signals or (), entry.anti_signals or ()
    return Annotation(
        way_in=way_in(rule),
        continuous=reading.continuous,
        customer_dependent=reading.customer_dependent,
        agent_intention=reading.agent_intention,
        signals=signals,
        anti_signals=anti_signals,
    )


def with_answers(rule: Rule, entry: Entry | None, line: RuleAnswers, model: str) -> Entry:
    """Return a rule's entry with a model's answers to what it leaves open."""
    answers = {name: getattr(line, name) for name in open_questions(rule)}
    return _completed(rule, entry, Entry(rule.name, digest_of(rule), model, **answers))


def with_proposal(rule: Rule, entry: Entry | None, line: RuleProposal, model: str) -> Entry:
    """Return a rule's entry with those of a model's phrases that say something new."""
    own = [*rule.signals, *rule.anti_signals]
    signals = _new(line.signals, own)
    anti_signals = _new(line.anti_signals, [*own, *signals])
    said = Entry(rule.name, digest_of(rule), model, signals=signals, anti_signals=anti_signals)
    return _completed(rule, entry, said)


def _completed(rule: Rule, entry: Entry | None, said: Entry) -> Entry:
    return said if entry is None else attrs.evolve(entry.completed_by(said), name=rule.name)


def _new(texts: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    seen = {folded(text) for text in known}
    found: list[str] = []
    for text in texts:
        if text.strip() and folded(text) not in seen:
            seen.add(folded(text))
            found.append(" ".join(text.split()))
    return tuple(found[:WANTED])
