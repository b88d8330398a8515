"""What a rule needs, for this turn or for the session, and what meets it."""

from poise.testing.relating import (
    excludes,
    ids,
    needs,
    needs_any,
    outranks,
    request_of,
    verdict,
)
from poise.testing.turns import observation, policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.verdicts import VerdictKind
from poise.values.ids import TagId
from poise.values.relationships import DependencyMode, all_of, any_of
from poise.values.rules import Rule
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")
T = TagId("tag_t")
T1, T2 = policy("T1", tags=[T]), policy("T2", tags=[T])

THIS_TURN = DependencyMode.THIS_TURN


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


def is_active(resolution: Resolution, *rules: Rule) -> bool:
    return frozenset(resolution.active) == ids(rules)


def test_a_dependency_is_met_by_an_active_target():
    assert is_active(resolve([A, B], [needs(A, B)], [A, B]), A, B)


def test_an_unmet_dependency_names_its_target():
    resolution = resolve([A, B], [needs(A, B)], [A], verdicts=[verdict(B, VerdictKind.DOES_NOT)])

    assert resolution.outcomes[A.id] == Outcome(
        A.id, Fate.UNMET_DEPENDENCY_ALL, (B.id,), "dependency"
    )


def test_a_cause_names_the_nearest_edge_along_a_chain():
    resolution = resolve([A, B, C], [needs(A, B, mode=THIS_TURN), needs(B, C)], [A, B])

    assert resolution.outcomes[A.id].causes == (B.id,)
    assert resolution.outcomes[B.id].causes == (C.id,)


def test_a_session_dependency_stays_met_once_confirmed():
    resolution = resolve([A, B], [needs(A, B)], [A], confirmed=ids([B]))

    assert is_active(resolution, A)


def test_a_this_turn_dependency_does_not_remember():
    resolution = resolve([A, B], [needs(A, B, mode=THIS_TURN)], [A], confirmed=ids([B]))

    assert resolution.fate_of(A.id) is Fate.UNMET_DEPENDENCY_ALL


def test_a_muted_target_is_confirmed_and_meets_a_session_dependency_alone():
    rules = [A, B, C, D]
    relations = [needs(A, B), needs(D, B, mode=THIS_TURN), outranks(C, B)]

    resolution = resolve(rules, relations, rules)

    assert is_active(resolution, A, C)
    assert resolution.fate_of(B.id) is Fate.OUTRANKED
    assert resolution.outcomes[D.id].causes == (B.id,)


def test_an_excluded_target_is_not_confirmed():
    resolution = resolve([A, B, C], [needs(A, B), excludes(C, B)], [A, B, C])

    assert is_active(resolution, C)
    assert resolution.fate_of(A.id) is Fate.UNMET_DEPENDENCY_ALL


def test_a_rule_shown_unjudged_or_undecided_meets_no_dependency():
    shown = resolve([A, B], [needs(A, B)], [A], shown=[B])
    undecided = resolve([A, B], [needs(A, B)], [A], verdicts=[verdict(B, VerdictKind.UNDECIDED)])

    assert shown.fate_of(A.id) is Fate.UNMET_DEPENDENCY_ALL
    assert undecided.fate_of(A.id) is Fate.UNMET_DEPENDENCY_ALL
    assert undecided.fate_of(B.id) is Fate.UNDECIDED


def test_alternatives_of_a_group_are_or_ed_and_groups_are_and_ed():
    rules = [A, B, C, D]
    relations = [
        needs_any(A, B, group="first"),
        needs_any(A, C, group="first"),
        needs_any(A, D, group="second"),
    ]

    one_group_met = resolve(rules, relations, [A, B])
    both_met = resolve(rules, relations, [A, C, D])

    assert one_group_met.outcomes[A.id] == Outcome(
        A.id, Fate.UNMET_DEPENDENCY_ANY, (D.id,), "dependency_any"
    )
    assert is_active(both_met, A, C, D)


def test_an_unmet_group_names_all_its_alternatives():
    relations = [needs_any(A, B), needs_any(A, C)]

    resolution = resolve([A, B, C], relations, [A])

    assert resolution.outcomes[A.id].causes == tuple(sorted([B.id, C.id]))


def test_every_carrier_of_a_tag_at_the_source_needs_the_target_but_not_the_target_itself():
    topic = observation("topic", tags=[T])
    relations = [needs(any_of(T), topic)]

    with_topic = resolve([T1, topic], relations, [T1, topic])
    without = resolve([T1, topic], relations, [T1])

    assert is_active(with_topic, T1, topic)
    assert without.outcomes[T1.id].causes == (topic.id,)


def test_a_tag_that_nobody_carries_meets_nothing():
    nobody = TagId("tag_nobody")

    for end in (any_of(nobody), all_of(nobody)):
        resolution = resolve([A], [needs(A, end)], [A])

        assert resolution.fate_of(A.id) is Fate.UNMET_DEPENDENCY_ALL


def test_all_of_does_not_miss_what_is_switched_off():
    off = policy("off", tags=[T], enabled=False)

    resolution = resolve([A, T1, off], [needs(A, all_of(T))], [A, T1])

    assert is_active(resolution, A, T1)


def test_an_unmet_tag_names_ten_of_its_carriers_at_most():
    carriers = [policy(f"carrier {number}", tags=[T]) for number in range(50)]

    resolution = resolve([A, *carriers], [needs(A, any_of(T))], [A])

    assert resolution.outcomes[A.id].causes == tuple(sorted(ids(carriers)))[:10]
