"""What each rule is recognised by: phrases that should bring it up, and near misses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import attrs

from poise.values.catalog import Annotation, CatalogSnapshot
from poise.values.ids import RuleId, digest
from poise.values.relationships import End, RelationKind
from poise.values.rules import Rule, RuleKind, WayIn
from poise_discovery.intentions import subject_of

MOST_PHRASES = 200
"""Of one rule: a topic with a hundred policies is not known better by a thousand phrases."""


@attrs.frozen
class RulePhrases:
    """The training text of one rule.

    Attributes:
        rule: The rule's id.
        positives: Phrases that should bring it up, each once.
        negatives: Phrases that should not.
        relatives: Rules whose phrases are no evidence against this one.
        from_own_words: Nobody said what customers say; the positives are the rule's own text.
    """

    rule: RuleId
    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    relatives: frozenset[RuleId] = frozenset()
    from_own_words: bool = False


def is_indexed(rule: Rule, annotation: Annotation | None) -> bool:
    """Say whether customers' phrases can bring the rule up at all."""
    way_in = annotation.way_in if annotation is not None else rule.way_in
    return (
        rule.enabled
        and rule.matcher is None
        and way_in is WayIn.SIGNALS
        and rule.way_in is WayIn.SIGNALS
    )


def phrases_of(snapshot: CatalogSnapshot) -> tuple[RulePhrases, ...]:
    """Return the phrases of every rule that discovery scores, by rule id."""
    indexed = {
        rule.id: rule
        for rule in snapshot.rules.values()
        if is_indexed(rule, snapshot.annotations.get(rule.id))
    }
    spoken = {rule.id: _signals(rule, snapshot.annotations) for rule in indexed.values()}
    found: list[RulePhrases] = []
    for rule_id in sorted(indexed):
        rule = indexed[rule_id]
        signals = list(spoken[rule_id])
        if rule.kind is RuleKind.OBSERVATION and not rule.own_signals_only:
            for dependent in dependents(snapshot, rule_id):
                signals.extend(spoken.get(dependent, ()))
        positives = _distinct(signals)
        misses = _distinct(_anti_signals(rule, snapshot.annotations))
        negatives = tuple(each for each in misses if each not in positives)
        found.append(
            RulePhrases(
                rule_id,
                positives or _distinct(own_words(rule)),
                negatives,
                _relatives(snapshot, rule_id),
                from_own_words=not positives,
            )
        )
    return tuple(found)


def own_words(rule: Rule) -> tuple[str, ...]:
    """Return what the rule itself says of its situation, also as a customer would say it."""
    texts: list[str] = []
    for text in (rule.title, rule.when):
        if text:
            texts.append(text)
            # What the agent is about to speak of comes up when the customer speaks of it.
            said = as_customer(subject_of(text) or text)
            if said != text:
                texts.append(said)
    if not rule.when:
        texts.extend(text for text in (rule.then, rule.content) if text)
    return tuple(texts)


_ABOUT = re.compile(
    r"^(?:the |a )?(?:customer|user)s? (?:talks|asks|writes|complains|wants to know|inquires|"
    r"mentions|raises|says|reports|tells us)(?: about| that| for| whether| if)? ",
    re.IGNORECASE,
)
_FIRST_PERSON = (
    (re.compile(r"\b(?:the |a )?(?:customer|user)'s\b", re.IGNORECASE), "my"),
    (re.compile(r"\b(?:the |a )?(?:customer|user) (?:is|are)\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(?:the |a )?(?:customer|user) has\b", re.IGNORECASE), "I have"),
    (re.compile(r"\b(?:the |a )?(?:customer|user) does\b", re.IGNORECASE), "I do"),
    (re.compile(r"\b(?:the |a )?(?:customer|user) (want|need|ask|report)s\b", re.I), r"I \1"),
    (re.compile(r"\b(?:the |a )?(?:customer|user)\b", re.IGNORECASE), "I"),
    (re.compile(r"\btheir\b", re.IGNORECASE), "my"),
)


def as_customer(text: str) -> str:
    """Return a condition about "the customer" in the customer's own mouth; other text unchanged."""
    said = _ABOUT.sub("", text)
    for pattern, words in _FIRST_PERSON:
        said = pattern.sub(words, said)
    return said


def _signals(rule: Rule, annotations: Mapping[RuleId, Annotation]) -> tuple[str, ...]:
    annotation = annotations.get(rule.id)
    proposed = annotation.signals if annotation is not None else ()
    refused = {folded(text) for text in rule.anti_signals}
    return (*rule.signals, *(text for text in proposed if folded(text) not in refused))


def _anti_signals(rule: Rule, annotations: Mapping[RuleId, Annotation]) -> tuple[str, ...]:
    annotation = annotations.get(rule.id)
    proposed = annotation.anti_signals if annotation is not None else ()
    taken = {folded(text) for text in _signals(rule, annotations)}
    return (*rule.anti_signals, *(text for text in proposed if folded(text) not in taken))


def folded(text: str) -> str:
    """Return what two phrases have in common that differ in case or blanks only."""
    return " ".join(text.split()).casefold()


def dependents(snapshot: CatalogSnapshot, rule: RuleId) -> Iterable[RuleId]:
    """Return the rules that depend on `rule`, directly or through others."""
    found: dict[RuleId, None] = {}
    waiting = list(snapshot.dependents_of(rule))
    while waiting:
        each = waiting.pop()
        if each not in found and each != rule:
            found[each] = None
            waiting.extend(snapshot.dependents_of(each))
    return found


def _relatives(snapshot: CatalogSnapshot, rule: RuleId) -> frozenset[RuleId]:
    """Return the rules that are true together with `rule`: needed, needing, implied, implying."""
    found = {*snapshot.needed_by(rule), *snapshot.dependents_of(rule)}
    for relation in snapshot.outgoing.get(rule, ()):
        if relation.kind is RelationKind.ENTAILMENT:
            found.update(_rules(snapshot, relation.target))
    for relation in snapshot.incoming.get(rule, ()):
        if relation.kind is RelationKind.ENTAILMENT:
            found.update(_rules(snapshot, relation.source))
    return frozenset(found - {rule})


def _rules(snapshot: CatalogSnapshot, end: End) -> Iterator[RuleId]:
    """Yield the rules that an end of a relation stands for."""
    return (RuleId(each) for each in snapshot.members(end) if each in snapshot.rules)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts without repetitions, in an order that their content alone decides."""
    ranked = sorted({" ".join(text.split()) for text in texts if text.strip()}, key=digest)
    return tuple(ranked[:MOST_PHRASES])
