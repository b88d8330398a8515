"""What is known to go wrong where relations are settled in rounds, each as it should be."""

from itertools import pairwise

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
from poise.testing.turns import catalog_of, journey, policy
from poise.turn.fates import Fate, Resolution, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import GroupId, RuleId, TagId
from poise.values.relationships import DependencyMode, all_of, any_of
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")
T, U = TagId("tag_t"), TagId("tag_u")


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


def test_a_verdict_on_a_rule_that_the_catalog_does_not_hold_is_passed_over():
    stranger = policy("brought by a tool")
    given = {each.id: verdict(each, VerdictKind.APPLIES) for each in (A, stranger)}

    resolution = WellFoundedResolver().resolve(ResolutionRequest(catalog_of([A]), given))

    assert set(resolution.outcomes) == {A.id}


def test_rules_of_this_turn_alone_change_no_fate_and_the_whole_turn_is_resolved_at_once():
    passing = policy("passing")

    without = resolve([A, B], [needs(A, B)], [A, B])
    beside = resolve([A, B], [needs(A, B)], [A, B], transient=(passing,))

    assert beside == without


def test_a_journey_that_outranks_a_rule_stays_with_all_that_depends_on_it():
    steps = journey("steps")

    resolution = resolve(
        [A, B],
        [outranks(steps, A), needs(B, steps)],
        [A, B],
        journeys=[steps],
        under_way=[steps],
    )

    assert set(resolution.active) == {steps.id, B.id}


def test_a_rule_that_implies_a_tag_of_its_own_comes_to_an_end():
    own, other = policy("own", tags=[T]), policy("other", tags=[T])

    resolution = resolve([own, other], [implies(own, any_of(T))], [own])

    assert resolution.fate_of(own.id) is Fate.MATCHED
    assert resolution.outcomes[other.id].causes == (own.id,)


def test_tags_that_imply_each_other_come_to_an_end():
    one, other = policy("one", tags=[T]), policy("other", tags=[U])
    relations = [implies(any_of(T), any_of(U)), implies(any_of(U), any_of(T))]

    assert set(resolve([one, other], relations, [one]).active) == {one.id, other.id}
    assert resolve([one, other], relations, shown=[one, other]).active == ()


@pytest.mark.parametrize(
    "away",
    [policy("off", enabled=False), policy("for others", groups=[GroupId("group_vip")])],
)
def test_implying_what_may_not_be_implied_does_nothing(away):
    resolution = resolve([A, away], [implies(A, away)], [A])

    assert set(resolution.outcomes) == {A.id}


def test_a_ladder_of_twelve_levels_is_climbed_to_the_top():
    ladder = [policy(f"rung {number}") for number in range(24)]
    relations = []
    for level, (rung, following) in enumerate(pairwise(ladder)):
        if level % 2 == 0:
            relations.append(implies(rung, following))
        else:
            relations.append(needs(following, rung, mode=DependencyMode.THIS_TURN))

    resolution = resolve(ladder, relations, ladder[::2])

    assert set(resolution.active) == ids(ladder)


def test_a_cycle_of_dependencies_through_tags_is_refused_with_its_path():
    one, other = policy("one", tags=[T]), policy("other", tags=[U])

    with pytest.raises(InvalidValueError, match="'one' → 'other' → 'one'"):
        catalog_of([one, other], [needs(any_of(T), any_of(U)), needs(any_of(U), any_of(T))])


def test_the_priority_of_one_rule_says_nothing_about_rules_of_other_ranks():
    high, plain = policy("high", priority=5), policy("plain")
    ranked = policy("ranked", priority=5, rank="tone")

    resolution = resolve([high, plain, ranked], [], [high, plain, ranked])

    assert set(resolution.active) == ids([high, plain, ranked])


def test_what_was_set_aside_sets_nothing_aside():
    resolution = resolve([A, B, C], [outranks(A, B), outranks(B, C)], [A, B, C])

    assert set(resolution.active) == {A.id, C.id}


def test_all_of_a_tag_is_not_lost_to_a_carrier_that_is_switched_off():
    on, off = policy("on", tags=[T]), policy("off", tags=[T], enabled=False)
    closed = journey("closed", tags=[T], enabled=False)
    relations = [needs(A, all_of(T)), excludes(all_of(T), B)]

    resolution = resolve([A, B, on, off], relations, [A, B, on], journeys=[closed])

    assert set(resolution.active) == {A.id, on.id}


def test_a_relation_to_what_does_not_exist_is_refused_when_it_is_declared():
    with pytest.raises(InvalidValueError, match="rule_gone"):
        catalog_of([A], [needs(A, RuleId("rule_gone"))])
