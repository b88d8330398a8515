"""From truth values to fates: what became of every candidate, with the nearest edge as cause."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import RuleId
from poise.values.relationships import DependencyMode, Relation, RelationKind, TagEnd
from poise_relations.conflicts import cycles
from poise_relations.network import FALSE, TRUE, UNDEFINED
from poise_relations.parties import Edge, Need, Party

CAUSES_NAMED = 10
"""How many unmet targets an outcome names, since a tag may stand for thousands of rules."""

_OF_VERDICT = {
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
    request: ResolutionRequest, parties: Mapping[RuleId, Party], values: Sequence[int]
) -> Mapping[RuleId, Outcome]:
    """Return the outcomes, in the order of ids."""
    reading = _Reading(request, parties, values)
    found = ((rule, reading.outcome(party)) for rule, party in parties.items())
    return {rule: outcome for rule, outcome in found if outcome is not None}


class _Reading:
    def __init__(
        self, request: ResolutionRequest, parties: Mapping[RuleId, Party], values: Sequence[int]
    ) -> None:
        self._request = request
        self._parties = parties
        self._values = values
        self._cycles = cycles(parties, values)

    def outcome(self, party: Party) -> Outcome | None:
        """Return what became of a party; `None` for no candidate that nothing implied."""
        values = self._values
        rule = party.rule.id
        if values[party.active] == UNDEFINED:
            return Outcome(rule, Fate.CONFLICT, self._cycles[rule], "cycle")
        if values[party.active] == TRUE:
            if party.applies:
                return Outcome(rule, Fate.MATCHED)
            return self._caused(party, Fate.IMPLIED, party.implied_by, RelationKind.ENTAILMENT)
        is_wanted = values[party.wanted] == TRUE
        # Exclusion comes first: whether a rule counts as confirmed hangs on it alone.
        if (is_wanted or party.is_open) and values[party.excluded] == TRUE:
            return self._caused(party, Fate.EXCLUDED, party.excluded_by, RelationKind.EXCLUSION)
        unmet = [need for need in party.needs if values[need.gate] == FALSE]
        if is_wanted and unmet:
            return self._unmet(party, unmet)
        if (is_wanted or party.is_open) and values[party.outranked] == TRUE:
            return self._caused(party, Fate.OUTRANKED, party.outranked_by, RelationKind.PRIORITY)
        return self._by_verdict(party)

    def _by_verdict(self, party: Party) -> Outcome | None:
        rule = party.rule.id
        if party.is_candidate:
            if not party.rule.enabled:
                return Outcome(rule, Fate.NOT_APPLICABLE)
            if party.verdict is None:
                return Outcome(rule, Fate.IN_CONTEXT)
            return Outcome(rule, _OF_VERDICT[party.verdict.kind])
        if any(self._values[edge.gate] == TRUE for edge in party.hushed_by):
            return self._caused(
                party, Fate.ALREADY_APPLIED, party.hushed_by, RelationKind.ENTAILMENT
            )
        return None

    def _caused(
        self, party: Party, fate: Fate, edges: Iterable[Edge], kind: RelationKind
    ) -> Outcome:
        values, parties = self._values, self._parties
        causes = {
            source
            for edge in edges
            if values[edge.gate] == TRUE
            for source in edge.sources
            if source != party.rule.id and values[parties[source].active] == TRUE
        }
        return Outcome(party.rule.id, fate, tuple(sorted(causes)), kind.value)

    def _unmet(self, party: Party, needs: Sequence[Need]) -> Outcome:
        kinds = {need.kind for need in needs}
        kind = (
            RelationKind.DEPENDENCY
            if RelationKind.DEPENDENCY in kinds
            else RelationKind.DEPENDENCY_ANY
        )
        lacking = {
            target
            for need in needs
            if need.kind is kind
            for relation in need.relations
            for target in self._lacking(relation, party.rule.id)
        }
        causes = heapq.nsmallest(CAUSES_NAMED, lacking)
        return Outcome(party.rule.id, _UNMET[kind], tuple(causes), kind.value)

    def _lacking(self, relation: Relation, rule: RuleId) -> Iterable[RuleId]:
        """Return the rules that would have to be active for `relation` to be met."""
        target = relation.target
        snapshot = self._request.snapshot
        if not isinstance(target, TagEnd):
            return (target,)
        lasting = relation.mode is DependencyMode.THIS_SESSION
        lacking = [
            member
            for member in snapshot.members(target)
            if member != rule and not self._holds(member, lasting=lasting)
        ]
        enabled = (member for member in lacking if snapshot.rules[member].enabled)
        return heapq.nsmallest(CAUSES_NAMED, enabled) or heapq.nsmallest(CAUSES_NAMED, lacking)

    def _holds(self, rule: RuleId, *, lasting: bool) -> bool:
        if lasting and rule in self._request.confirmed:
            return True
        party = self._parties.get(rule)
        if party is None:
            return False
        gate = party.confirmed if lasting and party.applies else party.active
        return self._values[gate] == TRUE
