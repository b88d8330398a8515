"""Who takes part in a resolution: the candidates, and whatever an active subject could imply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject, TagId
from poise.values.journeys import Journey
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_relations.network import NEVER

_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})
_OPEN = frozenset({VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS})


@attrs.frozen(eq=False)
class Edge:
    """What may act on a subject: those at its source that could be active, and their gate.

    The sources are shared by all that the edge acts on, so they may hold the subject itself; the
    gate never does, but for an implication.
    """

    sources: tuple[Subject, ...]
    gate: int


@attrs.frozen
class Need:
    """Something that a subject can't be active without.

    Attributes:
        kind: DEPENDENCY, or DEPENDENCY_ANY for one group.
        gate: True while the need is met.
        relations: The one relation, or all of the group.
    """

    kind: RelationKind
    gate: int
    relations: tuple[Relation, ...]


@attrs.define(eq=False)
class Party:
    """A rule, journey or node that takes part, with the gates and edges that `ground` gives it.

    Attributes:
        id: Of the subject.
        tags: That the subject carries itself.
        enabled: Whether it is switched on; a node is where its journey is.
        rule: The rule; `None` for journeys and nodes.
        verdict: On the rule; `None` where it is shown unjudged, or no candidate.
        journey: Of a node, the journey that it is a step of.
        nodes: Of a journey, those in play.
        rank: Within which `priority` competes.
        priority: See `rank`.
        is_candidate: Whether this turn considers it; otherwise it could only be implied.
        can_be_active: Whether it applies, is under way or in play, or something could imply it.
        stands: Gate of: wanted, and nothing sets it aside.
        active: Gate of *active*: that it stands, but for a rule that asks what is meant.
        wanted: Gate of: applies, asks, is under way, or something active implies it.
        excluded: Gate of: something active excludes it.
        in_question: Gate of: a rule asks whether it is this one that is meant.
        outranked: Gate of: something active outranks it.
        lower: Gate of: something active has a higher priority within its rank.
        confirmed: Gate of: judged to apply, and not excluded.
        implied_by: What could imply it.
        triggered_by: What could imply a journey as one of its triggers.
        hushed_by: What would imply it, had it not been applied already.
        excluded_by: What could exclude it.
        questioned_by: What could ask whether it is this one that is meant.
        outranked_by: What could outrank it.
        lower_than: What could be active within its rank.
        needs: What it depends on.
    """

    id: Subject
    tags: frozenset[TagId]
    enabled: bool
    rule: Rule | None = None
    verdict: Verdict | None = None
    journey: Party | None = None
    nodes: list[Party] = attrs.field(factory=list)
    rank: str | None = None
    priority: int = 0
    is_candidate: bool = True
    can_be_active: bool = False
    stands: int = NEVER
    active: int = NEVER
    wanted: int = NEVER
    excluded: int = NEVER
    in_question: int = NEVER
    outranked: int = NEVER
    lower: int = NEVER
    confirmed: int = NEVER
    implied_by: list[Edge] = attrs.field(factory=list)
    triggered_by: list[Edge] = attrs.field(factory=list)
    hushed_by: list[Edge] = attrs.field(factory=list)
    excluded_by: list[Edge] = attrs.field(factory=list)
    questioned_by: list[Edge] = attrs.field(factory=list)
    outranked_by: list[Edge] = attrs.field(factory=list)
    lower_than: list[Edge] = attrs.field(factory=list)
    needs: list[Need] = attrs.field(factory=list)

    @property
    def applies(self) -> bool:
        """Whether it is a rule that was judged to apply, wholly or in part."""
        return self.verdict is not None and self.verdict.kind in _APPLYING and self.enabled

    @property
    def asks(self) -> bool:
        """Whether it is a rule that was judged to leave open what is meant.

        Such a rule is never active, not even where it is implied: its question is still open.
        """
        verdict = self.verdict
        return verdict is not None and verdict.kind is VerdictKind.AMBIGUOUS and self.enabled

    @property
    def is_given(self) -> bool:
        """Whether it is wanted without being implied."""
        if self.rule is None:
            return self.is_candidate and self.enabled
        return self.applies or self.asks

    @property
    def is_open(self) -> bool:
        """Whether it is a rule shown as one that may apply, so that it can be set aside."""
        return (
            self.rule is not None
            and self.is_candidate
            and (self.verdict is None or self.verdict.kind in _OPEN)
        )


def parties_of(request: ResolutionRequest) -> Mapping[Subject, Party]:
    """Return everything that takes part, by id and in the order of ids."""
    parties: dict[Subject, Party] = {}
    _add_rules(request, parties)
    _add_journeys(request, parties)
    waiting = [each for each in parties.values() if each.is_given and not each.asks]
    for party in waiting:
        party.can_be_active = True
    while waiting:
        source = waiting.pop()
        for party in _implied(source, request, parties):
            if not party.can_be_active:
                party.can_be_active = True
                waiting.append(party)
    return dict(sorted(parties.items()))


def _add_rules(request: ResolutionRequest, parties: dict[Subject, Party]) -> None:
    known = request.snapshot.rules
    for candidate in (*request.verdicts, *request.shown):
        rule = known.get(candidate)
        if rule is not None and candidate not in parties:
            parties[candidate] = _of_rule(rule, request.verdicts.get(candidate))


def _add_journeys(request: ResolutionRequest, parties: dict[Subject, Party]) -> None:
    """Add the journeys under way, and the nodes in play, which put theirs under way."""
    snapshot = request.snapshot
    by_journey: dict[JourneyId, set[NodeId]] = {
        journey: set() for journey in request.journeys if journey in snapshot.journeys
    }
    for node in request.nodes:
        owner = snapshot.journey_of.get(node)
        if owner is not None:
            by_journey.setdefault(owner, set()).add(node)
    for id_, in_play in by_journey.items():
        journey = snapshot.journeys[id_]
        party = parties[id_] = _of_journey(journey)
        if in_play:
            for step in journey.nodes:
                if step.id in in_play:
                    parties[step.id] = Party(step.id, step.tags, journey.enabled, journey=party)
                    party.nodes.append(parties[step.id])


def _implied(
    source: Party, request: ResolutionRequest, parties: dict[Subject, Party]
) -> Iterable[Party]:
    """Yield what `source` could imply; add whatever it would imply, had it not been applied."""
    snapshot = request.snapshot
    for relation in snapshot.outgoing.get(source.id, ()):
        if relation.kind is not RelationKind.ENTAILMENT:
            continue
        for target in snapshot.members(relation.target):
            party = parties.get(target) or _bystander(target, snapshot)
            if party is None or party is source or not can_be_implied(party, request):
                continue
            parties[target] = party
            if may_imply(relation, party, request):
                yield party
    if source.rule is not None:
        for journey in snapshot.triggered.get(source.rule.id, ()):
            party = parties.get(journey) or _bystander(journey, snapshot)
            if party is not None and party.enabled:
                parties[journey] = party
                yield party


def _bystander(subject: Subject, snapshot: CatalogSnapshot) -> Party | None:
    """Return a party for what is no candidate; `None` for a node, which nothing implies."""
    rule = snapshot.rules.get(RuleId(subject))
    if rule is not None:
        return _of_rule(rule, None, is_candidate=False)
    journey = snapshot.journeys.get(JourneyId(subject))
    return None if journey is None else _of_journey(journey, is_candidate=False)


def _of_rule(rule: Rule, verdict: Verdict | None, *, is_candidate: bool = True) -> Party:
    return Party(
        rule.id,
        rule.tags,
        rule.enabled,
        rule,
        verdict,
        rank=rule.rank,
        priority=rule.priority,
        is_candidate=is_candidate,
    )


def _of_journey(journey: Journey, *, is_candidate: bool = True) -> Party:
    return Party(
        journey.id,
        journey.tags,
        journey.enabled,
        rank=journey.rank,
        priority=journey.priority,
        is_candidate=is_candidate,
    )


def can_be_implied(party: Party, request: ResolutionRequest) -> bool:
    """Say whether any relation could imply it, however often it was applied."""
    if not party.enabled or party.journey is not None or party.asks:
        return False
    if party.rule is None:
        return True
    groups = party.rule.groups
    if groups and not groups & request.groups:
        return False
    verdict = party.verdict
    return verdict is None or not (verdict.from_code and verdict.kind is VerdictKind.DOES_NOT)


def may_imply(relation: Relation, party: Party, request: ResolutionRequest) -> bool:
    """Say whether `relation` may imply what can be implied: not if it has gone quiet."""
    return relation.always or not _is_quiet(party, request)


def _is_quiet(party: Party, request: ResolutionRequest) -> bool:
    rule = party.rule
    if rule is None:
        return False
    if party.verdict is not None and party.verdict.kind is VerdictKind.ALREADY_APPLIED:
        return True
    if rule.id not in request.applied or not rule.track:
        return False
    if rule.continuous is None:
        annotation = request.snapshot.annotations.get(rule.id)
        return annotation is None or not annotation.continuous
    return not rule.continuous
