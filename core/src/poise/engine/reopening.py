"""What a tool's result can change: the verdicts that are asked for again, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.tooling import ToolOutcome
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.ids import RuleId, ToolId
from poise.values.relationships import RelationKind
from poise.values.rules import ALWAYS

_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})


def reopened(turn: TurnContext, fresh: Sequence[ToolOutcome], iteration: int) -> TurnContext:
    """Return the turn without the verdicts that new results may have made wrong.

    These are the verdicts on rules that are declared to be judged again after one of these tools,
    and on rules that the results themselves brought up, but for whoever had the tool called: that
    its result speaks of what it is about is no news.

    Args:
        turn: With this iteration's sightings.
        fresh: The outcomes since rules were last judged.
        iteration: The running one.
    """
    if not fresh or not turn.verdicts:
        return turn
    tools = {outcome.call.tool for outcome in fresh}
    callers = {rule for each in turn.offered if each.tool.id in tools for rule in each.offered_by}
    return without_verdicts(
        turn,
        (
            candidate.rule.id
            for candidate in turn.candidates
            if _waits_for(turn, candidate, tools)
            or (candidate.sighted_in == iteration and candidate.rule.id not in callers)
        ),
    )


def after_changes(turn: TurnContext, before: Sequence[Verdict]) -> TurnContext:
    """Return the turn without the verdicts on rules that depend on one whose verdict changed.

    Args:
        turn: With the new verdicts.
        before: The verdicts that had been reopened.
    """
    now = {verdict.rule: verdict.kind in _APPLYING for verdict in turn.verdicts}
    changed = {
        each.rule
        for each in before
        if each.rule in now and now[each.rule] != (each.kind in _APPLYING)
    }
    again = {each.rule for each in before}
    dependents = {dependent for rule in changed for dependent in turn.snapshot.dependents_of(rule)}
    return without_verdicts(turn, dependents - again)


def without_verdicts(turn: TurnContext, rules: Iterable[RuleId]) -> TurnContext:
    """Return the turn as if nobody had judged these rules; what always applies stays judged."""
    leaving = {
        rule for rule in rules if rule in turn.snapshot.rules and not _is_constant(turn, rule)
    }
    kept = tuple(verdict for verdict in turn.verdicts if verdict.rule not in leaving)
    return turn if len(kept) == len(turn.verdicts) else attrs.evolve(turn, verdicts=kept)


def _is_constant(turn: TurnContext, rule: RuleId) -> bool:
    return turn.snapshot.rules[rule].matcher == ALWAYS


def _waits_for(turn: TurnContext, candidate: Candidate, tools: set[ToolId]) -> bool:
    return any(
        relation.kind is RelationKind.REEVALUATION and relation.target in tools
        for relation in turn.snapshot.outgoing.get(candidate.rule.id, ())
    )
