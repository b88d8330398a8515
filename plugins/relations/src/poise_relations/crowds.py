"""Gates for the ends of relations: one subject, any that carry a tag, or all that do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from enum import Enum
from functools import cached_property

from poise.turn.fates import ResolutionRequest
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject, TagId
from poise.values.relationships import TagEnd
from poise_relations.network import ALWAYS, NEVER, Network
from poise_relations.parties import Party


class Holding(Enum):
    """In what way a subject at the end of a relation counts.

    ACTING: at the source, while active. THIS_TURN: as what is needed, while active; a journey with
    nodes in play only beside an active one. THIS_SESSION: likewise, or once confirmed.
    """

    ACTING = "acting"
    THIS_TURN = "this_turn"
    THIS_SESSION = "this_session"


class Crowd:
    """Those behind a tag that could hold, as one gate, or as one gate without one of them.

    Args:
        network: Gets the gates.
        every: Whether all must hold.
        gates: By subject that could hold, its gate.
        missing: The carriers that are switched on and could not hold; of no matter for "any".
    """

    def __init__(
        self,
        network: Network,
        gates: Mapping[Subject, int],
        missing: Collection[Subject],
        *,
        every: bool,
    ) -> None:
        self._network = network
        self._every = every
        self._gates = gates
        self._missing = missing
        self.sources: tuple[Subject, ...] = tuple(gates)

    @cached_property
    def gate(self) -> int:
        """The gate that is true while one of them holds, or while all do."""
        return self.without()

    def without(self, *subjects: Subject) -> int:
        """Return the gate for the others alone.

        A catalog has at most one such case for each tag and kind of relation, since two carriers
        that act on each other through their tag form a cycle; so it may look at all the others.
        """
        gates = [gate for each, gate in self._gates.items() if each not in subjects]
        if not gates:
            return NEVER  # a tag that nobody carries never holds, not even with "all"
        if not self._every:
            return self._network.any_of(gates)
        lacks = any(each not in subjects for each in self._missing)
        return NEVER if lacks else self._network.all_of(gates)


class Crowds:
    """The crowds of one turn, each made once, and the gates of single subjects."""

    def __init__(
        self, request: ResolutionRequest, parties: Mapping[Subject, Party], network: Network
    ) -> None:
        self._snapshot: CatalogSnapshot = request.snapshot
        self._parties = parties
        self._network = network
        self._confirmed = request.confirmed
        self._confirmed_by_tag: dict[TagId, list[RuleId]] = defaultdict(list)
        for rule in request.confirmed:
            known = self._snapshot.rules.get(rule)
            for tag in known.tags if known else ():
                self._confirmed_by_tag[tag].append(rule)
        self.by_tag: dict[TagId, list[Party]] = defaultdict(list)
        for party in parties.values():
            for tag in party.tags:
                self.by_tag[tag].append(party)
        self._journeys: dict[Subject, int] = {}
        self._crowds: dict[tuple[TagEnd, Holding], Crowd] = {}

    def behind(self, end: TagEnd, holding: Holding) -> Crowd:
        """Return those that carry the tag of `end` and could hold in that way."""
        crowd = self._crowds.get((end, holding))
        if crowd is None:
            crowd = self._crowds[(end, holding)] = self._crowd(end, holding)
        return crowd

    def _crowd(self, end: TagEnd, holding: Holding) -> Crowd:
        gates: dict[Subject, int] = {}
        for party in self.by_tag.get(end.tag, ()):
            gate = self.gate_of(party.id, holding)
            if gate != NEVER:
                gates[party.id] = gate
        if holding is Holding.THIS_SESSION:
            gates.update(dict.fromkeys(sorted(self._confirmed_by_tag.get(end.tag, ())), ALWAYS))
        members = self._snapshot.members(end) if end.every else ()
        missing = [each for each in members if each not in gates and is_on(each, self._snapshot)]
        return Crowd(self._network, gates, missing, every=end.every)

    def gate_of(self, subject: Subject, holding: Holding) -> int:
        """Return the gate that is true while one subject holds in that way."""
        if holding is Holding.THIS_SESSION and subject in self._confirmed:
            return ALWAYS
        party = self._parties.get(subject)
        if party is None or not party.can_be_active:
            return NEVER
        if holding is Holding.THIS_SESSION and party.applies:
            return party.confirmed  # which it is whenever it is active, so one gate says both
        if holding is not Holding.ACTING and party.nodes:
            return self._with_a_node(party)
        return party.active

    def _with_a_node(self, journey: Party) -> int:
        gate = self._journeys.get(journey.id)
        if gate is None:
            nodes = self._network.any_of(node.active for node in journey.nodes)
            gate = self._journeys[journey.id] = self._network.all_of([journey.active, nodes])
        return gate


def is_on(subject: Subject, snapshot: CatalogSnapshot) -> bool:
    """Say whether a rule or journey is switched on, or the journey that a node is a step of."""
    rule = snapshot.rules.get(RuleId(subject))
    if rule is not None:
        return rule.enabled
    owner = snapshot.journey_of.get(NodeId(subject), JourneyId(subject))
    return snapshot.journeys[owner].enabled
