"""Counts that reconcile: on every turn each rule of the catalog has exactly one fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

from poise.turn.fates import DerivedFate
from poise.turn.ledger import Ledger
from poise.turn.state import SessionState
from poise.values.catalog import CatalogSnapshot
from poise.values.customers import Customer
from poise.values.ids import RuleId
from poise.values.rules import Rule


@attrs.frozen
class Reckoning:
    """How many rules of a catalog had which fate on a turn.

    Attributes:
        fates: By fate, the commonest first; they add up to `rules`.
        rules: How many rules the catalog has.
        beside: Lines of the account that are no rule of this catalog: transient rules, journeys,
            nodes, and rules that it does not have any more; by their kind.
    """

    fates: Mapping[str, int]
    rules: int
    beside: Mapping[str, int]


def reckoning(
    snapshot: CatalogSnapshot, ledger: Ledger, *, customer: Customer, before: SessionState
) -> Reckoning:
    """Return the counts of a recorded turn: stored fates, and derived ones for the rest.

    Args:
        snapshot: The catalog.
        ledger: The turn's account.
        customer: Who was being answered.
        before: The session's state when the turn began.
    """
    stored = {line.subject: line for line in ledger.lines}
    fates = Counter(
        stored[rule.id].fate if rule.id in stored else derived_fate(rule, customer, before).value
        for rule in snapshot.rules.values()
    )
    strangers = [line for line in ledger.lines if RuleId(line.subject) not in snapshot.rules]
    beside = Counter(
        "no longer there" if line.kind in ("policy", "observation") else line.kind
        for line in strangers
    )
    return Reckoning(dict(fates.most_common()), len(snapshot.rules), dict(beside.most_common()))


def derived_fate(rule: Rule, customer: Customer, before: SessionState) -> DerivedFate:
    """Return the fate of a rule that was no candidate."""
    if not rule.enabled:
        return DerivedFate.DISABLED
    if rule.groups and not rule.groups & customer.groups:
        return DerivedFate.NOT_FOR_THIS_AGENT_OR_CUSTOMER
    if rule.id in before.pruned:
        return DerivedFate.PRUNED
    return DerivedFate.NOT_DISCOVERED
