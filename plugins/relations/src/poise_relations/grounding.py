"""From relations to gates: the sentence that defines *active*, written out for one turn.

A subject is active when it is wanted (it applies, is under way, or something active implies it),
all that it needs is met, and nothing sets it aside: no active subject excludes it, outranks it or
has a higher priority within its rank, and no rule asks whether it is this one that is meant. A
relation whose ends are tags gets one gate for its source and one for its target, a rank one for
each priority, never one for each pair, so the network is as large as the relations of those that
take part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from poise.turn.fates import ResolutionRequest
from poise.values.ids import RuleId, Subject
from poise.values.relationships import End, Relation, RelationKind, TagEnd
from poise_relations.crowds import Crowds, Holding
from poise_relations.gathering import can_be_implied, may_imply
from poise_relations.needs import Needs
from poise_relations.network import ALWAYS, NEVER, Network
from poise_relations.parties import Edge, Party

_ACTING = frozenset({RelationKind.PRIORITY, RelationKind.EXCLUSION, RelationKind.ENTAILMENT})


def ground(request: ResolutionRequest, parties: Mapping[Subject, Party]) -> Network:
    """Return the network of this turn; every party gets its edges, its needs and its gates."""
    return _Grounding(request, parties).network()


class _Grounding:
    def __init__(self, request: ResolutionRequest, parties: Mapping[Subject, Party]) -> None:
        self._request = request
        self._snapshot = request.snapshot
        self._parties = parties
        self._network = Network()
        self._crowds = Crowds(request, parties, self._network)
        self._able = [party for party in parties.values() if party.can_be_active]
        self._asking = [party for party in parties.values() if party.asks]
        self._edges: dict[End, Edge] = {}

    def network(self) -> Network:
        for party in self._able:
            party.stands = party.active = self._network.reserve()
        for party in self._asking:
            party.stands = self._network.reserve()
        for relation in self._acting():
            self._act(relation)
        for party in self._asking:
            self._question(party)
        for party in self._able:
            self._trigger(party)
        self._rank()
        for party in self._parties.values():
            self._gate(party)
        needs = Needs(self._snapshot, self._crowds, self._network)
        for party in (*self._able, *self._asking):
            party.needs = needs.of(party)
            self._connect(party)
        return self._network

    def _acting(self) -> Iterable[Relation]:
        """Yield each relation once that something which could be active acts through."""
        through_tags: set[int] = set()
        for party in self._able:
            for relation in self._snapshot.outgoing.get(party.id, ()):
                if relation.kind not in _ACTING:
                    continue
                if isinstance(relation.source, TagEnd):
                    if id(relation) in through_tags:
                        continue
                    through_tags.add(id(relation))
                yield relation

    def _act(self, relation: Relation) -> None:
        edge = self._edge(relation.source)
        for party in self._in_view(relation.target):
            if relation.source == party.id:
                continue
            if relation.kind is RelationKind.ENTAILMENT:
                self._imply(relation, edge, party)
            else:
                self._turn_against(relation, edge, party)

    def _imply(self, relation: Relation, edge: Edge, party: Party) -> None:
        source = relation.source
        if isinstance(source, TagEnd) and source.every and source.tag in party.tags:
            return  # where all carriers imply it, it would have to be there already
        if can_be_implied(party, self._request):
            allowed = may_imply(relation, party, self._request)
            (party.implied_by if allowed else party.hushed_by).append(edge)

    def _turn_against(self, relation: Relation, edge: Edge, party: Party) -> None:
        source = relation.source
        if isinstance(source, TagEnd) and source.tag in party.tags:
            # What a subject itself contributes to a tag never turns against it.
            crowd = self._crowds.behind(source, Holding.ACTING)
            edge = Edge(edge.sources, crowd.without(party.id))
        is_exclusion = relation.kind is RelationKind.EXCLUSION
        (party.excluded_by if is_exclusion else party.outranked_by).append(edge)

    def _in_view(self, end: End) -> Iterable[Party]:
        if isinstance(end, TagEnd):
            return self._crowds.by_tag.get(end.tag, ())
        party = self._parties.get(end)  # type: ignore[arg-type]  # these kinds have no tools
        return () if party is None else (party,)

    def _edge(self, source: End) -> Edge:
        """Return those at a source that could be active, with the gate that they switch."""
        edge = self._edges.get(source)
        if edge is None:
            if isinstance(source, TagEnd):
                crowd = self._crowds.behind(source, Holding.ACTING)
                edge = Edge(crowd.sources, crowd.gate)
            else:
                able = [party for party in self._in_view(source) if party.can_be_active]
                edge = Edge(
                    tuple(party.id for party in able),
                    self._network.any_of(party.active for party in able),
                )
            self._edges[source] = edge
        return edge

    def _question(self, asking: Party) -> None:
        """Let a rule that asks what is meant hold back whatever is in question."""
        among = frozenset(asking.verdict.among if asking.verdict else ())
        edge = Edge((asking.id,), asking.stands)
        for subject in self._snapshot.in_doubt(RuleId(asking.id)):
            party = self._parties.get(subject)
            if party is not None and (not among or subject in among):
                party.questioned_by.append(edge)

    def _trigger(self, party: Party) -> None:
        if party.rule is None:
            return
        for journey in self._snapshot.triggered.get(party.rule.id, ()):
            started = self._parties.get(journey)
            if started is not None and started.enabled:
                started.triggered_by.append(self._edge(party.id))

    def _rank(self) -> None:
        """Give each subject with a rank what could be active within it with a higher priority."""
        ranks: dict[str, list[Party]] = defaultdict(list)
        for party in self._parties.values():
            if party.rank is not None:
                ranks[party.rank].append(party)
        for members in ranks.values():
            if len({party.priority for party in members}) == 1:
                continue
            members.sort(key=lambda party: -party.priority)
            sources = tuple(party.id for party in members if party.can_be_active)
            above = NEVER
            for _, equals in groupby(members, key=lambda party: party.priority):
                level = list(equals)
                if above != NEVER:
                    edge = Edge(sources, above)
                    for party in level:
                        party.lower_than.append(edge)
                able = [party.active for party in level if party.can_be_active]
                above = self._network.any_of([above, *able] if above != NEVER else able)

    def _gate(self, party: Party) -> None:
        party.excluded = self._any(party.excluded_by)
        party.in_question = self._any(party.questioned_by)
        party.outranked = self._any(party.outranked_by)
        party.lower = self._any(party.lower_than)
        if party.journey is not None:
            party.wanted = party.journey.active
        elif party.is_given:
            party.wanted = ALWAYS
        else:
            party.wanted = self._any([*party.implied_by, *party.triggered_by])
        if party.applies:
            party.confirmed = (
                self._network.all_of([~party.excluded]) if party.excluded_by else ALWAYS
            )

    def _any(self, edges: Sequence[Edge]) -> int:
        return self._network.any_of([edge.gate for edge in edges]) if edges else NEVER

    def _connect(self, party: Party) -> None:
        aside = (party.excluded, party.in_question, party.outranked, party.lower)
        self._network.connect(
            party.stands,
            (
                party.wanted,
                *(need.gate for need in party.needs),
                *(~gate for gate in aside if gate != NEVER),
            ),
        )
