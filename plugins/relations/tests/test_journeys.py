"""What becomes of journeys and their nodes, and of the rules that hang on them."""

import pytest

from poise.testing.relating import excludes, ids, implies, needs, needs_any, outranks, request_of
from poise.testing.turns import journey, node, policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.values.ids import TagId
from poise.values.relationships import DependencyMode, all_of, any_of
from poise_relations import WellFoundedResolver

A, B = policy("A"), policy("B")
START, OTHER = policy("start"), policy("other start")
N1, N2, M1 = node("step 1"), node("step 2"), node("step of the other")
J = journey("booking", triggers=[START.id], nodes=[N1, N2])
K = journey("refund", triggers=[OTHER.id], nodes=[M1])
RULES, JOURNEYS = [A, B, START, OTHER], [J, K]
T = TagId("tag_t")

THIS_TURN = DependencyMode.THIS_TURN


def resolve(relations=(), applying=(), *, journeys=JOURNEYS, rules=RULES, **fields) -> Resolution:
    request = request_of(rules, relations, applying, journeys=journeys, **fields)
    return WellFoundedResolver().resolve(request)


def test_an_active_trigger_implies_its_journey():
    resolution = resolve([], [START])

    assert resolution.outcomes[J.id] == Outcome(J.id, Fate.IMPLIED, (START.id,), "trigger")
    assert K.id not in resolution.outcomes


def test_a_trigger_that_is_set_aside_implies_nothing():
    resolution = resolve([outranks(A, START)], [A, START])

    assert J.id not in resolution.outcomes


def test_every_active_trigger_is_a_cause():
    both = journey("both", triggers=[START.id, OTHER.id])

    resolution = resolve([], [START, OTHER], journeys=[both])

    assert resolution.outcomes[both.id].causes == tuple(sorted([START.id, OTHER.id]))


def test_a_journey_under_way_needs_no_trigger_and_a_node_in_play_puts_its_own_under_way():
    by_itself = resolve(under_way=[J])
    by_node = resolve(at=[N1])

    assert by_itself.outcomes == {J.id: Outcome(J.id, Fate.MATCHED)}
    assert by_node.fate_of(J.id) is Fate.MATCHED
    assert by_node.fate_of(N1.id) is Fate.MATCHED
    assert N2.id not in by_node.outcomes


def test_a_journey_can_be_implied_by_a_rule_and_implies_in_turn():
    resolution = resolve([implies(A, J), implies(J, B)], [A])

    assert resolution.outcomes[J.id] == Outcome(J.id, Fate.IMPLIED, (A.id,), "entailment")
    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.IMPLIED, (J.id,), "entailment")


def test_a_node_is_never_brought_into_play_by_an_implication():
    resolution = resolve([implies(A, N1)], [A], under_way=[J])

    assert N1.id not in resolution.outcomes


def test_a_dropped_journey_takes_its_nodes_and_scoped_rules_along_and_each_names_the_next_cause():
    relations = [outranks(J, K), needs(B, K, mode=THIS_TURN)]

    resolution = resolve(relations, [B], at=[N1, M1])

    assert set(resolution.active) == {J.id, N1.id}
    assert resolution.outcomes[K.id] == Outcome(K.id, Fate.OUTRANKED, (J.id,), "priority")
    assert resolution.outcomes[M1.id] == Outcome(M1.id, Fate.OUTRANKED, (K.id,), "journey")
    assert resolution.outcomes[B.id] == Outcome(
        B.id, Fate.UNMET_DEPENDENCY_ALL, (K.id,), "dependency"
    )


def test_the_trigger_of_a_dropped_journey_stays_a_rule_of_its_own():
    resolution = resolve([excludes(J, K)], [START, OTHER])

    assert resolution.fate_of(OTHER.id) is Fate.MATCHED
    assert resolution.outcomes[K.id] == Outcome(K.id, Fate.EXCLUDED, (J.id,), "exclusion")


def test_the_journey_that_wins_stays_though_none_of_its_nodes_is_in_play():
    resolution = resolve([outranks(J, A), needs(B, J)], [A, B], under_way=[J])

    assert set(resolution.active) == {J.id, B.id}
    assert resolution.outcomes[A.id].causes == (J.id,)


@pytest.mark.parametrize("mode", DependencyMode)
def test_needing_a_journey_is_needing_one_of_its_nodes_while_some_are_in_play(mode):
    relations = [needs(A, J, mode=mode), outranks(B, N1)]

    one_left = resolve(relations, [A, B], at=[N1, N2])
    none_left = resolve(relations, [A, B], at=[N1])

    assert one_left.fate_of(A.id) is Fate.MATCHED
    assert none_left.fate_of(J.id) is Fate.MATCHED
    assert none_left.outcomes[A.id].causes == (N1.id,)


def test_a_journey_is_not_remembered_for_the_session():
    resolution = resolve([needs(A, J)], [A], confirmed=ids([START]))

    assert resolution.outcomes[A.id].causes == (J.id,)


def test_a_node_is_set_aside_alone_and_others_can_need_it():
    relations = [outranks(A, N1), needs(B, N1, mode=THIS_TURN)]

    resolution = resolve(relations, [A, B], at=[N1, N2])

    assert set(resolution.active) == {A.id, J.id, N2.id}
    assert resolution.outcomes[N1.id] == Outcome(N1.id, Fate.OUTRANKED, (A.id,), "priority")
    assert resolution.outcomes[B.id].causes == (N1.id,)


def test_an_active_node_acts_and_one_of_a_dropped_journey_does_not():
    relations = [outranks(N1, A), excludes(B, J)]

    acting = resolve(relations, [A], at=[N1])
    dropped = resolve(relations, [A, B], at=[N1])

    assert acting.outcomes[A.id].causes == (N1.id,)
    assert dropped.fate_of(A.id) is Fate.MATCHED
    assert dropped.outcomes[N1.id] == Outcome(N1.id, Fate.EXCLUDED, (J.id,), "journey")


def test_a_journey_that_is_switched_off_is_never_active_nor_are_its_nodes():
    off = journey("off", triggers=[START.id], nodes=[N1], enabled=False)

    resolution = resolve([implies(A, off)], [A, START], journeys=[off], at=[N1])
    away = resolve([implies(A, off)], [A, START], journeys=[off])

    assert resolution.outcomes[off.id] == Outcome(off.id, Fate.NOT_APPLICABLE)
    assert resolution.outcomes[N1.id] == Outcome(N1.id, Fate.NOT_APPLICABLE, (off.id,), "journey")
    assert set(away.outcomes) == {A.id, START.id}


def test_a_tag_stands_for_the_journeys_and_nodes_that_carry_it_too():
    tagged = journey("tagged", nodes=[node("tagged step", tags=[T]), N2], tags=[T])
    step = tagged.nodes[0]

    muted = resolve([outranks(A, any_of(T))], [A], journeys=[tagged], at=[step, N2])
    by_node = resolve([outranks(any_of(T), B)], [B], journeys=[tagged], at=[step])
    with_all = resolve([needs(B, all_of(T))], [B], journeys=[tagged], at=[step])
    without_step = resolve([needs(B, all_of(T))], [B], journeys=[tagged], under_way=[tagged])

    assert [muted.outcomes[each].causes for each in (tagged.id, step.id, N2.id)] == [
        (A.id,),
        (tagged.id,),
        (tagged.id,),
    ]
    assert by_node.outcomes[B.id].causes == tuple(sorted([tagged.id, step.id]))
    assert with_all.fate_of(B.id) is Fate.MATCHED
    assert without_step.outcomes[B.id].causes == (step.id,)


def test_a_node_whose_tag_needs_its_own_journey_needs_nothing_more():
    step = node("tagged step", tags=[T])
    own = journey("own", nodes=[step], tags=[TagId("tag_own")])
    relations = [needs(any_of(T), own), needs_any(any_of(T), any_of("tag_own"), group="g")]

    resolution = resolve(relations, journeys=[own], at=[step])

    assert set(resolution.active) == {own.id, step.id}


def test_a_node_that_outranks_its_own_journey_is_a_conflict_of_the_two():
    resolution = resolve([outranks(N1, J)], at=[N1])

    cycle = tuple(sorted([J.id, N1.id]))
    assert resolution.outcomes[J.id] == Outcome(J.id, Fate.CONFLICT, cycle, "cycle")
    assert resolution.outcomes[N1.id] == Outcome(N1.id, Fate.CONFLICT, cycle, "cycle")


def test_a_journey_that_mutes_its_only_trigger_is_a_conflict_unless_it_is_under_way():
    started = resolve([outranks(J, START)], [START])
    under_way = resolve([outranks(J, START)], [START], under_way=[J])

    assert started.outcomes[J.id].causes == tuple(sorted([J.id, START.id]))
    assert set(under_way.active) == {J.id}
