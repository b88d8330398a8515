"""The stage *discover*: which rules a turn considers, bounded whatever the catalog's size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from poise.engine.account import Account
from poise.engine.catalogs import NO_INDEX
from poise.engine.fitting import estimate
from poise.engine.parts import Parts
from poise.engine.working_set import budget_of, fits
from poise.turn.candidates import Budget, Candidate, Sighting
from poise.turn.context import TurnContext
from poise.turn.queries import Query
from poise.values.ids import JourneyId, RuleId, Subject
from poise.values.relationships import RelationKind
from poise.values.rules import Rule


async def discover(
    turn: TurnContext,
    queries: Sequence[Query],
    *,
    parts: Parts,
    account: Account,
    iteration: int,
) -> TurnContext:
    """Return the turn with these texts scored and its candidates extended.

    The working set, the best newly sighted rules, what these need, and the rules that bypass
    discovery become candidates; what a full working set has no room for any more does not.
    """
    sightings: Sequence[Sighting] = ()
    if queries and turn.index != NO_INDEX:
        try:
            sightings = _known(await parts.discoverer.discover(turn, queries), turn, account)
        except Exception as exc:
            account.degrade("discovery", exc, "considered only what is in play")
    best = _best(turn.sightings, sightings)
    turn = attrs.evolve(turn, queries=(*turn.queries, *queries), sightings=tuple(best.values()))
    hits = [
        each.rule
        for each in sorted(best.values(), key=lambda each: -each.margin)
        if each.is_hit and not each.over_budget
    ]
    brought_up = {each.rule for each in sightings if each.is_hit and not each.over_budget}
    kept = _kept_members(turn, hits, parts=parts, account=account)
    known = {candidate.rule.id: candidate for candidate in turn.candidates}
    crowded_out = turn.state.working_set.keys() - set(kept) - known.keys()
    if crowded_out:
        # Also one that the new texts bring up again: it keeps its line in the account.
        best = {
            rule: attrs.evolve(each, over_budget=each.is_hit) if rule in crowded_out else each
            for rule, each in best.items()
        }
        hits = [rule for rule in hits if rule not in crowded_out]
        turn = attrs.evolve(turn, sightings=tuple(best.values()))
    snapshot = turn.snapshot
    wanted = snapshot.with_needs(
        (
            *(candidate.rule.id for candidate in turn.candidates),
            *snapshot.bypass,
            *kept,
            *turn.state.awaiting,
            *_in_question(turn),
            *hits,
            *_heads(turn, hits),
        ),
    )
    return _with_candidates(turn, wanted, known, iteration=iteration, brought_up=brought_up)


def guards(turn: TurnContext, iteration: int) -> TurnContext:
    """Return the turn with the rules that guard the tools which active rules offer."""
    known = {candidate.rule.id: candidate for candidate in turn.candidates}
    tools = dict.fromkeys(tool for rule in turn.active_rules for tool in rule.tools)
    guarding = [rule for tool in tools for rule in turn.snapshot.guarded.get(tool, ())]
    if all(rule.id in known for rule in _eligible(turn, guarding)):
        return turn
    wanted = turn.snapshot.with_needs((*known, *guarding))
    return _with_candidates(turn, wanted, known, iteration=iteration)


def _with_candidates(
    turn: TurnContext,
    wanted: Iterable[RuleId],
    known: Mapping[RuleId, Candidate],
    *,
    iteration: int,
    brought_up: Collection[RuleId] = (),
) -> TurnContext:
    best = {each.rule: each for each in turn.sightings}
    found = (
        attrs.evolve(
            known.get(rule.id) or Candidate(rule, iteration=iteration), sighting=best.get(rule.id)
        )
        for rule in _eligible(turn, wanted)
    )
    return attrs.evolve(
        turn,
        candidates=tuple(
            attrs.evolve(each, sighted_in=iteration) if each.rule.id in brought_up else each
            for each in found
        ),
    )


def _in_question(turn: TurnContext) -> Iterable[RuleId]:
    """Yield what the last reply asked the customer to choose between, and why it asked."""
    for head, asked in turn.state.clarifications.items():
        yield head
        for subject, _ in asked.options:
            journey = turn.snapshot.journeys.get(JourneyId(subject))
            yield from journey.triggers if journey is not None else (RuleId(subject),)


def _heads(turn: TurnContext, hits: Sequence[RuleId]) -> Iterable[RuleId]:
    """Yield the observations that tell apart what more than one of `hits` may mean."""
    sighted: dict[RuleId, int] = {}
    for hit in hits:
        subjects: tuple[Subject, ...] = (hit, *turn.snapshot.triggered.get(hit, ()))
        heads = {
            head
            for subject in subjects
            for relation in turn.snapshot.incoming.get(subject, ())
            if relation.kind is RelationKind.DISAMBIGUATION
            for head in turn.snapshot.members(relation.source)
        }
        for head in heads:
            sighted[RuleId(head)] = sighted.get(RuleId(head), 0) + 1
    return sorted(head for head, count in sighted.items() if count > 1)


def _known(
    sightings: Sequence[Sighting], turn: TurnContext, account: Account
) -> Sequence[Sighting]:
    """Return the sightings of rules that the turn's catalog has."""
    known = [each for each in sightings if each.rule in turn.snapshot.rules]
    if len(known) < len(sightings):
        strangers = len(sightings) - len(known)
        account.degrade("discovery", f"{strangers} unknown rules were sighted", "left them out")
    return known


def _best(before: Iterable[Sighting], now: Iterable[Sighting]) -> dict[RuleId, Sighting]:
    """Return the better of the sightings of each rule: a later text never undoes a hit."""
    best = {each.rule: each for each in before}
    for each in now:
        known = best.get(each.rule)
        if known is None or each.margin > known.margin:
            best[each.rule] = each
    return best


def _kept_members(
    turn: TurnContext, hits: Sequence[RuleId], *, parts: Parts, account: Account
) -> tuple[RuleId, ...]:
    """Return the working set, less what must make room for the newly sighted."""
    members = turn.state.working_set
    if not members:
        return ()
    new = [rule for rule in hits if rule not in members]
    budget = budget_of(turn, parts, parts.limits.working_set)
    if fits(turn, (*members, *new), budget):
        return tuple(members)
    taken = sum(estimate(turn.snapshot.rules[rule].text) for rule in new)
    room = Budget(
        max(0, budget.rules - len(new)),
        None if budget.tokens is None else max(0, budget.tokens - taken),
    )
    try:
        dropped = set(parts.discoverer.prune(turn, room))
    except Exception as exc:
        account.degrade("pruning", exc, "kept the whole working set")
        dropped = set()
    return tuple(rule for rule in members if rule not in dropped)


def _eligible(turn: TurnContext, rules: Iterable[RuleId]) -> Iterable[Rule]:
    """Yield the rules that exist, are enabled and are for this customer."""
    groups = turn.customer.groups
    for rule_id in rules:
        rule = turn.snapshot.rules.get(rule_id)
        if rule is not None and rule.enabled and (not rule.groups or rule.groups & groups):
            yield rule
