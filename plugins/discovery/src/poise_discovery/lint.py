"""What is doubtful about a catalog for discovery: rules that nothing, or little, can bring up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poise.hooks.findings import Finding, Severity
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, RuleId, Subject
from poise.values.relationships import RelationKind
from poise.values.rules import Rule, WayIn
from poise_discovery.annotations import way_in
from poise_discovery.phrases import phrases_of

FEW_SIGNALS = 5
"""Below this, a rule is recognised much less surely; ten are a good number."""

_LEADING = frozenset(
    {
        RelationKind.DEPENDENCY,
        RelationKind.DEPENDENCY_ANY,
        RelationKind.ENTAILMENT,
        RelationKind.DISAMBIGUATION,
    }
)
"""The relations whose targets come up with their source."""


def findings_of(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return the findings, in declared order of the rules."""
    return tuple(_findings(catalog))


def _findings(catalog: CatalogSnapshot) -> Iterator[Finding]:
    phrases = {each.rule: each for each in phrases_of(catalog)}
    reached = _reached(catalog)
    for rule in catalog.rules.values():
        known = phrases.get(rule.id)
        if known is not None and known.from_own_words and not rule.always_judged:
            yield Finding(
                "discovery.no_signals",
                rule.id,
                f"{rule.name!r} has no signals, so only its own words bring it up: give about ten "
                f"phrases that customers would say",
                Severity.WARNING,
            )
        elif known is not None and not rule.always_judged and len(known.positives) < FEW_SIGNALS:
            yield Finding(
                "discovery.few_signals",
                rule.id,
                f"{rule.name!r} has {_counted(len(known.positives))}: with ten it is found far "
                f"more surely",
                Severity.NOTE,
            )
        elif rule.enabled and rule.id not in reached:
            yield Finding(
                "discovery.unreachable",
                rule.id,
                f"{rule.name!r} is brought up by no phrase, and by no rule that can come up itself "
                f"and depends on it or implies it: relate it to one, or declare it always judged",
                Severity.WARNING,
            )


def _counted(signals: int) -> str:
    return "1 signal" if signals == 1 else f"{signals} signals"


def _reached(catalog: CatalogSnapshot) -> frozenset[Subject]:
    """Return whatever can come up: by itself, or with something that can."""
    waiting: list[Subject] = [
        rule.id for rule in catalog.rules.values() if rule.enabled and _comes_up_itself(rule)
    ]
    found = set(waiting)
    while waiting:
        for each in _led_to(waiting.pop(), catalog):
            rule = catalog.rules.get(RuleId(each))
            if each not in found and (rule is None or rule.enabled):
                found.add(each)
                waiting.append(each)
    return frozenset(found)


def _comes_up_itself(rule: Rule) -> bool:
    return rule.bypasses_discovery or way_in(rule) in (WayIn.SIGNALS, WayIn.TOOL)


def _led_to(subject: Subject, catalog: CatalogSnapshot) -> Iterator[Subject]:
    for relation in catalog.outgoing.get(subject, ()):
        if relation.kind in _LEADING:
            yield from catalog.members(relation.target)
    yield from catalog.triggered.get(RuleId(subject), ())
    journey = catalog.journeys.get(JourneyId(subject))
    if journey is not None:
        yield from journey.triggers  # what it is asked about brings up what starts it
        yield from (node.id for node in journey.nodes)
