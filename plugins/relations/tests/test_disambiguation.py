"""What is held back while a rule asks which of several is meant."""

import pytest

from poise.testing.relating import (
    excludes,
    implies,
    needs,
    outranks,
    request_of,
    tells_apart,
    verdict,
)
from poise.testing.turns import journey, node, observation, policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.verdicts import VerdictKind
from poise.values.ids import TagId
from poise.values.relationships import DependencyMode, any_of
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")
HEAD, SECOND = observation("unclear which"), observation("unclear too")
STEP = node("step")
J = journey("booking", triggers=[C.id], nodes=[STEP])
RULES = [A, B, C, D, HEAD, SECOND]


def resolve(relations=(), applying=(), **fields) -> Resolution:
    request = request_of(RULES, relations, applying, journeys=[J], **fields)
    return WellFoundedResolver().resolve(request)


def asking(*among, head=HEAD):
    return verdict(head, VerdictKind.AMBIGUOUS, among=tuple(each.id for each in among))


def test_what_is_in_question_waits_for_the_answer_and_the_question_names_itself():
    resolution = resolve(tells_apart(HEAD, A, B), [A, B, D], verdicts=[asking(A, B)])

    assert set(resolution.active) == {D.id}
    assert resolution.outcomes[HEAD.id] == Outcome(HEAD.id, Fate.AMBIGUOUS)
    for each in (A, B):
        assert resolution.outcomes[each.id] == Outcome(
            each.id, Fate.AMBIGUOUS, (HEAD.id,), "disambiguation"
        )


def test_only_those_that_the_verdict_names_are_in_question_and_all_where_it_names_none():
    relations = tells_apart(HEAD, A, B, D)

    some = resolve(relations, [A, B, D], verdicts=[asking(A, B)])
    unnamed = resolve(relations, [A, B, D], verdicts=[asking()])
    strangers = resolve(tells_apart(HEAD, A, B), [A, B, D], verdicts=[asking(A, D)])

    assert set(some.active) == {D.id}
    assert set(unnamed.active) == set()
    assert set(strangers.active) == {B.id, D.id}


@pytest.mark.parametrize("kind", [VerdictKind.APPLIES, VerdictKind.DOES_NOT, VerdictKind.UNDECIDED])
def test_a_head_with_any_other_verdict_puts_nothing_in_question(kind):
    resolution = resolve(tells_apart(HEAD, A, B), [A, B], verdicts=[verdict(HEAD, kind)])

    assert {A.id, B.id} <= set(resolution.active)


def test_what_does_not_apply_or_is_merely_shown_is_told_so_though_in_question():
    no = verdict(A, VerdictKind.DOES_NOT)

    resolution = resolve(tells_apart(HEAD, A, B), verdicts=[asking(A, B), no], shown=[B])

    assert resolution.fate_of(A.id) is Fate.NOT_APPLICABLE
    assert resolution.fate_of(B.id) is Fate.IN_CONTEXT


def test_what_is_in_question_outranks_excludes_and_implies_nothing():
    relations = [*tells_apart(HEAD, A, B), outranks(A, D), excludes(B, D), implies(A, C)]

    resolution = resolve(relations, [A, B, D], verdicts=[asking(A, B)])

    assert set(resolution.active) == {D.id}


def test_the_head_itself_outranks_excludes_and_implies_nothing_while_it_asks():
    relations = [outranks(HEAD, A), excludes(HEAD, B), implies(HEAD, D)]

    resolution = resolve(relations, [A, B], verdicts=[asking()])

    assert set(resolution.active) == {A.id, B.id}


def test_a_journey_that_a_trigger_would_start_waits_with_its_nodes_and_the_trigger_stays():
    resolution = resolve(tells_apart(HEAD, J, A), [C, A], verdicts=[asking(J, A)], at=[])
    under_way = resolve(tells_apart(HEAD, J, A), [A], verdicts=[asking(J, A)], at=[STEP])

    assert set(resolution.active) == {C.id}
    assert resolution.outcomes[J.id] == Outcome(J.id, Fate.AMBIGUOUS, (HEAD.id,), "disambiguation")
    assert under_way.outcomes[STEP.id] == Outcome(STEP.id, Fate.AMBIGUOUS, (J.id,), "journey")


def test_a_journey_in_question_that_nothing_would_start_has_no_outcome():
    resolution = resolve(tells_apart(HEAD, J, A), [A], verdicts=[asking(J, A)])

    assert J.id not in resolution.outcomes


@pytest.mark.parametrize(
    ("relation", "fate"),
    [
        (excludes(D, HEAD), Fate.EXCLUDED),
        (outranks(D, HEAD), Fate.OUTRANKED),
        (needs(HEAD, C), Fate.UNMET_DEPENDENCY_ALL),
    ],
)
def test_a_head_that_is_set_aside_asks_nothing(relation, fate):
    relations = [*tells_apart(HEAD, A, B), relation]

    resolution = resolve(relations, [A, B, D], verdicts=[asking(A, B)])

    assert set(resolution.active) == {A.id, B.id, D.id}
    assert resolution.fate_of(HEAD.id) is fate


def test_a_head_that_is_implied_asks_all_the_same():
    relations = [*tells_apart(HEAD, A, B), implies(D, HEAD)]

    resolution = resolve(relations, [A, B, D], verdicts=[asking(A, B)])

    assert resolution.outcomes[HEAD.id] == Outcome(HEAD.id, Fate.AMBIGUOUS)
    assert set(resolution.active) == {D.id}


def test_a_head_in_question_itself_asks_nothing():
    relations = [*tells_apart(HEAD, SECOND, A), *tells_apart(SECOND, B, D)]

    resolution = resolve(
        relations, [A, B, D], verdicts=[asking(SECOND, A), asking(B, D, head=SECOND)]
    )

    assert set(resolution.active) == {B.id, D.id}
    assert resolution.outcomes[SECOND.id].causes == (HEAD.id,)


def test_two_heads_that_question_each_other_are_a_conflict():
    relations = [*tells_apart(HEAD, SECOND, A), *tells_apart(SECOND, HEAD, B)]

    resolution = resolve(relations, [A, B], verdicts=[asking(), asking(head=SECOND)])

    cycle = tuple(sorted([HEAD.id, SECOND.id]))
    assert resolution.outcomes[HEAD.id] == Outcome(HEAD.id, Fate.CONFLICT, cycle, "cycle")
    assert resolution.outcomes[A.id] == Outcome(A.id, Fate.CONFLICT, cycle, "cycle")
    assert resolution.active == ()


def test_a_head_that_needs_what_it_asks_about_this_turn_is_a_conflict():
    relations = [*tells_apart(HEAD, A, B), needs(HEAD, A, mode=DependencyMode.THIS_TURN)]

    resolution = resolve(relations, [A, B], verdicts=[asking()])

    assert resolution.outcomes[HEAD.id].causes == tuple(sorted([HEAD.id, A.id]))


def test_a_tag_puts_every_carrier_but_the_head_in_question():
    tag = TagId("tag_t")
    head = observation("tagged head", tags=[tag])
    one, other = policy("one", tags=[tag]), policy("other", tags=[tag])

    request = request_of(
        [head, one, other],
        tells_apart(head, any_of(tag)),
        [one, other],
        verdicts=[asking(head=head)],
    )

    assert WellFoundedResolver().resolve(request).active == ()
    assert WellFoundedResolver().resolve(request).fate_of(head.id) is Fate.AMBIGUOUS
