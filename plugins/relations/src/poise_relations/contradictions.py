"""What a catalog brings together and sets against each other at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import attrs

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import Subject
from poise.values.relationships import DependencyMode, End, RelationKind, TagEnd
from poise_relations.crowds import is_on

_AGAINST = {RelationKind.EXCLUSION: "excludes", RelationKind.PRIORITY: "outranks"}


@attrs.frozen
class Contradiction:
    """One subject that needs or brings two others, or one, and one of the two is against the other.

    Attributes:
        subject: What needs or brings them.
        one: What acts against `other`.
        other: See `one`; either may be the subject itself.
        told: All of it, in words.
    """

    subject: Subject
    one: Subject
    other: Subject
    told: str


@attrs.frozen
class _Company:
    """That something is there only while another is: because of what, and for how long."""

    words: str
    lasts: bool = False


_Companions = Mapping[Subject, Mapping[Subject, _Company]]


def contradictions(catalog: CatalogSnapshot) -> Iterator[Contradiction]:
    """Yield one contradiction for each exclusion or priority that is part of one.

    A priority counts where both are there on the same turn; an exclusion also over the session,
    since what is excluded is not confirmed.
    """
    leading = _leading(catalog)
    for kind, one, other in _opposed(catalog):
        lasts = kind is RelationKind.EXCLUSION
        ways_to_one = _ways(one, leading, lasts=lasts)
        subject, way_to_other = _nearest(other, ways_to_one, leading, lasts=lasts)
        if subject is None:
            continue
        steps = dict.fromkeys(
            (
                *_said(subject, ways_to_one, leading, catalog),
                *_said(subject, way_to_other, leading, catalog),
            )
        )
        names = {each: repr(catalog.name_of(each)) for each in (one, other)}
        told = ", ".join((*steps, f"and {names[one]} {_AGAINST[kind]} {names[other]}"))
        yield Contradiction(
            subject,
            one,
            other,
            f"{told}: they never hold together on one turn; take back one of these relations",
        )


def _leading(catalog: CatalogSnapshot) -> _Companions:
    """Return, for each subject, those that are never there without it, or bring it in."""
    leading: dict[Subject, dict[Subject, _Company]] = {}

    def lead(to: Subject, source: Subject, company: _Company) -> None:
        if to != source and is_on(to, catalog) and is_on(source, catalog):
            known = leading.setdefault(to, {}).get(source)
            if known is None or (known.lasts and not company.lasts):
                leading[to][source] = company

    for relation in catalog.relations:
        if relation.kind is RelationKind.DEPENDENCY:
            lasts = relation.mode is DependencyMode.THIS_SESSION
            for target in _each_alone(relation.target, catalog, every=True):
                for source in catalog.members(relation.source):
                    # Only rules are remembered.
                    company = _Company("needs", lasts and target in catalog.rules)
                    lead(target, source, company)
        elif relation.kind is RelationKind.ENTAILMENT:
            for source in _each_alone(relation.source, catalog, every=False):
                for target in catalog.members(relation.target):
                    if target not in catalog.journey_of:  # nothing implies a node
                        lead(target, source, _Company("entails"))
    for journey in catalog.journeys.values():
        for trigger in journey.triggers:
            lead(journey.id, trigger, _Company("starts"))
        for node in journey.nodes:
            lead(journey.id, node.id, _Company("is a step of"))
    return leading


def _each_alone(end: End, catalog: CatalogSnapshot, *, every: bool) -> Sequence[Subject]:
    """Return the members of an end that each count alone: those of `any_of` or of `all_of`.

    Args:
        end: Of a relation.
        catalog: What is switched off in it does not count.
        every: That it is those of `all_of`, which are needed each; else those of `any_of`.
    """
    members = [each for each in catalog.members(end) if is_on(each, catalog)]
    return members if not isinstance(end, TagEnd) or end.every is every or len(members) == 1 else ()


def _opposed(catalog: CatalogSnapshot) -> Iterator[tuple[RelationKind, Subject, Subject]]:
    for relation in catalog.relations:
        if relation.kind in _AGAINST:
            for one in _each_alone(relation.source, catalog, every=False):
                for other in catalog.members(relation.target):
                    if other != one and is_on(other, catalog):
                        yield relation.kind, one, other


def _ways(goal: Subject, leading: _Companions, *, lasts: bool) -> Mapping[Subject, Subject]:
    """Return, for each that leads to `goal`, the next step; `goal` leads to itself."""
    ways = {goal: goal}
    waiting = deque([goal])
    while waiting:
        to = waiting.popleft()
        for source, company in leading.get(to, {}).items():
            if source not in ways and (lasts or not company.lasts):
                ways[source] = to
                waiting.append(source)
    return ways


def _nearest(
    goal: Subject, among: Mapping[Subject, Subject], leading: _Companions, *, lasts: bool
) -> tuple[Subject | None, Mapping[Subject, Subject]]:
    """Return whichever of `among` leads to `goal` in the fewest steps, with the ways there."""
    ways = {goal: goal}
    waiting = deque([goal])
    while waiting:
        to = waiting.popleft()
        if to in among:
            return to, ways
        for source, company in leading.get(to, {}).items():
            if source not in ways and (lasts or not company.lasts):
                ways[source] = to
                waiting.append(source)
    return None, ways


def _said(
    subject: Subject,
    ways: Mapping[Subject, Subject],
    leading: _Companions,
    catalog: CatalogSnapshot,
) -> Iterator[str]:
    """Yield the steps from `subject` to where the ways end, in words."""
    while ways[subject] != subject:
        to = ways[subject]
        names = repr(catalog.name_of(subject)), repr(catalog.name_of(to))
        yield f"{names[0]} {leading[to][subject].words} {names[1]}"
        subject = to
