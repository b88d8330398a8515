"""The stage *settle*: one event after the reply, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import attrs

from poise.engine.account import Account
from poise.engine.log import TurnLog
from poise.engine.parts import Parts
from poise.turn.candidates import Budget
from poise.turn.context import TurnContext
from poise.values.events import EventKind
from poise.values.rules import RuleKind


async def settle(turn: TurnContext, *, parts: Parts, account: Account, log: TurnLog) -> None:
    """Append what was fulfilled and what is pruned, within `settle_wait`.

    Without it the next turn counts every matched policy as applied and prunes nothing, so a
    failure here costs nothing but that.
    """
    with anyio.move_on_after(parts.limits.settle_wait):
        try:
            await log.settle(
                log.event(
                    EventKind.SETTLED,
                    {
                        "fulfilled": [
                            rule.id
                            for rule in turn.active_rules
                            if rule.kind is RuleKind.POLICY and rule.id in turn.snapshot.rules
                        ],
                        "partly": [],
                        "pruned": _pruned(turn, parts, log),
                    },
                )
            )
        except Exception as exc:
            account.degrade("settle", exc, "left the turn unsettled")


def _pruned(turn: TurnContext, parts: Parts, log: TurnLog) -> Sequence[dict[str, Any]]:
    """Return what leaves the working set, and the offset from which it may return."""
    members = log.state.working_set
    if not members:
        return []
    limits = parts.limits
    is_over = len(members) > limits.working_set
    room = limits.working_set_after if is_over else limits.working_set
    dropped = parts.discoverer.prune(attrs.evolve(turn, state=log.state), Budget(room))
    return [{"rule": rule, "offset": log.state.offset} for rule in dropped if rule in members]
