"""From relations to gates: the sentence that defines *active*, written out for one turn.

A rule is active when it is wanted (it applies, or an active rule implies it), all that it needs is
met, and no active rule outranks or excludes it. A relation whose ends are tags gets one gate for
its source and one for its target, never one for each pair, so the network is as large as the
relations of the rules that take part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from poise.turn.fates import ResolutionRequest
from poise.values.ids import RuleId, TagId
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd
from poise_relations.network import ALWAYS, NEVER, Network
from poise_relations.parties import Edge, Need, Party, can_be_implied, may_imply


def ground(request: ResolutionRequest, parties: Mapping[RuleId, Party]) -> Network:
    """Return the network of this turn; every party gets its edges, its needs and its gates."""
    return _Grounding(request, parties).network()


class _Grounding:
    def __init__(self, request: ResolutionRequest, parties: Mapping[RuleId, Party]) -> None:
        self._request = request
        self._snapshot = request.snapshot
        self._parties = parties
        self._network = Network()
        self._able = [party for party in parties.values() if party.can_be_active]
        self._by_tag: dict[TagId, list[Party]] = defaultdict(list)
        for party in parties.values():
            for tag in party.rule.tags:
                self._by_tag[tag].append(party)
        self._confirmed_by_tag: dict[TagId, list[RuleId]] = defaultdict(list)
        for rule in request.confirmed:
            known = self._snapshot.rules.get(rule)
            for tag in known.tags if known else ():
                self._confirmed_by_tag[tag].append(rule)
        self._sources: dict[int, Edge] = {}
        self._met: dict[int, int] = {}

    def network(self) -> Network:
        network = self._network
        for party in self._able:
            party.active = network.reserve()
        for relation in self._acting():
            self._act(relation)
        for party in self._parties.values():
            party.excluded = self._any(party.excluded_by)
            party.outranked = self._any(party.outranked_by)
            party.wanted = ALWAYS if party.applies else self._any(party.implied_by)
            if party.applies:
                party.confirmed = network.all_of([~party.excluded]) if party.excluded_by else ALWAYS
        for party in self._able:
            party.needs = self._needs(party.rule.id)
            blockers = [~gate for gate in (party.excluded, party.outranked) if gate != NEVER]
            met = [need.gate for need in party.needs]
            network.connect(party.active, (party.wanted, *met, *blockers))
        return network

    def _any(self, edges: Sequence[Edge]) -> int:
        return self._network.any_of([edge.gate for edge in edges]) if edges else NEVER

    def _acting(self) -> Iterable[Relation]:
        """Yield each relation once that a rule which could be active acts through."""
        through_tags: set[int] = set()
        for party in self._able:
            for relation in self._snapshot.outgoing.get(party.rule.id, ()):
                kind = relation.kind
                if kind is RelationKind.DEPENDENCY or kind is RelationKind.DEPENDENCY_ANY:
                    continue
                if isinstance(relation.source, TagEnd):
                    if id(relation) in through_tags:
                        continue
                    through_tags.add(id(relation))
                yield relation

    def _act(self, relation: Relation) -> None:
        for party in self._in_view(relation.target):
            rule = party.rule.id
            if relation.source == rule:
                continue
            if relation.kind is RelationKind.ENTAILMENT:
                if not can_be_implied(party, self._request):
                    continue
                edge = self._source(relation)
                allowed = may_imply(relation, party, self._request)
                (party.implied_by if allowed else party.hushed_by).append(edge)
            else:
                # What a rule itself contributes to a tag never turns against it.
                carries = isinstance(relation.source, TagEnd) and (
                    relation.source.tag in party.rule.tags
                )
                edge = (
                    self._gate_source(relation.source, without=rule)
                    if carries
                    else self._source(relation)
                )
                is_exclusion = relation.kind is RelationKind.EXCLUSION
                (party.excluded_by if is_exclusion else party.outranked_by).append(edge)

    def _in_view(self, end: End) -> Iterable[Party]:
        if isinstance(end, TagEnd):
            return self._by_tag.get(end.tag, ())
        party = self._parties.get(end)
        return () if party is None else (party,)

    def _source(self, relation: Relation) -> Edge:
        edge = self._sources.get(id(relation))
        if edge is None:
            edge = self._sources[id(relation)] = self._gate_source(relation.source)
        return edge

    def _gate_source(self, end: End, without: RuleId | None = None) -> Edge:
        """Return the rules at a source that could be active, with the gate that they switch."""
        able = [
            party
            for party in self._in_view(end)
            if party.can_be_active and party.rule.id != without
        ]
        sources = tuple(party.rule.id for party in able)
        gates = [party.active for party in able]
        if not isinstance(end, TagEnd) or not end.every:
            return Edge(sources, self._network.any_of(gates))
        if not able or not self._covers(end, frozenset(sources), without):
            return Edge((), NEVER)
        return Edge(sources, self._network.all_of(gates))

    def _covers(self, end: TagEnd, found: frozenset[RuleId], without: RuleId | None) -> bool:
        """Say whether `found` are all the carriers; those switched off do not count."""
        rules = self._snapshot.rules
        return all(
            rule in found or rule == without or not rules[rule].enabled
            for rule in self._snapshot.members(end)
        )

    def _needs(self, rule: RuleId) -> list[Need]:
        needs: list[Need] = []
        groups: dict[tuple[End, str | None], list[Relation]] = {}
        for relation in self._snapshot.outgoing.get(rule, ()):
            kind = relation.kind
            if kind is RelationKind.DEPENDENCY:
                if not self._points_at_itself(relation, rule):
                    needs.append(Need(kind, self._met_by(relation, rule), (relation,)))
            elif kind is RelationKind.DEPENDENCY_ANY and not self._points_at_itself(relation, rule):
                groups.setdefault((relation.source, relation.group), []).append(relation)
        for relations in groups.values():
            gate = self._network.any_of([self._met_by(each, rule) for each in relations])
            needs.append(Need(RelationKind.DEPENDENCY_ANY, gate, tuple(relations)))
        return needs

    def _points_at_itself(self, relation: Relation, rule: RuleId) -> bool:
        """Say whether, through a tag, `rule` would depend on itself alone."""
        target = relation.target
        if isinstance(target, TagEnd):
            return self._snapshot.members(target) == (rule,)
        return target == rule

    def _met_by(self, relation: Relation, rule: RuleId) -> int:
        target = relation.target
        if isinstance(target, TagEnd) and target.tag in self._snapshot.rules[rule].tags:
            return self._gate_target(relation, without=rule)
        gate = self._met.get(id(relation))
        if gate is None:
            gate = self._met[id(relation)] = self._gate_target(relation)
        return gate

    def _gate_target(self, relation: Relation, without: RuleId | None = None) -> int:
        """Return the gate that is true while the target of a dependency meets it."""
        target = relation.target
        lasting = relation.mode is DependencyMode.THIS_SESSION
        if not isinstance(target, TagEnd):
            return self._holds(target, lasting=lasting)
        before = self._confirmed_by_tag.get(target.tag, ()) if lasting else ()
        if not target.every:
            if any(rule != without for rule in before):
                return ALWAYS
            return self._network.any_of(
                self._holds(party.rule.id, lasting=lasting)
                for party in self._by_tag.get(target.tag, ())
                if party.can_be_active and party.rule.id != without
            )
        able = {
            party.rule.id
            for party in self._by_tag.get(target.tag, ())
            if party.can_be_active and party.rule.id != without
        }
        holding = able.union(rule for rule in before if rule != without)
        if not holding or not self._covers(target, frozenset(holding), without):
            return NEVER
        return self._network.all_of(self._holds(rule, lasting=lasting) for rule in sorted(holding))

    def _holds(self, rule: RuleId, *, lasting: bool) -> int:
        if lasting and rule in self._request.confirmed:
            return ALWAYS
        party = self._parties.get(rule)
        if party is None or not party.can_be_active:
            return NEVER
        # A rule that applies is confirmed whenever it is active, so one gate says both.
        return party.confirmed if lasting and party.applies else party.active
