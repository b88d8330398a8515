"""Decides who leaves the working set: the long unseen first, what matters last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_letters

from poise.turn.candidates import Budget
from poise.turn.context import TurnContext
from poise.turn.state import Membership
from poise.values.ids import JourneyId, RuleId
from poise.values.rules import Rule, Weight

_HUNDREDTHS = ((0x800, 60), (0x10000, 100), (0x110000, 250))
"""Up to a code point, hundredths of a token that a sign takes, plain letters and blanks aside."""

_PLAIN = frozenset(f" {ascii_letters}")
_PLAIN_HUNDREDTHS = 25
_SAFETY = 115  # per cent, since vocabularies differ


def rules_to_drop(
    turn: TurnContext, budget: Budget, *, stale_after: int, passing: float
) -> tuple[RuleId, ...]:
    """Return the members to drop so that the rest fits `budget`, in the order they go.

    What this turn acts on never goes, and neither does what is open: rules for whose sake the
    customer was asked something, what a pending question is about, and rules of which something is
    owed. What is only passing goes in any case: a rule of less than
    HIGH weight that `stale_after` customer messages have neither brought up nor matched, and one
    that this turn alone has brought up, with a probability below `passing`. Then, until the rest
    fits: the one whose last hit or match is longest ago, on equal terms the one with the smallest
    margin now; HIGH weight after all others.
    """
    rules = turn.snapshot.rules
    members = turn.state.working_set
    seen = _last_seen(turn, members)
    now = {each.rule: each for each in turn.sightings}
    horizon = _horizon(turn, stale_after)
    needed = {target for rule in members for target in turn.snapshot.needed_by(rule)}

    def is_heavy(rule: RuleId) -> bool:
        return rule in rules and rules[rule].weight is Weight.HIGH

    def is_passing(rule: RuleId) -> bool:
        if is_heavy(rule) or rule in needed:
            return False
        if rule not in rules or seen[rule] < horizon:
            return True
        place, sighting = members[rule], now.get(rule)
        return (
            place.since >= turn.base
            and place.last_match is None
            and sighting is not None
            and sighting.probability < passing
        )

    def rank(rule: RuleId) -> tuple[bool, bool, int, float, RuleId]:
        sighting = now.get(rule)
        margin = -1e9 if sighting is None else sighting.margin
        return not is_passing(rule), is_heavy(rule), seen[rule], margin, rule

    stays = {*turn.resolution.active, *(rule for rule in _open(turn) if rule in rules)}
    leaving = sorted((rule for rule in members if rule not in stays), key=rank)
    sizes = {rule: tokens_of(rules.get(rule)) for rule in members}
    dropped: list[RuleId] = []
    for rule in leaving:
        fits = len(sizes) <= budget.rules
        fits = fits and (budget.tokens is None or sum(sizes.values()) <= budget.tokens)
        if fits and not is_passing(rule):
            break
        dropped.append(rule)
        del sizes[rule]
    return tuple(dropped)


def tokens_of(rule: Rule | None) -> int:
    """Return about how many tokens a rule takes in a prompt, and never fewer than the engine says.

    So what fits here fits there.
    """
    text = "" if rule is None else rule.text
    hundredths = sum(
        _PLAIN_HUNDREDTHS
        if sign in _PLAIN
        else next(each for upto, each in _HUNDREDTHS if ord(sign) < upto)
        for sign in text
    )
    return -(-hundredths * _SAFETY // 10_000)


def _open(turn: TurnContext) -> Iterator[RuleId]:
    """Yield the rules that an answer of the customer, or a coming reply, is still to be about."""
    state = turn.state
    yield from state.awaiting
    yield from state.partly
    for head, asked in state.clarifications.items():
        yield head
        for subject, _as_said in asked.options:
            journey = turn.snapshot.journeys.get(JourneyId(subject))
            yield from journey.triggers if journey is not None else (RuleId(subject),)


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
