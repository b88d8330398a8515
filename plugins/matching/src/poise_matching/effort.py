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
    """

    judged: frozenset[Weight]
    judged_by_decisions: frozenset[Weight]
    one_request: bool
    explain: bool


_NONE = frozenset[Weight]()
_HIGH = frozenset({Weight.HIGH})
_MEDIUM_UP = frozenset({Weight.MEDIUM, Weight.HIGH})

# Rules with consequences are judged at every effort, whatever their weight: the engine sees to it.
TABLE: Mapping[Effort, Spending] = MappingProxyType(
    {
        Effort.MIN: Spending(_NONE, _NONE, one_request=True, explain=False),
        Effort.LOW: Spending(_NONE, _HIGH, one_request=True, explain=False),
        Effort.MEDIUM: Spending(_HIGH, _MEDIUM_UP, one_request=True, explain=False),
        Effort.HIGH: Spending(_MEDIUM_UP, _MEDIUM_UP, one_request=False, explain=True),
        Effort.MAX: Spending(_MEDIUM_UP, _MEDIUM_UP, one_request=False, explain=True),
    }
)
"""By effort."""
