"""Who gets what: which parameter each reading of an exchange belongs to, or nobody.

A claim is ranked by what supports it: the parameter's own words beside the value, then the agent
having just asked for it, then a form that says what it is, then a currency or a verb of paying
beside an amount, then merely being the only candidate.
Where two parameters claim one place equally well, or one parameter is left with two values, the
place or the parameter stays open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum

import attrs

from poise.values.tools import Parameter, ParameterKind
from poise_tools.conversation import Passage
from poise_tools.evidence import MONEY_VERBS, distance_to, is_money, own_words
from poise_tools.readings import Reading, overlaps

_NEAR = 80  # characters between two values that an `or` can join

_OR = re.compile(r"^[^.!?;\n]*\bor\b[^.!?;\n]*$", re.IGNORECASE)
_CORRECTION = re.compile(
    r"\b(?:no|sorry|actually|i meant|i mean|make (?:it|that)|instead|correction|rather|oops)\b",
    re.IGNORECASE,
)


class Support(IntEnum):
    """What a claim rests on; the lower is the stronger."""

    NAMED = 0
    ASKED = 1
    FORM = 2
    LIKELY = 3
    ALONE = 4


@attrs.frozen
class Wanted:
    """A parameter to be filled from one exchange, and what can be read for it there.

    Attributes:
        parameter: The parameter.
        readings: Per passage, each in order.
        is_asked: Whether the agent had just asked for it.
    """

    parameter: Parameter
    readings: tuple[tuple[Reading, ...], ...]
    is_asked: bool = False


@attrs.frozen
class Claim:
    """One reading that a parameter could take."""

    name: str
    place: int
    reading: Reading
    support: Support
    distance: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """How well it is supported; the lower is the better."""
        return (self.support, self.distance)

    @property
    def tier(self) -> Support:
        """How well it stands against other values of the same parameter.

        What is known by its form stands as well as what is named: `ORD-1 or order ORD-2`.
        """
        if self.reading.decisive:
            return Support.NAMED
        return self.support if self.support < Support.FORM else Support.ALONE

    def contests(self, other: Claim) -> bool:
        """Say whether both want the same place, for different parameters."""
        return (
            self.name != other.name
            and self.place == other.place
            and overlaps(self.reading.core, (other.reading.core,))
        )


@attrs.frozen
class Assignment:
    """What an exchange settles.

    Attributes:
        taken: By parameter, the claims it holds: one, or for a list one per element.
        open: Parameters that the exchange speaks of without settling on a value.
    """

    taken: Mapping[str, tuple[Claim, ...]]
    open: frozenset[str]


def assign(wanted: Sequence[Wanted], passages: Sequence[Passage], *, is_linked: bool) -> Assignment:
    """Return which parameter takes which reading.

    Args:
        wanted: The parameters, each with its readings of every passage.
        passages: Of the exchange, oldest first.
        is_linked: It belongs to the request under way, so a value that nothing names counts too.
    """
    claims = _claims(wanted, passages, is_linked)
    lists = {each.parameter.name for each in wanted if each.parameter.kind is ParameterKind.LIST}
    taken: dict[str, tuple[Claim, ...]] = {}
    names = list(dict.fromkeys(claim.name for claim in claims))
    settled = True
    while settled:  # each round may leave one parameter alone with what the last one did not take
        settled = False
        for name in names:
            if name in taken:
                continue
            held = _held(name, claims, taken)
            chosen = held if name in lists else _settle(held, claims, passages)
            if chosen:
                taken[name] = chosen
                settled = True
    unsettled = (name for name in names if name not in taken)
    return Assignment(
        taken, frozenset(name for name in unsettled if _may_hold(name, claims, taken))
    )


def _claims(wanted: Sequence[Wanted], passages: Sequence[Passage], is_linked: bool) -> list[Claim]:
    own = own_words([each.parameter for each in wanted])
    claims: list[Claim] = []
    for each in wanted:
        parameter = each.parameter
        words = own[parameter.name]
        money = is_money(parameter)
        for place, readings in enumerate(each.readings):
            text = passages[place].text
            for reading in readings:
                distance = distance_to(reading, text, words)
                paid = money and (
                    bool(reading.currencies) or distance_to(reading, text, MONEY_VERBS) is not None
                )
                support = Support.NAMED if distance is not None else _support(reading, each, paid)
                if support is None or (support >= Support.LIKELY and not is_linked):
                    continue
                claims.append(Claim(parameter.name, place, reading, support, distance or 0))
    return claims


def _support(reading: Reading, wanted: Wanted, is_paid: bool) -> Support | None:
    if wanted.is_asked:
        return Support.ASKED
    if reading.doubtful:
        return None
    if reading.decisive:
        return Support.FORM
    if not wanted.parameter.required:
        return None  # an optional argument is not taken for the mere reason that a value is there
    return Support.LIKELY if is_paid else Support.ALONE


def _held(
    name: str, claims: Sequence[Claim], taken: Mapping[str, tuple[Claim, ...]]
) -> tuple[Claim, ...]:
    """Return the parameter's claims that nobody contests as well or better."""
    held = [
        claim
        for claim in claims
        if claim.name == name
        and all(claim.rank < other.rank for other in _rivals(claim, claims, taken))
        and not _is_used(claim, taken)
    ]
    return tuple(held)


def _may_hold(name: str, claims: Sequence[Claim], taken: Mapping[str, tuple[Claim, ...]]) -> bool:
    """Say whether some claim of the parameter is as good as any other on its place."""
    return any(
        claim.name == name
        and all(claim.rank <= other.rank for other in _rivals(claim, claims, taken))
        and not _is_used(claim, taken)
        for claim in claims
    )


def _rivals(
    claim: Claim, claims: Sequence[Claim], taken: Mapping[str, tuple[Claim, ...]]
) -> list[Claim]:
    return [other for other in claims if other.name not in taken and claim.contests(other)]


def _is_used(claim: Claim, taken: Mapping[str, tuple[Claim, ...]]) -> bool:
    return any(claim.contests(other) for holding in taken.values() for other in holding)


def _settle(
    held: tuple[Claim, ...], claims: Sequence[Claim], passages: Sequence[Passage]
) -> tuple[Claim, ...]:
    """Return the one claim that all agree with; a later message may correct the earlier ones."""
    if not held:
        return ()
    last = max(claim.place for claim in held)
    if last > held[0].place and _CORRECTION.search(passages[last].text):
        held = tuple(claim for claim in held if claim.place == last)
    best = min(claim.tier for claim in held)
    held = tuple(claim for claim in held if claim.tier is best)
    if len({_key(claim) for claim in held}) > 1:
        return ()
    others = [claim for claim in claims if claim.name == held[0].name and claim not in held]
    if any(_is_alternative(claim, other, passages) for claim in held for other in others):
        return ()
    return (held[-1],)


def _is_alternative(claim: Claim, other: Claim, passages: Sequence[Passage]) -> bool:
    """Say whether an `or` joins two different values."""
    if claim.place != other.place or _key(claim) == _key(other):
        return False
    start = min(claim.reading.end, other.reading.end)
    end = max(claim.reading.start, other.reading.start)
    between = passages[claim.place].text[start:end]
    return len(between) <= _NEAR and _OR.search(between) is not None


def _key(claim: Claim) -> str:
    return repr(claim.reading.value)
