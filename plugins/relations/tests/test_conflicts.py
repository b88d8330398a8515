"""Relations that contradict themselves, and odd requests."""

import attrs
import pytest

from poise.errors import InvalidValueError
from poise.testing.relating import (
    excludes,
    ids,
    implies,
    needs,
    outranks,
    request_of,
    verdict,
)
from poise.testing.turns import catalog_of, policy
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import RuleId
from poise.values.relationships import DependencyMode
from poise.values.rules import Rule
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")

THIS_TURN = DependencyMode.THIS_TURN


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


def is_active(resolution: Resolution, *rules: Rule) -> bool:
    return frozenset(resolution.active) == ids(rules)


def test_a_rule_that_implies_what_outranks_it_is_a_conflict_with_the_cycle_as_cause():
    resolution = resolve([A, B, C], [implies(A, B), outranks(B, A), needs(C, A)], [A, C])

    cycle = tuple(sorted([A.id, B.id]))
    assert resolution.outcomes[A.id] == Outcome(A.id, Fate.CONFLICT, cycle, "cycle")
    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.CONFLICT, cycle, "cycle")


def test_what_hangs_on_a_conflict_is_one_and_names_the_same_cycle():
    relations = [implies(A, B), outranks(B, A), needs(C, A, mode=THIS_TURN)]

    resolution = resolve([A, B, C], relations, [A, C])

    assert resolution.outcomes[C.id].causes == tuple(sorted([A.id, B.id]))


def test_what_conflicts_mutes_nothing():
    relations = [implies(A, B), outranks(B, A), outranks(A, D)]

    resolution = resolve([A, B, D], relations, [A], shown=[D])

    assert resolution.fate_of(D.id) is Fate.IN_CONTEXT


def test_a_conflict_is_settled_when_something_else_decides_one_of_its_rules():
    relations = [implies(A, B), outranks(B, A), excludes(D, A)]

    resolution = resolve([A, B, D], relations, [A, D])

    assert is_active(resolution, D)
    assert resolution.fate_of(A.id) is Fate.EXCLUDED


def test_needing_what_one_outranks_this_turn_is_a_conflict():
    relations = [needs(A, B, mode=THIS_TURN), outranks(A, B)]

    resolution = resolve([A, B], relations, [A, B])

    assert resolution.fate_of(A.id) is Fate.CONFLICT
    assert resolution.fate_of(B.id) is Fate.CONFLICT


def test_needing_what_one_outranks_over_the_session_is_none():
    resolution = resolve([A, B], [needs(A, B), outranks(A, B)], [A, B])

    assert is_active(resolution, A)


def test_a_request_of_a_catalog_without_rules_resolves_to_nothing():
    request = ResolutionRequest(catalog_of(), {A.id: verdict(A, VerdictKind.APPLIES)})

    assert WellFoundedResolver().resolve(request) == Resolution({})


def test_a_confirmed_rule_that_the_catalog_lost_does_no_harm():
    request = ResolutionRequest(
        catalog_of([A]),
        {A.id: verdict(A, VerdictKind.APPLIES)},
        confirmed=frozenset({RuleId("rule_gone")}),
    )

    assert WellFoundedResolver().resolve(request).active == (A.id,)


def test_relations_and_outcomes_are_left_as_they_were_given():
    request = ResolutionRequest(
        catalog_of([A, B], [implies(A, B)]), {A.id: verdict(A, VerdictKind.APPLIES)}
    )
    before = attrs.asdict(request, recurse=False)

    WellFoundedResolver().resolve(request)

    assert attrs.asdict(request, recurse=False) == before


def test_a_cycle_of_priorities_is_refused_before_any_resolver_sees_it():
    with pytest.raises(InvalidValueError, match=r"'A' → 'B' → 'A'"):
        catalog_of([A, B], [outranks(A, B), outranks(B, A)])
