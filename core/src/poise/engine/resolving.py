"""The stage *resolve*: what the relations make of the verdicts, and of the reply's strictness."""

from __future__ import annotations

import attrs

from poise.engine.account import Account
from poise.engine.parts import Parts
from poise.turn.context import TurnContext
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import JourneyId, Subject
from poise.values.rules import Rule

_PLAIN_FATES = {
    VerdictKind.APPLIES: Fate.MATCHED,
    VerdictKind.PARTLY_APPLIED: Fate.MATCHED,
    VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
    VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
    VerdictKind.AMBIGUOUS: Fate.AMBIGUOUS,
    VerdictKind.UNDECIDED: Fate.UNDECIDED,
}


def resolve(turn: TurnContext, *, parts: Parts, account: Account) -> TurnContext:
    """Return the turn with every candidate's fate, and its composition mode raised accordingly."""
    verdicts = {verdict.rule: verdict for verdict in turn.verdicts}
    shown = frozenset(each.rule.id for each in turn.candidates if each.rule.id not in verdicts)
    try:
        resolution = parts.resolver.resolve(
            ResolutionRequest(
                snapshot=turn.snapshot,
                verdicts=verdicts,
                shown=shown,
                confirmed=frozenset(turn.state.confirmed),
                applied=frozenset(turn.state.applied),
                groups=turn.customer.groups,
                transient=turn.transient,
            )
        )
    except Exception as exc:
        account.degrade("resolver", exc, "acted only on rules without relations")
        resolution = _without_relations(turn)
    turn = attrs.evolve(turn, resolution=_quieted(resolution, turn))
    mode, set_by = turn.agent.composition_mode, "agent"
    for rule in turn.active_rules:
        if rule.composition_mode is not None and rule.composition_mode > mode:
            mode, set_by = rule.composition_mode, rule.name
    for subject in turn.resolution.active:
        journey = turn.snapshot.journeys.get(JourneyId(subject))
        if journey is not None and (journey.composition_mode or mode) > mode:
            mode, set_by = journey.composition_mode or mode, journey.name
    return attrs.evolve(turn, mode=mode, mode_set_by=set_by)


def _quieted(resolution: Resolution, turn: TurnContext) -> Resolution:
    """Return the resolution with the unjudged rules set aside that were carried out already.

    A one-time action goes quiet until something new brings its rule up; nobody need be asked
    about that.
    """
    done = {
        each.rule.id
        for each in turn.candidates
        if each.rule.id in turn.state.applied and not each.sighted_in and _is_once(each.rule, turn)
    }
    outcomes = {
        subject: attrs.evolve(outcome, fate=Fate.ALREADY_APPLIED)
        if outcome.fate is Fate.IN_CONTEXT and subject in done
        else outcome
        for subject, outcome in resolution.outcomes.items()
    }
    return Resolution(outcomes) if done else resolution


def _is_once(rule: Rule, turn: TurnContext) -> bool:
    if rule.continuous is not None:
        return rule.track and not rule.continuous
    annotation = turn.snapshot.annotations.get(rule.id)
    return rule.track and not (annotation is not None and annotation.continuous)


def _without_relations(turn: TurnContext) -> Resolution:
    """Return the fates that need no relation; whatever has one stays a conflict, and inactive."""
    outcomes: dict[Subject, Outcome] = {
        each.rule.id: Outcome(each.rule.id, Fate.IN_CONTEXT) for each in turn.candidates
    }
    for verdict in turn.verdicts:
        related = turn.snapshot.outgoing.get(verdict.rule) or turn.snapshot.incoming.get(
            verdict.rule
        )
        fate = Fate.CONFLICT if related else _PLAIN_FATES[verdict.kind]
        outcomes[verdict.rule] = Outcome(verdict.rule, fate)
    return Resolution(outcomes)
