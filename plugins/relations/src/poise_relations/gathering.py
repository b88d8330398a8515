"""Who takes part in a resolution: the candidates, and whatever an active subject could imply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject
from poise.values.journeys import Journey
from poise.values.relationships import Relation, RelationKind, TagEnd
from poise.values.rules import Rule
from poise_relations.parties import Party


def parties_of(request: ResolutionRequest) -> Mapping[Subject, Party]:
    """Return everything that takes part, by id and in the order of ids."""
    parties: dict[Subject, Party] = {}
    _add_rules(request, parties)
    _add_journeys(request, parties)
    waiting = [each for each in parties.values() if each.is_given and not each.asks]
    for party in waiting:
        party.can_be_active = True
    through_tags: set[int] = set()
    while waiting:
        source = waiting.pop()
        for party in _implied(source, request, parties, through_tags):
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
    source: Party,
    request: ResolutionRequest,
    parties: dict[Subject, Party],
    through_tags: set[int],
) -> Iterable[Party]:
    """Yield what `source` could imply; add whatever it would imply, had it not been applied.

    What one carrier of a tag could imply through it, the others could too: these are remembered in
    `through_tags` and followed once.
    """
    snapshot = request.snapshot
    for relation in snapshot.outgoing.get(source.id, ()):
        if relation.kind is not RelationKind.ENTAILMENT:
            continue
        if isinstance(relation.source, TagEnd):
            if id(relation) in through_tags:
                continue
            through_tags.add(id(relation))
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
