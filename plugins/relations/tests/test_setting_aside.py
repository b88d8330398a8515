"""Who mutes and removes whom."""

import pytest

from poise.testing.relating import (
    excludes,
    ids,
    implies,
    needs,
    outranks,
    request_of,
    verdict,
)
from poise.testing.turns import policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.verdicts import VerdictKind
from poise.values.ids import TagId
from poise.values.relationships import all_of, any_of
from poise.values.rules import Rule
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")
T = TagId("tag_t")
T1, T2 = policy("T1", tags=[T]), policy("T2", tags=[T])


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


def is_active(resolution: Resolution, *rules: Rule) -> bool:
    return frozenset(resolution.active) == ids(rules)


def test_outranked_rule_is_muted_and_names_who_outranks_it():
    resolution = resolve([A, B], [outranks(A, B)], [A, B])

    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.OUTRANKED, (A.id,), "priority")
    assert Fate.OUTRANKED.is_muted


def test_excluded_rule_is_removed_and_names_who_excludes_it():
    resolution = resolve([A, B], [excludes(A, B)], [A, B])

    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.EXCLUDED, (A.id,), "exclusion")


def test_exclusion_is_told_before_anything_else_that_sets_a_rule_aside():
    relations = [excludes(A, B), outranks(C, B), needs(B, D)]

    resolution = resolve([A, B, C, D], relations, [A, B, C])

    assert resolution.fate_of(B.id) is Fate.EXCLUDED


@pytest.mark.parametrize("kind", [VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS, None])
def test_what_is_shown_as_open_can_be_muted_and_removed(kind):
    open_ = [verdict(B, kind), verdict(C, kind)] if kind else []
    relations = [outranks(A, B), excludes(A, C)]

    resolution = resolve([A, B, C], relations, [A], verdicts=open_, shown=[B, C])

    assert resolution.fate_of(B.id) is Fate.OUTRANKED
    assert resolution.fate_of(C.id) is Fate.EXCLUDED


@pytest.mark.parametrize("relate", [outranks, excludes, implies])
def test_only_an_active_rule_acts_on_another(relate):
    undecided = verdict(A, VerdictKind.UNDECIDED)

    by_undecided = resolve([A, B], [relate(A, B)], verdicts=[undecided], shown=[B])
    by_shown = resolve([A, B], [relate(A, B)], shown=[A, B])
    by_dropped = resolve([A, B, C], [relate(A, B), needs(A, C)], [A], shown=[B])

    for resolution in (by_undecided, by_shown, by_dropped):
        assert resolution.fate_of(B.id) is Fate.IN_CONTEXT


def test_what_does_not_apply_is_told_so_though_something_outranks_it():
    no = verdict(B, VerdictKind.DOES_NOT)

    resolution = resolve([A, B], [outranks(A, B)], [A], verdicts=[no])

    assert resolution.fate_of(B.id) is Fate.NOT_APPLICABLE


def test_a_rule_whose_outranker_is_excluded_is_reinstated():
    resolution = resolve([A, B, C], [outranks(B, C), excludes(A, B)], [A, B, C])

    assert is_active(resolution, A, C)


def test_one_active_carrier_acts_for_any_of_and_all_of_waits_for_every_one():
    rules = [B, C, T1, T2]
    relations = [outranks(any_of(T), B), outranks(all_of(T), C)]

    one = resolve(rules, relations, [B, C, T1])
    both = resolve(rules, relations, [B, C, T1, T2])

    assert one.outcomes[B.id].causes == (T1.id,)
    assert one.fate_of(C.id) is Fate.MATCHED
    assert both.outcomes[C.id].causes == tuple(sorted([T1.id, T2.id]))


@pytest.mark.parametrize("end", [any_of(T), all_of(T)])
def test_a_tag_as_target_of_priority_exclusion_or_entailment_is_each_carrier(end):
    muted = resolve([A, T1, T2], [outranks(A, end)], [A, T1, T2])
    removed = resolve([A, T1, T2], [excludes(A, end)], [A, T1, T2])
    implied = resolve([A, T1, T2], [implies(A, end)], [A])

    assert [muted.fate_of(each.id) for each in (T1, T2)] == [Fate.OUTRANKED] * 2
    assert [removed.fate_of(each.id) for each in (T1, T2)] == [Fate.EXCLUDED] * 2
    assert [implied.fate_of(each.id) for each in (T1, T2)] == [Fate.IMPLIED] * 2


def test_a_rule_that_carries_the_tag_it_outranks_leaves_itself_alone():
    resolution = resolve([T1, T2], [outranks(T1, any_of(T))], [T1, T2])

    assert is_active(resolution, T1)
