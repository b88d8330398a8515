"""Counts reconcile: each rule of the catalog has exactly one fate on every turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poise.app.reckoning import derived_fate, reckoning
from poise.testing.turns import catalog_of, policy
from poise.turn.fates import DerivedFate, Fate
from poise.turn.ledger import Ledger, LedgerLine
from poise.turn.state import SessionState
from poise.values.customers import Customer
from poise.values.ids import GroupId

RULES = [
    policy("plain"),
    policy("off", enabled=False),
    policy("for others", groups=[GroupId("vip")]),
    policy("pruned"),
    policy("seen"),
    policy("matched"),
]
CATALOG = catalog_of(RULES)
GUEST = Customer.guest()


def line(subject: str, fate: str, kind: str = "policy") -> LedgerLine:
    return LedgerLine(subject, kind, subject, fate)


def counted(*lines: LedgerLine, before: SessionState | None = None):
    ledger = Ledger("turn", 0, 1, "sent", "c", lines=lines)
    return reckoning(CATALOG, ledger, customer=GUEST, before=before or SessionState())


def test_stored_fates_count_as_they_stand_and_the_rest_is_worked_out() -> None:
    found = counted(
        line(RULES[4].id, "in_context"),
        line(RULES[5].id, "matched"),
        line("transient_1", "matched", "transient"),
        line("rule_of_yesterday", "matched"),
        before=SessionState(pruned={RULES[3].id: 4}),
    )

    assert found.fates == {
        "not_discovered": 1,
        "disabled": 1,
        "not_for_this_agent_or_customer": 1,
        "pruned": 1,
        "in_context": 1,
        "matched": 1,
    }
    assert found.beside == {"transient": 1, "no longer there": 1}


@given(
    st.lists(
        st.builds(
            line,
            st.sampled_from([*(rule.id for rule in RULES), "stranger"]),
            st.sampled_from([fate.value for fate in Fate]),
        ),
        unique_by=lambda each: each.subject,
    ),
    st.sets(st.sampled_from([rule.id for rule in RULES])),
)
def test_counts_add_up_whatever_the_account_says(lines: list[LedgerLine], pruned: set[str]) -> None:
    before = SessionState(pruned=dict.fromkeys(pruned, 1))  # type: ignore[arg-type]

    found = counted(*lines, before=before)

    assert sum(found.fates.values()) == found.rules == len(RULES)
    assert sum(found.beside.values()) == sum(each.subject == "stranger" for each in lines)


def test_what_is_off_is_off_whatever_else_it_is() -> None:
    rule = policy("off", enabled=False, groups=[GroupId("vip")])

    assert derived_fate(rule, GUEST, SessionState(pruned={rule.id: 1})) is DerivedFate.DISABLED
