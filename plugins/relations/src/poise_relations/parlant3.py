"""A resolver with the results of the former generation of engines, for whoever moves from one.

It differs from the default on purpose. A dependency holds for this turn alone, whatever its mode.
Numeric priority competes over everything that is left and not implied; `rank` is not looked at, and
what belongs to a journey competes with the journey's number. What was outranked, excluded or lower
stays out: of A over B over C, all three matched, C goes because of B, although B goes because of A.
What needed something that was outranked goes with it, one step far. A tag at the source of a
relation acts while any of its carriers does; while none does, whoever outranks one of them acts in
its place. It is told from the former engine's results on 107 scenarios, not from its text.

It works in rounds of four steps: what lacks a dependency waits; what is outranked goes, and with it
what needed it; of the rest, what has a lower number than another goes; and what is left implies. A
round starts from everything matched or implied that was not removed, so what waited comes back when
its target is implied. After a removal, what was implied has to be implied anew, since what implied
it may be gone. A rule judged ambiguous takes part like any other and acts on nothing; what it asks
about takes no part. If it is itself set aside, the rounds begin again without its question.

It terminates. Removed subjects are never put back, so there are finitely many removals; between two
of them what is implied only grows; and each new beginning has one question less. Everything a round
looks at are sets, so no order enters. The former engine stopped after three rounds whatever it had
found by then, lost the journey that won a priority, let dependencies in a circle live on what they
lacked, failed on ids that it did not know, and could be made to run for ever: none of that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from poise import Resolver
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.values.ids import Subject
from poise.values.relationships import RelationKind
from poise_relations.gathering import parties_of
from poise_relations.outcomes import OF_VERDICT
from poise_relations.parlant3_edges import Edges
from poise_relations.parlant3_rounds import Settled, highest, likewise, settle
from poise_relations.parties import Party


class Parlant3Resolver(Resolver):
    """Settles relations in rounds, with what was removed final.

    Attributes:
        reinstates: What was removed still counts against those below it.
        ranks: Numbers compete over everything, not within ranks.
    """

    reinstates: ClassVar[bool] = False
    ranks: ClassVar[bool] = False

    def resolve(self, request: ResolutionRequest) -> Resolution:
        """Return one outcome for every known candidate, and for whatever an active one implies.

        Also for a rule that an active one would imply, had it not been applied already.
        """
        parties = parties_of(request)
        edges = Edges(request, parties)
        reading = _Reading(parties, edges, settle(request, parties, edges))
        found = ((each, reading.outcome(party)) for each, party in parties.items())
        return Resolution({each: outcome for each, outcome in found if outcome is not None})


class _Reading:
    def __init__(self, parties: Mapping[Subject, Party], edges: Edges, settled: Settled) -> None:
        self._edges = edges
        self._settled = settled
        self._top, self._topmost = highest(settled.acting - settled.entailed, parties, edges)

    def outcome(self, party: Party) -> Outcome | None:
        """Return what became of a party; `None` for no candidate that nothing implied."""
        if party.id in self._settled.standing:
            return self._standing(party)
        if self._is_wanted(party):
            return self._set_aside(party)
        if party.is_open and party.enabled:
            return self._muted(party) or self._by_verdict(party)
        return self._by_verdict(party)

    def _standing(self, party: Party) -> Outcome:
        if party.asks:
            return Outcome(party.id, Fate.AMBIGUOUS)
        if party.is_given:
            return Outcome(party.id, Fate.MATCHED)
        triggers = self._edges.triggers(party, self._settled.acting)
        if triggers:
            return Outcome(party.id, Fate.IMPLIED, triggers, "trigger")
        implying = self._edges.implying(party, self._settled.acting)
        return Outcome(party.id, Fate.IMPLIED, implying, RelationKind.ENTAILMENT.value)

    def _is_wanted(self, party: Party) -> bool:
        acting = self._settled.acting
        return party.is_given or bool(
            self._edges.triggers(party, acting) or self._edges.implying(party, acting)
        )

    def _set_aside(self, party: Party) -> Outcome | None:
        settled = self._settled
        if party.id in settled.removed:
            return settled.removed[party.id]
        heads = settled.asked_by.get(party.id)
        if heads:
            beaten = self._edges.beaten(party, settled.acting)
            if beaten is not None and beaten.fate is Fate.EXCLUDED:
                return beaten
            return Outcome(party.id, Fate.AMBIGUOUS, heads, RelationKind.DISAMBIGUATION.value)
        unmet = self._edges.unmet(party, settled.acting)
        if unmet is None and party.journey is not None:
            above = self.outcome(party.journey)
            return above and likewise(party.id, above)
        return unmet

    def _muted(self, party: Party) -> Outcome | None:
        """Return what sets aside a rule that is only shown as one that may apply."""
        beaten = self._edges.beaten(party, self._settled.acting)
        if beaten is None and self._topmost and self._edges.number(party) < self._top:
            return Outcome(party.id, Fate.LOWER_PRIORITY, self._topmost, "rank")
        return beaten

    def _by_verdict(self, party: Party) -> Outcome | None:
        if party.journey is not None:
            return Outcome(party.id, Fate.NOT_APPLICABLE, (party.journey.id,), "journey")
        if party.is_candidate:
            if not party.enabled:
                return Outcome(party.id, Fate.NOT_APPLICABLE)
            if party.verdict is None:
                return Outcome(party.id, Fate.IN_CONTEXT)
            return Outcome(party.id, OF_VERDICT[party.verdict.kind])
        hushed = self._edges.implying(party, self._settled.acting, hushed=True)
        if hushed:
            relation = RelationKind.ENTAILMENT.value
            return Outcome(party.id, Fate.ALREADY_APPLIED, hushed, relation)
        return None
