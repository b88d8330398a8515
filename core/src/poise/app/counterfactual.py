"""The smallest change of one thing after which a rule would have been matched.

A turn's account holds enough to settle its relations once more. A change of one verdict, of one
dependency or of one relation is made to what the resolver was asked, the resolver is asked again,
and only what really has the rule matched is told. The nearest changes are tried first: the rule
itself, then whatever is the cause of its fate, then the causes of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

import attrs

from poise.app.explain import Explanation
from poise.ports.matching import Resolver
from poise.turn.fates import DerivedFate, Fate, Resolution, ResolutionRequest
from poise.turn.ledger import Ledger, LedgerLine
from poise.turn.state import SessionState
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.compilation import adjacency
from poise.values.ids import GroupId, JourneyId, NodeId, RuleId, Subject
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd

MOST_TRIED = 200
"""Resolutions that one answer may take."""

_BLOCKED = frozenset({Fate.OUTRANKED, Fate.EXCLUDED, Fate.LOWER_PRIORITY, Fate.AMBIGUOUS})
_LACKING = frozenset({Fate.UNMET_DEPENDENCY_ALL, Fate.UNMET_DEPENDENCY_ANY})
_NEEDS = frozenset({RelationKind.DEPENDENCY, RelationKind.DEPENDENCY_ANY})
_HURTS = frozenset({RelationKind.PRIORITY, RelationKind.EXCLUSION, RelationKind.DISAMBIGUATION})


def what_if(
    rule: RuleId,
    explanation: Explanation,
    request: ResolutionRequest,
    resolver: Resolver,
) -> tuple[str, ...]:
    """Return what would have had a rule matched, a sentence each, nearest first.

    Args:
        rule: A rule of the catalog.
        explanation: Why it had its fate on the turn.
        request: What the resolver was asked then.
        resolver: Who answered.
    """
    if explanation.fate in (Fate.MATCHED.value, Fate.IMPLIED.value):
        return ()
    came_up = rule in request.verdicts or rule in request.shown
    if not came_up:
        return _had_it_come_up(explanation)
    changes = changes_for(rule, request, resolver)
    if changes:
        return tuple(f"It would have been matched {each.sentence}." for each in changes)
    return (f"No single change would have had it matched{_beside(rule, request, resolver)}.",)


def _beside(rule: RuleId, request: ResolutionRequest, resolver: Resolver) -> str:
    """Return what stands in the way of a rule that no single change helps."""
    supposed = next(_of_verdict(rule, request, own=True), None)
    if supposed is None:
        names = ", ".join(standing_in_the_way(rule, request, resolver))
        return f"; what stands in the way: {names}" if names else ""
    outcome = resolver.resolve(supposed.request).outcomes.get(rule)
    if outcome is None or outcome.fate is Fate.MATCHED:
        return ""
    fate = outcome.fate.value.replace("_", " ")
    names = ", ".join(repr(request.snapshot.name_of(each)) for each in outcome.causes)
    told = f": had it been judged to apply, its fate would have been {fate!r}"
    return f"{told} because of {names}" if names else told


def _had_it_come_up(explanation: Explanation) -> tuple[str, ...]:
    """Return what would have made it a candidate; whether it applied nobody was asked."""
    score, threshold = (explanation.figures.get(each) for each in ("score", "threshold"))
    then = "it would have been considered, and matched if then judged to apply."
    if explanation.fate == Fate.OVER_BUDGET.value:
        return (f"Had more rules been allowed to join on one turn (matching.admit_limit), {then}",)
    if (
        explanation.fate in (DerivedFate.NOT_DISCOVERED.value, DerivedFate.PRUNED.value)
        and score is not None
        and threshold is not None
        and score < threshold
    ):
        return (f"Had its threshold been {score:.3f} instead of {threshold:.3f}, {then}",)
    return ()


@attrs.frozen
class Change:
    """One change after which the rule is matched.

    Attributes:
        sentence: What would have been different, as in *had it applied*.
        request: What the resolver would have been asked then.
    """

    sentence: str
    request: ResolutionRequest = attrs.field(repr=False)


def request_behind(
    ledger: Ledger, snapshot: CatalogSnapshot, before: SessionState, groups: frozenset[GroupId]
) -> ResolutionRequest:
    """Return what the resolver was asked on a recorded turn, as far as the account tells.

    Args:
        ledger: The turn's account.
        snapshot: The catalog.
        before: The session's state when the turn began.
        groups: The customer's.
    """
    verdicts: dict[RuleId, Verdict] = {}
    shown: set[RuleId] = set()
    for line in ledger.lines:
        rule = RuleId(line.subject)
        if rule not in snapshot.rules or line.fate == Fate.OVER_BUDGET.value:
            continue
        if line.verdict is not None:
            verdicts[rule] = _verdict(rule, line, ledger)
        elif line.relation not in ("entailment", "trigger"):
            shown.add(rule)
    journeys = {each.subject for each in ledger.lines if each.kind == "journey"}
    started = {each.subject for each in ledger.lines if each.relation == "trigger"}
    return ResolutionRequest(
        snapshot,
        verdicts,
        frozenset(shown),
        frozenset(before.confirmed),
        frozenset(before.applied),
        groups,
        journeys=frozenset(JourneyId(each) for each in journeys - started),
        nodes=frozenset(NodeId(each.subject) for each in ledger.lines if each.kind == "node"),
    )


def _verdict(rule: RuleId, line: LedgerLine, ledger: Ledger) -> Verdict:
    options = next((each.options for each in ledger.clarifications if each.head == rule), ())
    try:
        kind = VerdictKind(line.verdict)
    except ValueError:  # of a newer version
        kind = VerdictKind.UNDECIDED
    judge = line.judged_by or "nobody"
    return Verdict(
        rule,
        kind,
        judge,
        line.probability,
        among=tuple(RuleId(each.subject) for each in options),
        from_code=judge.startswith(("code/", "always")),
    )


def changes_for(
    rule: RuleId, request: ResolutionRequest, resolver: Resolver, *, most: int = 3
) -> tuple[Change, ...]:
    """Return single changes after which `rule` is matched, the nearest first; empty if none does.

    Args:
        rule: A rule of the catalog.
        request: What the resolver was asked.
        resolver: Who answered.
        most: How many changes to return.
    """
    resolution = resolver.resolve(request)
    if resolution.fate_of(rule) is Fate.MATCHED:
        return ()
    found: list[Change] = []
    for tried, change in enumerate(_candidates(rule, request, resolution)):
        if tried >= MOST_TRIED or len(found) >= most:
            break
        if resolver.resolve(change.request).fate_of(rule) is Fate.MATCHED:
            found.append(change)
    return tuple(found)


def standing_in_the_way(
    rule: RuleId, request: ResolutionRequest, resolver: Resolver
) -> Sequence[str]:
    """Return the names of what a rule's fate rests on, nearest first, itself left out."""
    resolution = resolver.resolve(request)
    chain = _chain(rule, resolution)
    return [repr(request.snapshot.name_of(each)) for each in chain if each != rule]


def _candidates(
    rule: RuleId, request: ResolutionRequest, resolution: Resolution
) -> Iterator[Change]:
    """Yield changes to try: of the rule itself, then along the chain of causes."""
    yield from _of_verdict(rule, request, own=True)
    for subject in _chain(rule, resolution):
        outcome = resolution.outcomes.get(subject)
        fate = outcome.fate if outcome is not None else None
        causes = outcome.causes if outcome is not None else ()
        if fate in _BLOCKED:
            for cause in causes:
                yield from _had_not_applied(cause, request)
            yield from _without_relations(subject, causes, request, _HURTS)
            if fate is Fate.LOWER_PRIORITY:
                yield from _without_rank(subject, request)
        elif fate in _LACKING:
            for cause in causes:
                yield from _of_verdict(cause, request, own=False)
            yield from _remembered(subject, request)
            yield from _without_relations(subject, causes, request, _NEEDS)
        elif fate is Fate.CONFLICT:
            for cause in causes:
                yield from _had_not_applied(cause, request)
            for cause in causes:
                yield from _without_relations(cause, causes, request, _HURTS | _NEEDS)
        elif subject != rule:
            yield from _of_verdict(subject, request, own=False)


def _chain(rule: RuleId, resolution: Resolution) -> Sequence[Subject]:
    """Return the rule and the causes of its fate, each once, nearest first."""
    found: dict[Subject, None] = {rule: None}
    waiting: list[Subject] = [rule]
    while waiting:
        outcome = resolution.outcomes.get(waiting.pop(0))
        for cause in outcome.causes if outcome is not None else ():
            if cause not in found:
                found[cause] = None
                waiting.append(cause)
    return list(found)


def _of_verdict(subject: Subject, request: ResolutionRequest, *, own: bool) -> Iterator[Change]:
    rule = RuleId(subject)
    if rule not in request.snapshot.rules:
        return
    known = request.verdicts.get(rule)
    if known is not None and known.kind is VerdictKind.APPLIES:
        return
    verdicts = {**request.verdicts, rule: Verdict(rule, VerdictKind.APPLIES, "supposed")}
    changed = attrs.evolve(request, verdicts=verdicts, shown=request.shown - {rule})
    name = repr(request.snapshot.name_of(rule))
    yield Change("had it been judged to apply" if own else f"had {name} applied", changed)


def _had_not_applied(subject: Subject, request: ResolutionRequest) -> Iterator[Change]:
    rule, name = RuleId(subject), repr(request.snapshot.name_of(subject))
    if rule in request.verdicts:
        verdict = Verdict(rule, VerdictKind.DOES_NOT, "supposed")
        changed = attrs.evolve(request, verdicts={**request.verdicts, rule: verdict})
        yield Change(f"had {name} not applied", changed)
    elif subject in request.journeys or subject in request.nodes:
        nodes = (node for node in request.nodes if request.snapshot.journey_of.get(node) != subject)
        changed = attrs.evolve(
            request, journeys=request.journeys - {JourneyId(subject)}, nodes=frozenset(nodes)
        )
        yield Change(f"had {name} not been under way", changed)


def _remembered(subject: Subject, request: ResolutionRequest) -> Iterator[Change]:
    """Yield what follows if a dependency of this turn were one of the session."""
    for relation in request.snapshot.outgoing.get(subject, ()):
        if relation.kind in _NEEDS and relation.mode is DependencyMode.THIS_TURN:
            lasting = attrs.evolve(relation, mode=DependencyMode.THIS_SESSION)
            target = _end_name(relation, request)
            yield Change(
                f"had its dependency on {target} been one of the session, not of this turn",
                _with_relations(request, {relation: lasting}),
            )


def _without_relations(
    subject: Subject,
    causes: Sequence[Subject],
    request: ResolutionRequest,
    kinds: Iterable[RelationKind],
) -> Iterator[Change]:
    """Yield what follows without one relation between a subject and a cause of its fate."""
    snapshot = request.snapshot
    ends = {*causes, *(snapshot.journey_of.get(NodeId(each), each) for each in causes)}
    for relation in (*snapshot.outgoing.get(subject, ()), *snapshot.incoming.get(subject, ())):
        others = {*snapshot.members(relation.source), *snapshot.members(relation.target)}
        # A dependency on nobody has no cause to name.
        touches = bool(others & ends) or relation.kind in _NEEDS
        if relation.kind in kinds and touches:
            source = repr(_name(relation.source, request))
            yield Change(
                f"without the {relation.kind.value.replace('_', ' ')} of {source} over "
                f"{_end_name(relation, request)}"
                if relation.kind in _HURTS
                else f"without the dependency of {source} on {_end_name(relation, request)}",
                _with_relations(request, {relation: None}),
            )


def _without_rank(subject: Subject, request: ResolutionRequest) -> Iterator[Change]:
    rule = request.snapshot.rules.get(RuleId(subject))
    if rule is not None and rule.rank is not None:
        rules = {**request.snapshot.rules, rule.id: attrs.evolve(rule, rank=None)}
        snapshot = attrs.evolve(request.snapshot, rules=MappingProxyType(rules))
        name = repr(rule.name)
        yield Change(
            f"had {name} not been in the rank {rule.rank!r}",
            attrs.evolve(request, snapshot=snapshot),
        )


def _with_relations(
    request: ResolutionRequest, changed: dict[Relation, Relation | None]
) -> ResolutionRequest:
    """Return the request with some relations replaced, or left out."""
    snapshot = request.snapshot
    kept = (changed.get(each, each) for each in snapshot.relations)
    relations = tuple(each for each in kept if each is not None)
    outgoing, incoming = adjacency(relations, snapshot.carriers)
    return attrs.evolve(
        request,
        snapshot=attrs.evolve(snapshot, relations=relations, outgoing=outgoing, incoming=incoming),
    )


def _end_name(relation: Relation, request: ResolutionRequest) -> str:
    return repr(_name(relation.target, request))


def _name(end: End, request: ResolutionRequest) -> str:
    if isinstance(end, str):
        return request.snapshot.name_of(end)
    carriers = [request.snapshot.name_of(each) for each in request.snapshot.members(end)]
    word = "all" if isinstance(end, TagEnd) and end.every else "any"
    return f"{word} of: {', '.join(carriers)}" if carriers else "nobody"
