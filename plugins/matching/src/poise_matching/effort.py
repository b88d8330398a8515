"""Who is judged, and how: the one table of what each effort buys."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from poise.values.agents import Effort
from poise.values.rules import Weight


@attrs.frozen
class Spending:
    """What one effort buys.

    Attributes:
        judged: Weights that are judged where no decision model serves verdicts.
        judged_by_decisions: Weights that are judged where one does: its answers are cheap.
        one_request: All questions of a pass go out together; otherwise one request each.
        explain: Judges are asked for their reasons.
        reconsider: Route over which what stays undecided is asked once more, where it leads to
            another model.
        route: Route over which verdicts are asked for.
    """

    judged: frozenset[Weight]
    judged_by_decisions: frozenset[Weight]
    one_request: bool
    explain: bool
    reconsider: str | None = None
    route: str = "matching.verdict"


_NONE = frozenset[Weight]()
_HIGH = frozenset({Weight.HIGH})
_MEDIUM_UP = frozenset({Weight.MEDIUM, Weight.HIGH})
_AGAIN = "matching.reconsider"

TABLE: Mapping[Effort, Spending] = MappingProxyType(
    {
        Effort.MIN: Spending(_NONE, _NONE, one_request=True, explain=False),
        Effort.LOW: Spending(_NONE, _HIGH, one_request=True, explain=False),
        Effort.MEDIUM: Spending(
            _HIGH, _MEDIUM_UP, one_request=True, explain=False, reconsider=_AGAIN
        ),
        Effort.HIGH: Spending(
            _MEDIUM_UP, _MEDIUM_UP, one_request=False, explain=True, reconsider=_AGAIN
        ),
        Effort.MAX: Spending(
            _MEDIUM_UP, _MEDIUM_UP, one_request=False, explain=True, reconsider=_AGAIN
        ),
    }
)
"""By effort."""


@attrs.frozen
class Judgement:
    """How one rule fares at one effort.

    Attributes:
        judged: Whether a matcher is asked about it; otherwise it is shown unjudged.
        one_request: Whether the question rides with all others of the turn.
        explain: Whether a reason is asked for.
        route: Over which it is asked.
        reconsider: Over which it is asked again while undecided; `None` for never.
    """

    judged: bool
    one_request: bool
    explain: bool
    route: str
    reconsider: str | None


def judgement(effort: Effort, weight: Weight, *, decides: bool, consequential: bool) -> Judgement:
    """Return how a rule of that weight fares.

    Args:
        effort: The turn's.
        weight: The rule's.
        decides: A decision model serves verdicts.
        consequential: A match of the rule matters beyond being read: such rules are judged at
            every effort, whatever their weight.
    """
    spending = TABLE[effort]
    weights = spending.judged_by_decisions if decides else spending.judged
    return Judgement(
        consequential or weight in weights,
        spending.one_request,
        spending.explain,
        spending.route,
        spending.reconsider,
    )
