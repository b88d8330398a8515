"""What the checks of relations find doubtful about a catalog, and what they let pass."""

import pytest
from hypothesis import given, settings

from poise.hooks.findings import Severity
from poise.testing.relating import (
    excludes,
    implies,
    needs,
    needs_any,
    outranks,
    request_of,
    tells_apart,
)
from poise.testing.strategies import resolution_requests
from poise.testing.turns import catalog_of, journey, node, observation, policy
from poise.turn.fates import Fate, ResolutionRequest
from poise.values.ids import TagId
from poise.values.relationships import DependencyMode, all_of, any_of
from poise_relations import WellFoundedResolver, plugin
from poise_relations.lint import findings_of

A, B, C, D = (policy(name) for name in "ABCD")
HEAD = observation("unclear which")
T = TagId("tag_t")
THIS_TURN = DependencyMode.THIS_TURN


def found(relations=(), rules=(A, B, C, D), **more):
    return findings_of(catalog_of(rules, relations, **more))


def told(relations=(), rules=(A, B, C, D), **more):
    return [(each.check, each.message) for each in found(relations, rules, **more)]


def test_a_catalog_in_order_has_no_findings():
    relations = [
        needs(A, B),
        outranks(A, C),
        excludes(B, D),
        implies(C, D),
        *tells_apart(HEAD, A, C),
    ]
    ranked = [policy(f"ranked {at}", rank="tone", priority=at) for at in range(3)]

    assert found(relations, [A, B, C, D, HEAD, *ranked]) == ()


def test_the_plugin_offers_the_checks():
    catalog = catalog_of([A, B], [implies(A, B), excludes(A, B)])

    assert plugin.poise_lint(catalog) == findings_of(catalog)


@pytest.mark.parametrize(
    "relations",
    [
        [implies(A, B), implies(B, C), outranks(C, A)],
        [needs(B, A, mode=THIS_TURN), implies(B, C), outranks(C, A)],
        [implies(A, B), implies(B, C), excludes(C, A), needs(D, C)],
    ],
)
def test_a_cycle_that_some_turn_resolves_to_a_conflict_is_found_with_its_path(relations):
    rules = [A, B, C, D]
    turns = [
        request_of(rules, relations, [rule for at, rule in enumerate(rules) if chosen >> at & 1])
        for chosen in range(16)
    ]

    outcomes = [WellFoundedResolver().resolve(turn).outcomes.values() for turn in turns]

    assert any(each.fate is Fate.CONFLICT for turn in outcomes for each in turn)
    assert [each.check for each in found(relations)] == ["relations.cycle"]


@settings(deadline=None)
@given(request=resolution_requests())
def test_no_turn_ends_in_a_conflict_of_which_no_check_has_warned(request: ResolutionRequest):
    outcomes = WellFoundedResolver().resolve(request).outcomes

    if any(each.fate is Fate.CONFLICT for each in outcomes.values()):
        checks = {each.check for each in findings_of(request.snapshot)}
        assert checks & {"relations.cycle", "relations.contradiction"}


def test_a_cycle_is_told_from_its_smallest_id_with_every_step():
    ((check, message),) = told([implies(A, B), implies(B, C), outranks(C, D), implies(D, A)])

    assert check == "relations.cycle"
    for step in (
        "'B' is implied by 'A'",
        "'C' is implied by 'B'",
        "'D' is outranked by 'C'",
        "'A' is implied by 'D'",
    ):
        assert step in message


def test_a_priority_against_the_order_of_a_rank_is_a_cycle():
    low, mid, top = (
        policy(name, rank="tone", priority=at) for at, name in enumerate(("low", "mid", "top"))
    )

    ((check, message),) = told([outranks(low, top)], [low, mid, top])

    assert check == "relations.cycle"
    assert "'top' is outranked by 'low'" in message
    assert "'low' gives way within its rank to 'top'" in message


def test_a_journey_that_is_muted_by_its_own_step_is_a_contradiction_told_once():
    steps = journey("booking", nodes=[node("step")])

    ((check, message),) = told([outranks(steps.nodes[0], steps)], journeys=[steps])

    assert check == "relations.contradiction"
    assert "'step' is a step of 'booking', and 'step' outranks 'booking'" in message


def test_two_heads_that_question_each_other_are_a_cycle():
    other = observation("unclear too")
    relations = [*tells_apart(HEAD, other, A), *tells_apart(other, HEAD, B)]

    assert [each.check for each in found(relations, [A, B, HEAD, other])] == ["relations.cycle"]


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ([implies(A, B), excludes(A, B)], "'A' entails 'B', and 'A' excludes 'B'"),
        ([implies(A, B), excludes(B, A)], "'A' entails 'B', and 'B' excludes 'A'"),
        ([implies(A, B), outranks(A, B)], "'A' entails 'B', and 'A' outranks 'B'"),
        ([needs(A, B), excludes(B, A)], "'A' needs 'B', and 'B' excludes 'A'"),
        ([needs(A, B), excludes(A, B)], "'A' needs 'B', and 'A' excludes 'B'"),
        (
            [needs(A, B), needs(B, C), excludes(C, A)],
            "'A' needs 'B', 'B' needs 'C', and 'C' excludes 'A'",
        ),
        (
            [needs(A, B), needs(A, C), excludes(B, C)],
            "'A' needs 'B', 'A' needs 'C', and 'B' excludes 'C'",
        ),
        (
            [needs(A, B, mode=THIS_TURN), outranks(B, A)],
            "'A' needs 'B', and 'B' outranks 'A'",
        ),
    ],
)
def test_what_brings_together_and_sets_against_each_other_is_a_contradiction(relations, message):
    ((check, text),) = told(relations)

    assert check == "relations.contradiction"
    assert text.startswith(message)


def test_a_contradiction_is_told_of_the_nearest_rule_not_of_all_that_need_it():
    relations = [needs(A, B), needs(B, C), excludes(C, B)]

    (finding,) = found(relations)

    assert finding.subject == B.id


def test_a_contradiction_through_tags_takes_every_carrier_that_counts_alone():
    one, other = policy("one", tags=[T]), policy("other", tags=[T])
    rules = [A, B, one, other]

    all_needed = found([needs(A, all_of(T)), excludes(one, A)], rules)
    one_of_them = found([needs(A, any_of(T)), excludes(one, A)], rules)
    alternative = found([needs_any(A, one), needs_any(A, B), excludes(one, A)], rules)

    assert [each.subject for each in all_needed] == [A.id]
    assert one_of_them == ()
    assert alternative == ()


@pytest.mark.parametrize(
    "relations",
    [
        [needs(A, B), outranks(A, B)],  # confirmed though muted
        [needs(A, B), outranks(B, A)],  # confirmed on an earlier turn
    ],
)
def test_a_priority_beside_a_need_that_is_remembered_is_let_pass(relations):
    assert found(relations) == ()


def test_what_is_switched_off_is_let_pass():
    off = policy("off", enabled=False, priority=4)

    assert found([implies(A, off), excludes(A, off)], [A, off]) == ()


def test_a_number_without_a_rank_is_found():
    numbered = policy("numbered", priority=5)
    steps = journey("steps", priority=-1)

    findings = found([], [A, numbered], journeys=[steps])

    assert [(each.check, each.subject) for each in findings] == [
        ("relations.number-without-rank", numbered.id),
        ("relations.number-without-rank", steps.id),
    ]


def test_a_rank_in_which_nothing_competes_is_found():
    alone = policy("alone", rank="tone", priority=3)
    peers = [policy(f"peer {at}", rank="offers", priority=1) for at in range(2)]

    findings = found([], [alone, *peers])

    assert [(each.check, each.subject, each.severity) for each in findings] == [
        ("relations.lonely-rank", alone.id, Severity.WARNING),
        ("relations.lonely-rank", peers[0].id, Severity.NOTE),
    ]


def test_a_head_with_fewer_than_two_targets_is_found():
    empty = observation("unclear about nothing")
    relations = [*tells_apart(HEAD, A), *tells_apart(empty, any_of("tag_nobody"))]

    findings = found(relations, [A, HEAD, empty])

    assert [(each.check, each.subject) for each in findings] == [
        ("relations.nothing-to-tell-apart", HEAD.id),
        ("relations.nothing-to-tell-apart", empty.id),
    ]
    assert "'A' alone" in findings[0].message
