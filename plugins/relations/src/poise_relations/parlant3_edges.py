"""What relations say of one subject, given those that act, as the former generation reads them.

A dependency is of this turn, whatever its mode. What a subject itself contributes to a tag counts
neither for it nor against it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.values.ids import JourneyId, Subject
from poise.values.relationships import End, Relation, RelationKind, TagEnd
from poise_relations.crowds import is_on
from poise_relations.gathering import can_be_implied, may_imply
from poise_relations.needs import is_idle, others_behind
from poise_relations.outcomes import CAUSES_NAMED
from poise_relations.parties import Party

Acting = frozenset[Subject]
"""Those that stand and are not merely asking what is meant."""

_BEATEN = {RelationKind.EXCLUSION: Fate.EXCLUDED, RelationKind.PRIORITY: Fate.OUTRANKED}
_UNMET = {
    RelationKind.DEPENDENCY: Fate.UNMET_DEPENDENCY_ALL,
    RelationKind.DEPENDENCY_ANY: Fate.UNMET_DEPENDENCY_ANY,
}


class Edges:
    """Reads relations for the parties of one turn."""

    def __init__(self, request: ResolutionRequest, parties: Mapping[Subject, Party]) -> None:
        self._request = request
        self._snapshot = request.snapshot
        self._parties = parties
        self._needs: dict[Subject, Sequence[Sequence[Relation]]] = {}

    def unmet(self, party: Party, acting: Acting) -> Outcome | None:
        """Return the outcome of what needs something that does not act; `None` of anything else."""
        unmet = [
            group
            for group in self._needs_of(party)
            if not any(self._is_met(each, party, acting) for each in group)
        ]
        if not unmet:
            return None
        kinds = {group[0].kind for group in unmet}
        kind = next(each for each in _UNMET if each in kinds)
        lacking = {
            each
            for group in unmet
            if group[0].kind is kind
            for relation in group
            for each in self._lacking(relation, party, acting)
        }
        causes = tuple(heapq.nsmallest(CAUSES_NAMED, lacking))
        return Outcome(party.id, _UNMET[kind], causes, kind.value)

    def robbed(
        self, party: Party, acting: Acting, beaten: Mapping[Subject, Outcome]
    ) -> Outcome | None:
        """Return the outcome of what lost something that it needs, and goes with that.

        Args:
            party: Lacks nothing beside `acting`.
            acting: What acted when the others were beaten.
            beaten: By subject, what became of those.
        """
        left = acting - beaten.keys()
        kinds: set[RelationKind] = set()
        lost: set[Subject] = set()
        for group in self._needs_of(party):
            if all(
                self._is_met(each, party, acting) and not self._is_met(each, party, left)
                for each in group
            ):
                kinds.add(group[0].kind)
                for each in group:
                    lost |= acting.intersection(self._lacking(each, party, left))
        if not lost:
            return None
        fates = {beaten[each].fate for each in lost}
        fate = Fate.EXCLUDED if Fate.EXCLUDED in fates else Fate.OUTRANKED
        kind = next(each for each in _UNMET if each in kinds)
        return Outcome(party.id, fate, tuple(sorted(lost)), kind.value)

    def beaten(self, party: Party, acting: Acting) -> Outcome | None:
        """Return the outcome of what something acting excludes or outranks."""
        against: dict[RelationKind, set[Subject]] = {kind: set() for kind in _BEATEN}
        for relation in self._snapshot.incoming.get(party.id, ()):
            if relation.kind in against:
                against[relation.kind].update(self._turned(relation.source, party, acting))
        for kind, fate in _BEATEN.items():
            if against[kind]:
                return Outcome(party.id, fate, tuple(sorted(against[kind])), kind.value)
        return None

    def _turned(self, source: End, party: Party, acting: Acting) -> set[Subject]:
        """Return who acts at a source; for a tag of which nobody does, who outranks a carrier."""
        snapshot = self._snapshot
        members = [each for each in snapshot.members(source) if each != party.id]
        found = {each for each in members if each in acting}
        if not found and isinstance(source, TagEnd):
            for each in members:
                if is_on(each, snapshot):
                    for relation in snapshot.incoming.get(each, ()):
                        if relation.kind in _BEATEN:
                            found.update(acting.intersection(snapshot.members(relation.source)))
        return found - {party.id}

    def implying(
        self, party: Party, acting: Acting, *, hushed: bool = False
    ) -> tuple[Subject, ...]:
        """Return what acts and implies `party`; with `hushed`, what would had it not gone quiet."""
        if not can_be_implied(party, self._request):
            return ()
        found = {
            each
            for relation in self._snapshot.incoming.get(party.id, ())
            if relation.kind is RelationKind.ENTAILMENT
            and may_imply(relation, party, self._request) is not hushed
            for each in self._snapshot.members(relation.source)
            if each in acting and each != party.id
        }
        return tuple(sorted(found))

    def triggers(self, party: Party, acting: Acting) -> tuple[Subject, ...]:
        """Return the triggers of a journey that act."""
        journey = self._snapshot.journeys.get(JourneyId(party.id))
        if journey is None or not party.enabled:
            return ()
        return tuple(sorted(acting.intersection(journey.triggers)))

    def number(self, party: Party) -> int:
        """Return what a subject competes with; what belongs to a journey has the journey's."""
        if party.journey is not None:
            return party.journey.priority
        scopes = [
            self._snapshot.journeys[JourneyId(relation.target)].priority  # type: ignore[arg-type]
            for relation in self._snapshot.outgoing.get(party.id, ())
            if relation.kind is RelationKind.DEPENDENCY
            and relation.source == party.id
            and relation.target in self._snapshot.journeys
        ]
        return max(scopes) if scopes and party.rule is not None else party.priority

    def _needs_of(self, party: Party) -> Sequence[Sequence[Relation]]:
        needs = self._needs.get(party.id)
        if needs is None:
            groups: dict[Hashable, list[Relation]] = defaultdict(list)
            for relation in self._snapshot.outgoing.get(party.id, ()):
                if relation.kind in _UNMET and not is_idle(relation, party, self._snapshot):
                    is_group = relation.kind is RelationKind.DEPENDENCY_ANY
                    groups[(relation.source, relation.group) if is_group else relation].append(
                        relation
                    )
            needs = self._needs[party.id] = tuple(groups.values())
        return needs

    def _is_met(self, relation: Relation, party: Party, acting: Acting) -> bool:
        others = others_behind(relation, party, self._snapshot)
        holding = {each for each in others if self._holds(each, acting)}
        if isinstance(relation.target, TagEnd) and relation.target.every:
            return bool(holding) and all(
                each in holding for each in others if is_on(each, self._snapshot)
            )
        return bool(holding)

    def _holds(self, subject: Subject, acting: Acting) -> bool:
        if subject not in acting:
            return False
        nodes = self._parties[subject].nodes
        return not nodes or any(node.id in acting for node in nodes)

    def _lacking(self, relation: Relation, party: Party, acting: Acting) -> Iterable[Subject]:
        """Return what would meet a dependency if it acted; of a tag, best what is switched on."""
        others = others_behind(relation, party, self._snapshot)
        lacking = [each for each in others if not self._holds(each, acting)]
        lacking = [each for each in lacking if is_on(each, self._snapshot)] or lacking
        for each in lacking:
            if each in acting:  # a journey of which no node is left
                yield from (node.id for node in self._parties[each].nodes)
            else:
                yield each
