"""What is doubtful about a catalog for discovery: rules that nothing, or little, can bring up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poise.hooks.findings import Finding, Severity
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId
from poise.values.relationships import RelationKind
from poise.values.rules import WayIn
from poise_discovery.annotator import way_in
from poise_discovery.phrases import phrases_of

FEW_SIGNALS = 5
"""Below this, a rule is recognised much less surely; ten are a good number."""


def findings_of(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return the findings, in declared order of the rules."""
    return tuple(_findings(catalog))


def _findings(catalog: CatalogSnapshot) -> Iterator[Finding]:
    phrases = {each.rule: each for each in phrases_of(catalog)}
    for rule in catalog.rules.values():
        known = phrases.get(rule.id)
        if known is not None and known.from_own_words and not rule.always_judged:
            yield Finding(
                "discovery.no-signals",
                rule.id,
                f"{rule.name!r} has no signals, so only its own words bring it up: give about ten "
                f"phrases that customers would say",
                Severity.WARNING,
            )
        elif known is not None and len(known.positives) < FEW_SIGNALS:
            yield Finding(
                "discovery.few-signals",
                rule.id,
                f"{rule.name!r} has {len(known.positives)} signals: with ten it is found far more "
                f"surely",
                Severity.NOTE,
            )
        elif (
            rule.enabled
            and not rule.bypasses_discovery
            and way_in(rule) is WayIn.DEPENDENCY
            and not _is_led_to(catalog, rule.id)
        ):
            yield Finding(
                "discovery.unreachable",
                rule.id,
                f"{rule.name!r} is brought up by no phrase, and no rule depends on it or implies "
                f"it: relate it to another rule, or declare it always judged",
                Severity.WARNING,
            )


def _is_led_to(catalog: CatalogSnapshot, rule: RuleId) -> bool:
    kinds = (RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY, RelationKind.ENTAILMENT)
    return any(relation.kind in kinds for relation in catalog.incoming.get(rule, ()))
