"""What stays undefined, and the cycle through a priority or exclusion that makes it so."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from poise.values.ids import RuleId
from poise.values.relationships import DependencyMode, TagEnd
from poise_relations.network import UNDEFINED, components
from poise_relations.parties import Edge, Party

Antecedents = Mapping[RuleId, Mapping[RuleId, bool]]
"""By undefined rule, the undefined rules that it hangs on, and whether by their being inactive."""


def cycles(
    parties: Mapping[RuleId, Party], values: Sequence[int]
) -> Mapping[RuleId, tuple[RuleId, ...]]:
    """Return, for each undefined rule, the cycle that it is in, or that it hangs on.

    A cycle is given once round, from its smallest id, each rule followed by one that it hangs on.
    """
    undefined = {rule: each for rule, each in parties.items() if values[each.active] == UNDEFINED}
    if not undefined:
        return {}
    hangs_on: Antecedents = {
        rule: dict(sorted(_antecedents(party, parties, values).items()))
        for rule, party in undefined.items()
    }
    names = list(undefined)
    places = {rule: place for place, rule in enumerate(names)}
    found: dict[RuleId, tuple[RuleId, ...]] = {}
    for component in components([[places[each] for each in hangs_on[rule]] for rule in names]):
        members = sorted(names[place] for place in component)
        cycle = _contradiction(members, hangs_on) or _inherited(members, hangs_on, found)
        found.update(dict.fromkeys(members, cycle))
    return found


def _antecedents(
    party: Party, parties: Mapping[RuleId, Party], values: Sequence[int]
) -> dict[RuleId, bool]:
    found: dict[RuleId, bool] = {}

    def note(rules: Iterable[RuleId], *, negative: bool) -> None:
        for rule in rules:
            other = parties.get(rule)
            if other is not None and values[other.active] == UNDEFINED:
                found[rule] = found.get(rule, False) or negative

    if values[party.wanted] == UNDEFINED:
        note(_sources(party.implied_by), negative=False)
    if values[party.excluded] == UNDEFINED:
        note(_sources(party.excluded_by), negative=True)
    if values[party.outranked] == UNDEFINED:
        note(_sources(party.outranked_by), negative=True)
    for need in party.needs:
        if values[need.gate] != UNDEFINED:
            continue
        for relation in need.relations:
            for target in _targets(relation.target, parties):
                note((target.rule.id,), negative=False)
                if relation.mode is DependencyMode.THIS_SESSION and target.applies:
                    note(_sources(target.excluded_by), negative=True)
    return found


def _sources(edges: Iterable[Edge]) -> Iterable[RuleId]:
    return (rule for edge in edges for rule in edge.sources)


def _targets(end: RuleId | TagEnd, parties: Mapping[RuleId, Party]) -> Iterable[Party]:
    if isinstance(end, TagEnd):
        return (party for party in parties.values() if end.tag in party.rule.tags)
    party = parties.get(end)
    return () if party is None else (party,)


def _contradiction(members: Sequence[RuleId], hangs_on: Antecedents) -> tuple[RuleId, ...]:
    """Return a shortest cycle within `members` that passes through a negation; empty if none."""
    inside = frozenset(members)
    for rule in members:
        for other, negative in hangs_on[rule].items():
            if negative and other in inside:
                path = _path(other, rule, inside, hangs_on)
                if path:
                    start = path.index(min(path))
                    return (*path[start:], *path[:start])
    return ()


def _path(
    start: RuleId, goal: RuleId, inside: frozenset[RuleId], hangs_on: Antecedents
) -> tuple[RuleId, ...]:
    came_from: dict[RuleId, RuleId | None] = {start: None}
    waiting = deque([start])
    while waiting:
        rule = waiting.popleft()
        if rule == goal:
            path: list[RuleId] = []
            step: RuleId | None = rule
            while step is not None:
                path.append(step)
                step = came_from[step]
            return tuple(reversed(path))
        for other in hangs_on[rule]:
            if other in inside and other not in came_from:
                came_from[other] = rule
                waiting.append(other)
    return ()


def _inherited(
    members: Sequence[RuleId],
    hangs_on: Antecedents,
    found: Mapping[RuleId, tuple[RuleId, ...]],
) -> tuple[RuleId, ...]:
    outside = (other for rule in members for other in hangs_on[rule] if other in found)
    return min((found[other] for other in outside), default=())
