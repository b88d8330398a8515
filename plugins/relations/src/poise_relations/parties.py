"""Who takes part in a resolution: the candidates, and whatever an active rule could imply."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import RuleId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_relations.network import NEVER

_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})
_OPEN = frozenset({VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS})


@attrs.frozen
class Edge:
    """What may act on a rule: the rules at its source that could be active, and their gate."""

    sources: tuple[RuleId, ...]
    gate: int


@attrs.frozen
class Need:
    """Something that a rule can't be active without.

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
    """A rule that takes part, with the gates and edges that `grounding` gives it.

    Attributes:
        rule: The rule.
        verdict: Its verdict; `None` where it is shown unjudged, or no candidate.
        is_candidate: Whether this turn considers it; otherwise it could only be implied.
        can_be_active: Whether it applies, or something could imply it.
        active: Gate of *active*.
        wanted: Gate of: applies, or an active rule implies it.
        excluded: Gate of: an active rule excludes it.
        outranked: Gate of: an active rule outranks it.
        confirmed: Gate of: judged to apply, and not excluded.
        implied_by: What could imply it.
        hushed_by: What would imply it, had it not been applied already.
        excluded_by: What could exclude it.
        outranked_by: What could outrank it.
        needs: What it depends on.
    """

    rule: Rule
    verdict: Verdict | None
    is_candidate: bool
    can_be_active: bool = False
    active: int = NEVER
    wanted: int = NEVER
    excluded: int = NEVER
    outranked: int = NEVER
    confirmed: int = NEVER
    implied_by: list[Edge] = attrs.field(factory=list)
    hushed_by: list[Edge] = attrs.field(factory=list)
    excluded_by: list[Edge] = attrs.field(factory=list)
    outranked_by: list[Edge] = attrs.field(factory=list)
    needs: list[Need] = attrs.field(factory=list)

    @property
    def applies(self) -> bool:
        """Whether the rule was judged to apply, wholly or in part."""
        return self.verdict is not None and self.verdict.kind in _APPLYING and self.rule.enabled

    @property
    def is_open(self) -> bool:
        """Whether the rule is shown as one that may apply, so that it can be set aside."""
        return self.is_candidate and (self.verdict is None or self.verdict.kind in _OPEN)


def parties_of(request: ResolutionRequest) -> Mapping[RuleId, Party]:
    """Return everything that takes part, by id and in the order of ids."""
    snapshot = request.snapshot
    parties: dict[RuleId, Party] = {}
    for candidate in (*request.verdicts, *request.shown):
        rule = snapshot.rules.get(candidate)
        if rule is not None and candidate not in parties:
            parties[candidate] = Party(rule, request.verdicts.get(candidate), is_candidate=True)
    waiting: list[Party] = []
    for party in parties.values():
        if party.applies:
            party.can_be_active = True
            waiting.append(party)
    while waiting:
        source = waiting.pop().rule.id
        for relation in snapshot.outgoing.get(source, ()):
            if relation.kind is not RelationKind.ENTAILMENT:
                continue
            for target in snapshot.members(relation.target):
                party = parties.get(target) or Party(
                    snapshot.rules[target], None, is_candidate=False
                )
                if target == source or not can_be_implied(party, request):
                    continue
                parties[target] = party
                if not party.can_be_active and may_imply(relation, party, request):
                    party.can_be_active = True
                    waiting.append(party)
    return dict(sorted(parties.items()))


def can_be_implied(party: Party, request: ResolutionRequest) -> bool:
    """Say whether any relation could imply the rule, however often it was applied."""
    groups = party.rule.groups
    if not party.rule.enabled or (groups and not groups & request.groups):
        return False
    verdict = party.verdict
    return verdict is None or not (verdict.from_code and verdict.kind is VerdictKind.DOES_NOT)


def may_imply(relation: Relation, party: Party, request: ResolutionRequest) -> bool:
    """Say whether `relation` may imply a rule that can be implied: not if it has gone quiet."""
    return relation.always or not _is_quiet(party, request)


def _is_quiet(party: Party, request: ResolutionRequest) -> bool:
    rule = party.rule
    if party.verdict is not None and party.verdict.kind is VerdictKind.ALREADY_APPLIED:
        return True
    if rule.id not in request.applied or not rule.track:
        return False
    if rule.continuous is None:
        annotation = request.snapshot.annotations.get(rule.id)
        return annotation is None or not annotation.continuous
    return not rule.continuous
