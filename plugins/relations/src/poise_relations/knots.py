"""Cycles of a catalog on which something hangs on its own inactivity: conflicts that can happen."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

import attrs

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import Subject
from poise.values.journeys import Journey
from poise.values.relationships import DependencyMode, Relation, RelationKind
from poise.values.rules import Rule
from poise_relations.crowds import is_on
from poise_relations.network import components

_Level = tuple[str, int]
"""A rank with a priority: stands for all of the rank with that priority or a higher one."""

_Place = Subject | _Level

_NEGATIVE = {
    RelationKind.PRIORITY: "is outranked by",
    RelationKind.EXCLUSION: "is excluded by",
    RelationKind.DISAMBIGUATION: "is asked about by",
}


@attrs.frozen
class Knot:
    """A cycle: those that it passes through, each hanging on the next, and how, in words."""

    members: tuple[Subject, ...]
    told: str


@attrs.frozen
class _Tie:
    words: str
    is_negative: bool = False


_Ties = Mapping[_Place, Mapping[_Place, _Tie]]


def knots(catalog: CatalogSnapshot) -> Iterator[Knot]:
    """Yield one cycle through a negation for each tangle of a catalog that has one."""
    ties = _ties(catalog)
    places: list[_Place] = list(
        dict.fromkeys((*ties, *(to for tied in ties.values() for to in tied)))
    )
    numbers = {place: number for number, place in enumerate(places)}
    graph = [[numbers[to] for to in ties.get(place, {})] for place in places]
    found = [sorted(component) for component in components(graph) if len(component) > 1]
    for component in sorted(found):
        cycle = _through_a_negation([places[number] for number in component], ties)
        if cycle:
            yield _knot(cycle, ties, catalog)


def _ties(catalog: CatalogSnapshot) -> _Ties:
    """Return, for each that can be active, what that hangs on."""
    ties: dict[_Place, dict[_Place, _Tie]] = defaultdict(dict)

    def tie(one: _Place, to: _Place, words: str, *, is_negative: bool = False) -> None:
        known = ties[one].get(to)
        if known is None or (is_negative and not known.is_negative):
            ties[one][to] = _Tie(words, is_negative)

    for relation in catalog.relations:
        kind = relation.kind
        for source, target in _pairs(relation, catalog):
            if kind is RelationKind.ENTAILMENT:
                tie(target, source, "is implied by")
            elif kind in _NEGATIVE:
                tie(target, source, _NEGATIVE[kind], is_negative=True)
            elif not _is_remembered(relation, target, catalog):
                tie(source, target, "needs")
            else:
                for other in _excluding(target, catalog):
                    tie(source, other, "needs what is excluded by", is_negative=True)
    for journey in catalog.journeys.values():
        if journey.enabled:
            for trigger in journey.triggers:
                tie(journey.id, trigger, "is started by")
            for node in journey.nodes:
                tie(node.id, journey.id, "is a step of")
    for one, to, is_negative in _ranks(catalog):
        tie(one, to, "gives way within its rank to", is_negative=is_negative)
    return ties


def _pairs(relation: Relation, catalog: CatalogSnapshot) -> Iterator[tuple[Subject, Subject]]:
    """Yield who acts on whom; tools, and what is switched off, stand for nobody."""
    targets = [each for each in catalog.members(relation.target) if is_on(each, catalog)]
    for source in catalog.members(relation.source):
        if is_on(source, catalog):
            yield from ((source, target) for target in targets if target != source)


def _is_remembered(relation: Relation, target: Subject, catalog: CatalogSnapshot) -> bool:
    """Say whether a dependency hangs on the verdict on a rule, not on its being active."""
    return (
        relation.mode is DependencyMode.THIS_SESSION
        and target in catalog.rules
        and not any(
            each.kind is RelationKind.ENTAILMENT for each in catalog.incoming.get(target, ())
        )
    )


def _excluding(target: Subject, catalog: CatalogSnapshot) -> Iterator[Subject]:
    for relation in catalog.incoming.get(target, ()):
        if relation.kind is RelationKind.EXCLUSION:
            for each in catalog.members(relation.source):
                if each != target and is_on(each, catalog):
                    yield each


def _ranks(catalog: CatalogSnapshot) -> Iterator[tuple[_Place, _Place, bool]]:
    """Yield ties from the members of a rank to levels above them, and down to their members."""
    for rank, ranked in by_rank(catalog).items():
        levels: dict[int, list[Subject]] = defaultdict(list)
        for each in ranked:
            levels[each.priority].append(each.id)
        above: _Level | None = None
        for priority in sorted(levels, reverse=True):
            level = (rank, priority)
            for member in levels[priority]:
                yield level, member, False
                if above is not None:
                    yield member, above, True
            if above is not None:
                yield level, above, False
            above = level


def by_rank(catalog: CatalogSnapshot) -> Mapping[str, Sequence[Rule | Journey]]:
    """Return what competes within each rank; what is switched off does not."""
    ranks: dict[str, list[Rule | Journey]] = defaultdict(list)
    ranked: tuple[Rule | Journey, ...] = (*catalog.rules.values(), *catalog.journeys.values())
    for each in ranked:
        if each.rank is not None and each.enabled:
            ranks[each.rank].append(each)
    return ranks


def _through_a_negation(members: Sequence[_Place], ties: _Ties) -> Sequence[_Place]:
    """Return a shortest cycle within `members` that passes through a negation; empty if none."""
    inside = frozenset(members)
    for one in members:
        for to, tie in ties.get(one, {}).items():
            if tie.is_negative and to in inside:
                return _path(to, one, inside, ties)
    return ()


def _path(start: _Place, goal: _Place, inside: frozenset[_Place], ties: _Ties) -> Sequence[_Place]:
    came_from: dict[_Place, _Place | None] = {start: None}
    waiting = deque([start])
    while goal not in came_from:
        place = waiting.popleft()
        for to in ties.get(place, {}):
            if to in inside and to not in came_from:
                came_from[to] = place
                waiting.append(to)
    path: list[_Place] = []
    step: _Place | None = goal
    while step is not None:
        path.append(step)
        step = came_from[step]
    return path[::-1]


def _knot(cycle: Sequence[_Place], ties: _Ties, catalog: CatalogSnapshot) -> Knot:
    """Return a cycle as people read it: from its smallest id, without the levels of ranks."""
    subjects = [place for place in cycle if not isinstance(place, tuple)]
    start = cycle.index(min(subjects))
    turned = [*cycle[start:], *cycle[:start]]
    said: list[str] = []
    for place, to in zip(turned, (*turned[1:], turned[0]), strict=True):
        if not isinstance(place, tuple):
            said.append(f"{catalog.name_of(place)!r} {ties[place][to].words}")
    names = [repr(catalog.name_of(each)) for each in turned if not isinstance(each, tuple)]
    told = ", ".join(
        f"{words} {name}" for words, name in zip(said, (*names[1:], names[0]), strict=True)
    )
    return Knot(
        tuple(each for each in turned if not isinstance(each, tuple)),
        f"{told}: where a turn brings them up together, they conflict and none is acted on; take "
        f"back one of these relations",
    )
