"""The stage *settle*: one event after the reply, whole or not at all."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import anyio
import attrs

from poise import prompts
from poise.engine.account import Account
from poise.engine.log import TurnLog
from poise.engine.parts import Parts
from poise.engine.questioning import ROUTE as VERDICT_ROUTE
from poise.engine.spending import add_to_day, day_of
from poise.engine.working_set import budget_of, fits
from poise.ports.stores import ScopedStores
from poise.turn.candidates import Budget
from poise.turn.context import TurnContext
from poise.turn.ledger import requests_to_json
from poise.values.events import Event, EventKind
from poise.values.rules import RuleKind

logger = logging.getLogger(__name__)


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
                        **_late(account),
                    },
                )
            )
        except Exception as exc:
            account.degrade("settle", exc, "left the turn unsettled")


async def warm(turn: TurnContext, sent: Sequence[Event], *, parts: Parts, account: Account) -> None:
    """Have the next turn's prompt cached as far as it is known, where turns send many requests.

    Takes half of `settle_wait` at the most, so that *settled* is in time.
    """
    if turn.plan.one_request:
        return
    history = attrs.evolve(turn.history, events=(*turn.history.events, *sent))
    known = prompts.situation(attrs.evolve(turn, history=history, results=()))
    with anyio.move_on_after(parts.limits.settle_wait / 2):
        try:
            await turn.models.warm(route=VERDICT_ROUTE, prompt=known)
        except Exception as exc:
            account.degrade("warming", exc, "left the next turn to cache it")


def _late(account: Account) -> dict[str, Any]:
    """Return the requests to models that the ledger came too early for, if there are some."""
    late = requests_to_json(account.late_requests)
    return {"requests": late} if late else {}


async def book(turn: TurnContext, stores: ScopedStores, *, parts: Parts, account: Account) -> None:
    """Add what a turn cost to its day's sum, however it ended, within `settle_wait`."""
    if not account.cost:
        return
    with anyio.move_on_after(parts.limits.settle_wait, shield=True) as scope:
        try:
            await add_to_day(stores.spending, day_of(turn.now), account.cost)
        except Exception:
            logger.warning("the cost of a turn was not added to its day's", exc_info=True)
    if scope.cancelled_caught:
        logger.warning("the cost of a turn was not added to its day's in time")


def _pruned(turn: TurnContext, parts: Parts, log: TurnLog) -> Sequence[dict[str, Any]]:
    """Return what leaves the working set, and the offset from which it may return."""
    members = log.state.working_set
    if not members:
        return []
    limits = parts.limits
    budget = budget_of(turn, parts, limits.working_set)
    if not fits(turn, members, budget):
        # Some room at once, or the next turn would have to prune again.
        share = limits.working_set_after / limits.working_set
        tokens = None if budget.tokens is None else int(budget.tokens * share)
        budget = Budget(limits.working_set_after, tokens)
    dropped = parts.discoverer.prune(attrs.evolve(turn, state=log.state), budget)
    return [{"rule": rule, "offset": log.state.offset} for rule in dropped if rule in members]
