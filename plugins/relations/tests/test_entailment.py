"""Who brings whom in, and what an implication can't override."""

import pytest

from poise.testing.relating import (
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
from poise.values.catalog import Annotation
from poise.values.ids import GroupId
from poise.values.rules import Rule, WayIn
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


def is_active(resolution: Resolution, *rules: Rule) -> bool:
    return frozenset(resolution.active) == ids(rules)


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


def test_implication_brings_in_no_rule_that_is_for_other_customers():
    grouped = policy("grouped", groups=[GroupId("group_vip")])

    other = resolve([A, grouped], [implies(A, grouped)], [A])
    own = resolve([A, grouped], [implies(A, grouped)], [A], groups=grouped.groups)

    assert set(other.outcomes) == {A.id}
    assert own.fate_of(grouped.id) is Fate.IMPLIED


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
