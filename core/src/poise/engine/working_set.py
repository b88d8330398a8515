"""How large a working set may be: a count of rules, and the tokens of the models that read it."""

from __future__ import annotations

from collections.abc import Iterable

from poise.engine.fitting import estimate
from poise.engine.parts import Parts
from poise.turn.candidates import Budget
from poise.turn.context import TurnContext
from poise.turn.models import Capability
from poise.values.ids import RuleId

_READERS = (("matching.verdict", Capability.STRUCTURED), ("compose.message", Capability.TEXT))
"""The routes whose prompts hold the working set."""


def budget_of(turn: TurnContext, parts: Parts, rules: int) -> Budget:
    """Return a budget of so many rules, and of what the smallest model that reads them takes in.

    A model with a small window also follows fewer instructions at a time, so its share shrinks
    with it.
    """
    limits = parts.limits
    windows = (turn.models.window(route, way) for route, way in _READERS)
    shares = [int(window * limits.working_set_share) for window in windows if window is not None]
    return Budget(rules, min((limits.working_set_tokens, *shares)))


def fits(turn: TurnContext, rules: Iterable[RuleId], budget: Budget) -> bool:
    """Say whether these rules keep within `budget`; unknown ones take no room."""
    known = [turn.snapshot.rules[rule] for rule in rules if rule in turn.snapshot.rules]
    if len(known) > budget.rules:
        return False
    return budget.tokens is None or sum(estimate(each.text) for each in known) <= budget.tokens
