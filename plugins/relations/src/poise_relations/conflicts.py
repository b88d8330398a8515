"""What stays undefined, and the cycle through a negation that makes it so."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping, Sequence

from poise.values.ids import Subject
from poise.values.relationships import DependencyMode, End, TagEnd
from poise_relations.network import UNDEFINED, components
from poise_relations.parties import Edge, Need, Party

Antecedents = Mapping[Subject, Mapping[Subject, bool]]
"""By undefined subject, the undefined ones it hangs on, and whether by their being inactive."""


def cycles(
    parties: Mapping[Subject, Party], values: Sequence[int], confirmed: Container[Subject]
) -> Mapping[Subject, tuple[Subject, ...]]:
    """Return, for each undefined subject, the cycle that it is in, or that it hangs on.

    A cycle is given once round, from its smallest id, each followed by one that it hangs on.

    Args:
        parties: All that take part.
        values: Of the gates of their network.
        confirmed: What an earlier turn confirmed, so that it meets a dependency anyhow.
    """
    undefined = {each: party for each, party in parties.items() if _is_undefined(party, values)}
    if not undefined:
        return {}
    hangs_on: Antecedents = {
        each: dict(sorted(_Antecedents(party, parties, values, confirmed).found().items()))
        for each, party in undefined.items()
    }
    names = list(undefined)
    places = {each: place for place, each in enumerate(names)}
    found: dict[Subject, tuple[Subject, ...]] = {}
    for component in components([[places[other] for other in hangs_on[each]] for each in names]):
        members = sorted(names[place] for place in component)
        cycle = _contradiction(members, hangs_on) or _inherited(members, hangs_on, found)
        found.update(dict.fromkeys(members, cycle))
    return found


def _is_undefined(party: Party, values: Sequence[int]) -> bool:
    return values[party.stands] == UNDEFINED


class _Antecedents:
    def __init__(
        self,
        party: Party,
        parties: Mapping[Subject, Party],
        values: Sequence[int],
        confirmed: Container[Subject],
    ) -> None:
        self._party = party
        self._parties = parties
        self._values = values
        self._confirmed = confirmed
        self._found: dict[Subject, bool] = {}

    def found(self) -> dict[Subject, bool]:
        party = self._party
        if self._is_open(party.wanted):
            if party.journey is not None:
                self._note((party.journey.id,), negative=False)
            implying = (*party.implied_by, *party.triggered_by)
            self._note(_sources(implying, party), negative=False)
        for gate, edges in (
            (party.excluded, party.excluded_by),
            (party.in_question, party.questioned_by),
            (party.outranked, party.outranked_by),
        ):
            if self._is_open(gate):
                self._note(_sources(edges, party), negative=True)
        if self._is_open(party.lower):
            higher = (
                each
                for each in _sources(party.lower_than, party)
                if self._parties[each].priority > party.priority
            )
            self._note(higher, negative=True)
        for need in party.needs:
            if self._is_open(need.gate):
                self._note_targets(need)
        return self._found

    def _is_open(self, gate: int) -> bool:
        return self._values[gate] == UNDEFINED

    def _note(self, subjects: Iterable[Subject], *, negative: bool) -> None:
        for each in subjects:
            other = self._parties.get(each)
            if other is None or not _is_undefined(other, self._values):
                continue
            self._found[each] = self._found.get(each, False) or negative

    def _note_targets(self, need: Need) -> None:
        for relation in need.relations:
            lasts = relation.mode is DependencyMode.THIS_SESSION
            for target in self._targets(relation.target):
                if target is self._party or (lasts and target.id in self._confirmed):
                    continue
                if lasts and target.applies:
                    # It is met by having been judged to apply, unless it is excluded.
                    self._note(_sources(target.excluded_by, target), negative=True)
                else:
                    self._note((target.id, *(node.id for node in target.nodes)), negative=False)

    def _targets(self, end: End) -> Iterable[Party]:
        if isinstance(end, TagEnd):
            return (party for party in self._parties.values() if end.tag in party.tags)
        party = self._parties.get(end)  # type: ignore[arg-type]  # no dependency names a tool
        return () if party is None else (party,)


def _sources(edges: Iterable[Edge], target: Party) -> Iterable[Subject]:
    return (each for edge in edges for each in edge.sources if each != target.id)


def _contradiction(members: Sequence[Subject], hangs_on: Antecedents) -> tuple[Subject, ...]:
    """Return a shortest cycle within `members` that passes through a negation; empty if none."""
    inside = frozenset(members)
    for each in members:
        for other, negative in hangs_on[each].items():
            if negative and other in inside:
                path = _path(other, each, inside, hangs_on)
                if path:
                    start = path.index(min(path))
                    return (*path[start:], *path[:start])
    return ()


def _path(
    start: Subject, goal: Subject, inside: frozenset[Subject], hangs_on: Antecedents
) -> tuple[Subject, ...]:
    came_from: dict[Subject, Subject | None] = {start: None}
    waiting = deque([start])
    while waiting:
        each = waiting.popleft()
        if each == goal:
            path: list[Subject] = []
            step: Subject | None = each
            while step is not None:
                path.append(step)
                step = came_from[step]
            return tuple(reversed(path))
        for other in hangs_on[each]:
            if other in inside and other not in came_from:
                came_from[other] = each
                waiting.append(other)
    return ()


def _inherited(
    members: Sequence[Subject],
    hangs_on: Antecedents,
    found: Mapping[Subject, tuple[Subject, ...]],
) -> tuple[Subject, ...]:
    outside = (other for each in members for other in hangs_on[each] if other in found)
    return min((found[other] for other in outside), default=())
