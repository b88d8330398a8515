"""One scenario after another: what each kind of relation makes of given verdicts."""

from collections.abc import Iterable

import attrs
import pytest

from poise.errors import InvalidValueError
from poise.testing.turns import catalog_of, observation, policy
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import Annotation
from poise.values.ids import GroupId, RuleId, TagId
from poise.values.relationships import (
    DependencyMode,
    End,
    Relation,
    RelationKind,
    all_of,
    any_of,
)
from poise.values.rules import Rule, WayIn
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")
T = TagId("tag_t")
T1, T2 = policy("T1", tags=[T]), policy("T2", tags=[T])

THIS_TURN = DependencyMode.THIS_TURN


def needs(source: Rule | End, target: Rule | End, **more: object) -> Relation:
    return relation(RelationKind.DEPENDENCY, source, target, **more)


def needs_any(source: Rule | End, target: Rule | End, **more: object) -> Relation:
    return relation(RelationKind.DEPENDENCY_ANY, source, target, **more)


def outranks(source: Rule | End, target: Rule | End) -> Relation:
    return relation(RelationKind.PRIORITY, source, target)


def excludes(source: Rule | End, target: Rule | End) -> Relation:
    return relation(RelationKind.EXCLUSION, source, target)


def implies(source: Rule | End, target: Rule | End, **more: object) -> Relation:
    return relation(RelationKind.ENTAILMENT, source, target, **more)


def relation(
    kind: RelationKind, source: Rule | End, target: Rule | End, **more: object
) -> Relation:
    def end(value: Rule | End) -> End:
        return value.id if isinstance(value, Rule) else value

    return Relation(kind, end(source), end(target), **more)


def resolve(
    rules: Iterable[Rule],
    relations: Iterable[Relation],
    applying: Iterable[Rule] = (),
    *,
    verdicts: Iterable[Verdict] = (),
    shown: Iterable[Rule] = (),
    **more: object,
) -> Resolution:
    given = [verdict(rule, VerdictKind.APPLIES) for rule in applying]
    return WellFoundedResolver().resolve(
        ResolutionRequest(
            snapshot=catalog_of(rules, relations),
            verdicts={each.rule: each for each in (*given, *verdicts)},
            shown=ids(shown),
            **more,
        )
    )


def verdict(rule: Rule, kind: VerdictKind, **more: object) -> Verdict:
    return Verdict(rule.id, kind, "test", **more)


def ids(rules: Iterable[Rule]) -> frozenset[RuleId]:
    return frozenset(rule.id for rule in rules)


def is_active(resolution: Resolution, *rules: Rule) -> bool:
    return frozenset(resolution.active) == ids(rules)


# -- verdicts alone --


@pytest.mark.parametrize(
    ("kind", "fate"),
    [
        (VerdictKind.APPLIES, Fate.MATCHED),
        (VerdictKind.PARTLY_APPLIED, Fate.MATCHED),
        (VerdictKind.DOES_NOT, Fate.NOT_APPLICABLE),
        (VerdictKind.ALREADY_APPLIED, Fate.ALREADY_APPLIED),
        (VerdictKind.AMBIGUOUS, Fate.AMBIGUOUS),
        (VerdictKind.UNDECIDED, Fate.UNDECIDED),
    ],
)
def test_without_relations_the_verdict_decides(kind, fate):
    resolution = resolve([A], [], verdicts=[verdict(A, kind)])

    assert resolution.outcomes == {A.id: Outcome(A.id, fate)}


def test_a_rule_shown_unjudged_is_in_context():
    resolution = resolve([A], [], shown=[A])

    assert resolution.fate_of(A.id) is Fate.IN_CONTEXT


def test_a_rule_that_is_switched_off_is_never_active():
    off = policy("off", enabled=False)

    resolution = resolve([off], [], [off])

    assert resolution.fate_of(off.id) is Fate.NOT_APPLICABLE


def test_transient_rules_have_no_outcome_since_they_have_no_relations():
    resolution = resolve([A], [], [A], transient=(policy("passing"),))

    assert set(resolution.outcomes) == {A.id}


# -- dependency --


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


# -- priority and exclusion --


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


# -- entailment --


def test_an_active_rule_implies_one_that_nobody_considered():
    resolution = resolve([A, B], [implies(A, B)], [A])

    assert resolution.outcomes[B.id] == Outcome(B.id, Fate.IMPLIED, (A.id,), "entailment")


@pytest.mark.parametrize("kind", [VerdictKind.DOES_NOT, VerdictKind.UNDECIDED])
def test_implication_overrides_a_models_no_and_its_doubt(kind):
    resolution = resolve([A, B], [implies(A, B)], [A], verdicts=[verdict(B, kind)])

    assert resolution.fate_of(B.id) is Fate.IMPLIED


def test_implication_never_overrides_a_code_matchers_no():
    no = verdict(B, VerdictKind.DOES_NOT, from_code=True)

    resolution = resolve([A, B], [implies(A, B, always=True)], [A], verdicts=[no])

    assert resolution.fate_of(B.id) is Fate.NOT_APPLICABLE


def test_implication_never_switches_on_what_is_off():
    off = policy("off", enabled=False)

    resolution = resolve([A, off], [implies(A, off, always=True)], [A])

    assert set(resolution.outcomes) == {A.id}


def test_implication_brings_in_no_rule_of_groups_unless_the_turn_considers_it():
    grouped = policy("grouped", groups=[GroupId("group_vip")])

    unknown = resolve([A, grouped], [implies(A, grouped)], [A])
    considered = resolve([A, grouped], [implies(A, grouped)], [A], shown=[grouped])

    assert set(unknown.outcomes) == {A.id}
    assert considered.fate_of(grouped.id) is Fate.IMPLIED


def test_implied_rules_imply_and_can_be_set_aside_like_any_other():
    resolution = resolve([A, B, C, D], [implies(A, B), implies(B, C), outranks(D, C)], [A, D])

    assert is_active(resolution, A, B, D)
    assert resolution.outcomes[C.id] == Outcome(C.id, Fate.OUTRANKED, (D.id,), "priority")


def test_an_implied_rule_with_an_unmet_dependency_is_told_so():
    resolution = resolve([A, B, C], [implies(A, B), needs(B, C)], [A])

    assert resolution.outcomes[B.id].causes == (C.id,)


def test_rules_that_only_imply_each_other_stay_inactive():
    resolution = resolve([A, B], [implies(A, B), implies(B, A)], shown=[A, B])

    assert is_active(resolution)


@pytest.mark.parametrize(
    ("quiet", "fate"),
    [
        (policy("plain"), Fate.ALREADY_APPLIED),
        (policy("untracked", track=False), Fate.IMPLIED),
        (policy("continuous", continuous=True), Fate.IMPLIED),
    ],
)
def test_having_been_applied_quietens_what_is_tracked_and_not_continuous(quiet, fate):
    resolution = resolve([A, quiet], [implies(A, quiet)], [A], applied=ids([quiet]))

    assert resolution.outcomes[quiet.id] == Outcome(quiet.id, fate, (A.id,), "entailment")


def test_an_annotation_says_what_the_author_left_open_about_being_continuous():
    snapshot = catalog_of(
        [A, B],
        [implies(A, B)],
        annotations={B.id: Annotation(WayIn.SIGNALS, continuous=True)},
    )
    request = ResolutionRequest(snapshot, {A.id: verdict(A, VerdictKind.APPLIES)}, applied=ids([B]))

    assert WellFoundedResolver().resolve(request).fate_of(B.id) is Fate.IMPLIED


# -- conflicts --


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
