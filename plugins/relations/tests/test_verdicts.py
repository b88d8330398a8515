"""What becomes of candidates that no relation touches."""

import pytest

from poise.testing.relating import (
    request_of,
    verdict,
)
from poise.testing.turns import policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.verdicts import VerdictKind
from poise_relations import WellFoundedResolver

A, B, C, D = (policy(name) for name in "ABCD")


def resolve(*args, **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(*args, **fields))


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
