"""What is doubtful about the relations of a catalog, told before any turn meets it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poise.hooks.findings import Finding, Severity
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import Subject
from poise.values.journeys import Journey
from poise.values.relationships import RelationKind
from poise.values.rules import Rule
from poise_relations.contradictions import contradictions
from poise_relations.knots import by_rank, knots


def findings_of(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return the findings, check by check, each in declared order.

    What is switched off is left out: it is never active, so nothing can come of it.
    """
    return (*_tangles(catalog), *_numbers(catalog), *_ranks(catalog), *_heads(catalog))


def _tangles(catalog: CatalogSnapshot) -> Iterator[Finding]:
    """Yield contradictions and cycles; what is both is told once, a pair as a contradiction."""
    cycles = list(knots(catalog))
    longer = [frozenset(each.members) for each in cycles if len(each.members) > 2]
    pairs: set[frozenset[Subject]] = set()
    for found in contradictions(catalog):
        pairs.add(frozenset((found.one, found.other)))
        if not any(members >= {found.subject, found.one, found.other} for members in longer):
            yield Finding("relations.contradiction", found.subject, found.told)
    for cycle in cycles:
        if frozenset(cycle.members) not in pairs:
            yield Finding("relations.cycle", cycle.members[0], cycle.told)


def _numbers(catalog: CatalogSnapshot) -> Iterator[Finding]:
    things: tuple[Rule | Journey, ...] = (*catalog.rules.values(), *catalog.journeys.values())
    for each in things:
        if each.enabled and each.priority != 0 and each.rank is None:
            yield Finding(
                "relations.number-without-rank",
                each.id,
                f"{each.name!r} has the priority {each.priority} and no rank, so the number has no "
                f"effect: give it, and those it competes with, one `rank`",
            )


def _ranks(catalog: CatalogSnapshot) -> Iterator[Finding]:
    for rank, members in by_rank(catalog).items():
        if len(members) == 1:
            yield Finding(
                "relations.lonely-rank",
                members[0].id,
                f"{members[0].name!r} is the only one of the rank {rank!r}, so it competes with "
                f"nothing: check the spelling, or leave the rank out",
            )
        elif len({each.priority for each in members}) == 1:
            yield Finding(
                "relations.lonely-rank",
                members[0].id,
                f"all {len(members)} of the rank {rank!r} have the priority "
                f"{members[0].priority}, so none of them gives way",
                Severity.NOTE,
            )


def _heads(catalog: CatalogSnapshot) -> Iterator[Finding]:
    for rule in catalog.rules.values():
        asks = any(
            relation.kind is RelationKind.DISAMBIGUATION
            for relation in catalog.outgoing.get(rule.id, ())
        )
        in_doubt = catalog.in_doubt(rule.id) if asks and rule.enabled else None
        if in_doubt is not None and len(in_doubt) < 2:
            names = repr(catalog.name_of(in_doubt[0])) + " alone" if in_doubt else "nothing"
            yield Finding(
                "relations.nothing-to-tell-apart",
                rule.id,
                f"{rule.name!r} tells apart {names}: it takes two or more to be confused",
            )
