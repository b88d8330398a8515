"""From truth values to fates: what became of every candidate, with the nearest edge as cause."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import Subject
from poise.values.relationships import DependencyMode, Relation, RelationKind
from poise_relations.conflicts import cycles
from poise_relations.crowds import is_on
from poise_relations.needs import names_itself, others_behind
from poise_relations.network import FALSE, TRUE, UNDEFINED
from poise_relations.parties import Edge, Need, Party

CAUSES_NAMED = 10
"""How many unmet targets an outcome names, since a tag may stand for thousands of rules."""

OF_VERDICT = {
    VerdictKind.APPLIES: Fate.MATCHED,
    VerdictKind.PARTLY_APPLIED: Fate.MATCHED,
    VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
    VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
    VerdictKind.AMBIGUOUS: Fate.AMBIGUOUS,
    VerdictKind.UNDECIDED: Fate.UNDECIDED,
}

_UNMET = {
    RelationKind.DEPENDENCY: Fate.UNMET_DEPENDENCY_ALL,
    RelationKind.DEPENDENCY_ANY: Fate.UNMET_DEPENDENCY_ANY,
}


def outcomes_of(
    request: ResolutionRequest, parties: Mapping[Subject, Party], values: Sequence[int]
) -> Mapping[Subject, Outcome]:
    """Return the outcomes, in the order of ids."""
    reading = _Reading(request, parties, values)
    found = ((each, reading.outcome(party)) for each, party in parties.items())
    return {each: outcome for each, outcome in found if outcome is not None}


class _Reading:
    def __init__(
        self, request: ResolutionRequest, parties: Mapping[Subject, Party], values: Sequence[int]
    ) -> None:
        self._request = request
        self._parties = parties
        self._values = values
        self._cycles = cycles(parties, values, request.confirmed)
        self._active: dict[int, tuple[Subject, ...]] = {}
        self._lacks: dict[int, Sequence[Subject]] = {}
        self._dropped: dict[Subject, Outcome | None] = {}

    def outcome(self, party: Party) -> Outcome | None:
        """Return what became of a party; `None` for no candidate that nothing implied."""
        stands = self._values[party.stands]
        if stands == UNDEFINED:
            return Outcome(party.id, Fate.CONFLICT, self._cycles[party.id], "cycle")
        if stands == TRUE:
            return self._standing(party)
        if party.journey is not None and self._values[party.journey.active] == FALSE:
            return self._with_its_journey(party, party.journey)
        return self._set_aside(party) or self._by_verdict(party)

    def _standing(self, party: Party) -> Outcome:
        if party.asks:
            return Outcome(party.id, Fate.AMBIGUOUS)
        if party.is_given:
            return Outcome(party.id, Fate.MATCHED)
        if any(self._values[edge.gate] == TRUE for edge in party.triggered_by):
            return self._caused(party, Fate.IMPLIED, party.triggered_by, "trigger")
        return self._caused(party, Fate.IMPLIED, party.implied_by, RelationKind.ENTAILMENT.value)

    def _with_its_journey(self, node: Party, journey: Party) -> Outcome | None:
        if journey.id not in self._dropped:
            self._dropped[journey.id] = self.outcome(journey)
        outcome = self._dropped[journey.id]
        return outcome and Outcome(node.id, outcome.fate, (journey.id,), "journey")

    def _set_aside(self, party: Party) -> Outcome | None:
        """Return what sets aside a subject that would be acted on, or is shown as open."""
        values = self._values
        is_wanted = party.journey is not None or values[party.wanted] == TRUE
        if not is_wanted and not party.is_open:
            return None
        # Exclusion comes first: whether a rule counts as confirmed hangs on it alone.
        if values[party.excluded] == TRUE:
            return self._caused(
                party, Fate.EXCLUDED, party.excluded_by, RelationKind.EXCLUSION.value
            )
        if is_wanted and values[party.in_question] == TRUE:
            asking = {
                each
                for edge in party.questioned_by
                if values[edge.gate] == TRUE
                for each in edge.sources
            }
            return Outcome(
                party.id,
                Fate.AMBIGUOUS,
                tuple(sorted(asking)),
                RelationKind.DISAMBIGUATION.value,
            )
        unmet = [need for need in party.needs if values[need.gate] == FALSE]
        if is_wanted and unmet:
            return self._unmet(party, unmet)
        if values[party.outranked] == TRUE:
            return self._caused(
                party, Fate.OUTRANKED, party.outranked_by, RelationKind.PRIORITY.value
            )
        if values[party.lower] == TRUE:
            return self._caused(party, Fate.LOWER_PRIORITY, party.lower_than, "rank")
        return None

    def _by_verdict(self, party: Party) -> Outcome | None:
        if party.is_candidate:
            if not party.enabled:
                return Outcome(party.id, Fate.NOT_APPLICABLE)
            if party.verdict is None:
                return Outcome(party.id, Fate.IN_CONTEXT)
            return Outcome(party.id, OF_VERDICT[party.verdict.kind])
        if any(self._values[edge.gate] == TRUE for edge in party.hushed_by):
            return self._caused(
                party, Fate.ALREADY_APPLIED, party.hushed_by, RelationKind.ENTAILMENT.value
            )
        return None

    def _caused(self, party: Party, fate: Fate, edges: Iterable[Edge], relation: str) -> Outcome:
        firing = [edge for edge in edges if self._values[edge.gate] == TRUE]
        if len(firing) == 1:
            causes = self._active_of(firing[0])
        else:
            merged = {each for edge in firing for each in self._active_of(edge)}
            causes = tuple(sorted(merged))
        place = bisect_left(causes, party.id)
        if causes[place : place + 1] == (party.id,):  # it carries the tag that implies it
            causes = (*causes[:place], *causes[place + 1 :])
        return Outcome(party.id, fate, causes, relation)

    def _active_of(self, edge: Edge) -> tuple[Subject, ...]:
        """Return the active sources of an edge, in order; one tuple for all that it acts on."""
        found = self._active.get(id(edge.sources))
        if found is None:
            active = (
                each for each in edge.sources if self._values[self._parties[each].active] == TRUE
            )
            found = self._active[id(edge.sources)] = tuple(sorted(active))
        return found

    def _unmet(self, party: Party, needs: Sequence[Need]) -> Outcome:
        kinds = {need.kind for need in needs}
        kind = (
            RelationKind.DEPENDENCY
            if RelationKind.DEPENDENCY in kinds
            else RelationKind.DEPENDENCY_ANY
        )
        lacking = {
            each
            for need in needs
            if need.kind is kind
            for relation in need.relations
            for each in self._lacking(relation, party)
        }
        causes = heapq.nsmallest(CAUSES_NAMED, lacking)
        return Outcome(party.id, _UNMET[kind], tuple(causes), kind.value)

    def _lacking(self, relation: Relation, party: Party) -> Iterable[Subject]:
        """Return the first of those that would have to be active for `relation` to be met."""
        shared = not names_itself(relation, party)
        if shared and id(relation) in self._lacks:
            return self._lacks[id(relation)]
        snapshot = self._request.snapshot
        lasting = relation.mode is DependencyMode.THIS_SESSION
        lacking = {
            each
            for other in others_behind(relation, party, snapshot)
            if not self._holds(other, lasting=lasting)
            for each in self._in_play(other)
        }
        enabled = (each for each in lacking if is_on(each, snapshot))
        found = heapq.nsmallest(CAUSES_NAMED, enabled) or heapq.nsmallest(CAUSES_NAMED, lacking)
        if shared:
            self._lacks[id(relation)] = found
        return found

    def _in_play(self, subject: Subject) -> Iterable[Subject]:
        """Return the nodes of an active journey, since it is these that fail; else the subject."""
        party = self._parties.get(subject)
        if party is not None and party.nodes and self._values[party.active] == TRUE:
            return (node.id for node in party.nodes)
        return (subject,)

    def _holds(self, subject: Subject, *, lasting: bool) -> bool:
        if lasting and subject in self._request.confirmed:
            return True
        party = self._parties.get(subject)
        if party is None:
            return False
        if self._values[party.confirmed if lasting and party.applies else party.active] != TRUE:
            return False
        return not party.nodes or any(self._values[node.active] == TRUE for node in party.nodes)
