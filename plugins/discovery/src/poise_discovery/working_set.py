"""Decides who leaves the working set: the long unseen first, what matters last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.turn.candidates import Budget
from poise.turn.context import TurnContext
from poise.turn.state import Membership
from poise.values.ids import RuleId
from poise.values.rules import Rule, Weight

_LETTERS_PER_TOKEN = 4


def rules_to_drop(turn: TurnContext, budget: Budget, stale_after: int) -> tuple[RuleId, ...]:
    """Return the members to drop so that the rest fits `budget`, in the order they go.

    What this turn acts on never goes. Then, first to last: rules whose catalog has lost them, the
    one whose last hit or match is longest ago (on equal terms, the one with the smallest margin
    now), and HIGH weight after all others. Beyond the budget, what `stale_after` customer
    messages have neither brought up nor matched goes too, unless its weight is HIGH.
    """
    rules = turn.snapshot.rules
    members = turn.state.working_set
    active = set(turn.resolution.active)
    seen = _last_seen(turn, members)
    margins = {each.rule: each.margin for each in turn.sightings}

    def rank(rule: RuleId) -> tuple[bool, bool, int, float, RuleId]:
        known = rules.get(rule)
        heavy = known is not None and known.weight is Weight.HIGH
        return known is not None, heavy, seen[rule], margins.get(rule, -1e9), rule

    leaving = sorted((rule for rule in members if rule not in active), key=rank)
    horizon = _horizon(turn, stale_after)
    sizes = {rule: tokens_of(rules.get(rule)) for rule in members}
    dropped: list[RuleId] = []
    for rule in leaving:
        fits = len(sizes) <= budget.rules
        fits = fits and (budget.tokens is None or sum(sizes.values()) <= budget.tokens)
        known = rules.get(rule)
        is_stale = seen[rule] < horizon and (known is None or known.weight is not Weight.HIGH)
        if fits and not is_stale:
            # Whoever comes later in the order is either fresher or heavier.
            break
        dropped.append(rule)
        del sizes[rule]
    return tuple(dropped)


def tokens_of(rule: Rule | None) -> int:
    """Return about how many tokens a rule takes in a prompt."""
    return 0 if rule is None else len(rule.text) // _LETTERS_PER_TOKEN + 1


def _last_seen(turn: TurnContext, members: Mapping[RuleId, Membership]) -> dict[RuleId, int]:
    """Return the offset at which each member was last brought up or matched, or one needing it."""
    seen = {
        rule: max(place.last_hit, -1 if place.last_match is None else place.last_match)
        for rule, place in members.items()
    }
    for sighting in turn.sightings:
        if sighting.rule in seen and sighting.is_hit and sighting.query is not None:
            seen[sighting.rule] = max(seen[sighting.rule], sighting.query.offset)
    # What a member depends on is considered with it on every turn: dropping it would save nothing.
    for rule in sorted(members, key=lambda each: -seen[each]):
        waiting = [rule]
        while waiting:
            for needed in turn.snapshot.needed_by(waiting.pop()):
                if needed in seen and seen[needed] < seen[rule]:
                    seen[needed] = seen[rule]
                    waiting.append(needed)
    return seen


def _horizon(turn: TurnContext, messages: int) -> int:
    """Return the offset of the customer's message that many messages ago, or 0."""
    said: Sequence[int] = [
        event.offset for event in turn.history.events if event.is_customer_message
    ]
    return said[-messages] if len(said) >= messages else 0
