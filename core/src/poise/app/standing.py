"""Which rules can come into force at all: those that are switched off drag others along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject
from poise.values.relationships import End, Relation, RelationKind, TagEnd


def never_met(catalog: CatalogSnapshot) -> Mapping[RuleId, End]:
    """Return the rules that are switched on and can't come into force, in declared order.

    With each the first thing it needs that never holds: it is switched off, nobody carries the
    tag, or it can't come into force itself.
    """
    found: dict[RuleId, End] = {}
    waiting = list(catalog.rules)
    while waiting:
        again: dict[RuleId, None] = {}
        for rule in waiting:
            if rule in found or not catalog.rules[rule].enabled:
                continue
            lacking = _lacking(rule, catalog, found)
            if lacking is not None:
                found[rule] = lacking
                again.update(dict.fromkeys(catalog.dependents_of(rule)))
        waiting = list(again)
    return {rule: found[rule] for rule in catalog.rules if rule in found}


def _lacking(rule: RuleId, catalog: CatalogSnapshot, never: Mapping[RuleId, End]) -> End | None:
    """Return something that `rule` can't do without and that never holds, if there is such."""
    groups: dict[tuple[End, str | None], list[Relation]] = {}
    for relation in catalog.outgoing.get(rule, ()):
        if _asks_nothing(relation, rule, catalog):
            continue
        if relation.kind is RelationKind.DEPENDENCY:
            if not _can_hold(relation.target, rule, catalog, never=never):
                return relation.target
        elif relation.kind is RelationKind.DEPENDENCY_ANY:
            groups.setdefault((relation.source, relation.group), []).append(relation)
    for relations in groups.values():
        targets = [each.target for each in relations]
        if not any(_can_hold(each, rule, catalog, never=never) for each in targets):
            return targets[0]
    return None


def _asks_nothing(relation: Relation, rule: RuleId, catalog: CatalogSnapshot) -> bool:
    """Say whether a dependency stands for nothing but the rule itself, through its own tag."""
    members = catalog.members(relation.target)
    return isinstance(relation.target, TagEnd) and bool(members) and set(members) == {rule}


def _can_hold(
    end: End, rule: RuleId, catalog: CatalogSnapshot, *, never: Mapping[RuleId, End]
) -> bool:
    members = [each for each in catalog.members(end) if each != rule]
    if isinstance(end, TagEnd) and end.every:
        # Those that are switched off are not counted; the others must all be able to hold.
        members = [each for each in members if is_on(each, catalog)]
        return bool(members) and all(each not in never for each in members)
    return any(is_on(each, catalog) and each not in never for each in members)


def is_on(subject: Subject, catalog: CatalogSnapshot) -> bool:
    """Say whether a rule or journey is switched on; a node is where its journey is."""
    rule = catalog.rules.get(RuleId(subject))
    if rule is not None:
        return rule.enabled
    journey = catalog.journeys.get(catalog.journey_of.get(NodeId(subject), JourneyId(subject)))
    return journey is not None and journey.enabled


def related(first: RuleId, second: RuleId, catalog: CatalogSnapshot) -> bool:
    """Say whether any relation runs between two rules, by name or by tag, either way."""
    return second in set(_targets(first, catalog)) or first in set(_targets(second, catalog))


def _targets(rule: RuleId, catalog: CatalogSnapshot) -> Iterator[Subject]:
    for relation in catalog.outgoing.get(rule, ()):
        yield from catalog.members(relation.target)
