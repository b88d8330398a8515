"""A batch of questions in, exactly one verdict per rule out, whatever the model answers."""

import logging

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.models import Answer
from poise.turn.verdicts import Answers, VerdictKind, missing
from poise_matching import DecisionBatchMatcher, MatchingSettings

FIVE = tuple(policy(f"rule {place}", when=f"condition {place} holds") for place in range(5))


def batch(rules=FIVE, **fields):
    candidates = tuple(Candidate(rule, judged=True) for rule in rules)
    return attrs.evolve(turn_of(catalog_of(rules), "hello", **fields), candidates=candidates)


def answers(*pairs):
    return Answers(
        {
            question: Answer(question, yes, probability, "embedded:prior", "said so")
            for question, yes, probability in pairs
        }
    )


def conclude(turn, given):
    return DecisionBatchMatcher(MatchingSettings()).conclude(turn.candidates, given, turn)


def test_missing_answers_are_undecided_and_an_unknown_id_is_warned_of(caplog):
    """B-006."""
    turn = batch()
    given = answers(
        (FIVE[0].id, True, 0.9),
        (FIVE[1].id, False, 0.1),
        (FIVE[2].id, True, 0.8),
        ("rule_invented", True, 1.0),
    )

    with caplog.at_level(logging.WARNING):
        verdicts = conclude(turn, given)

    assert [each.kind.value for each in verdicts] == [
        "applies",
        "does_not",
        "applies",
        "undecided",
        "undecided",
    ]
    assert missing([rule.id for rule in FIVE], verdicts) == ()
    (warning,) = caplog.records
    assert warning.question == "rule_invented"


def test_answers_to_another_matchers_candidates_are_no_strangers(caplog):
    turn = batch()
    matcher = DecisionBatchMatcher(MatchingSettings())

    with caplog.at_level(logging.WARNING):
        matcher.conclude(turn.candidates[:2], answers((FIVE[4].id, True, 0.9)), turn)

    assert caplog.records == []


def test_a_verdict_keeps_the_raw_probability_the_judge_and_the_reason():
    verdict = conclude(batch(FIVE[:1]), answers((FIVE[0].id, None, 0.52)))[0]

    assert verdict.kind is VerdictKind.UNDECIDED
    assert verdict.probability == 0.52
    assert verdict.judged_by == "decision_batch/embedded:prior"
    assert verdict.rationale == "said so"
    assert not verdict.from_code


def test_code_judged_rules_are_not_claimed():
    matcher = DecisionBatchMatcher(MatchingSettings())
    rule = observation("R", matcher="m")

    assert not matcher.claims(Candidate(rule), turn_of(catalog_of([rule])))


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*(rule.id for rule in FIVE), "rule_x", "rule_y"]),
        st.sampled_from((True, False, None)),
    )
)
def test_there_is_exactly_one_verdict_per_candidate_and_never_a_silent_no(said):
    turn = batch()

    verdicts = conclude(turn, answers(*((rule, yes, None) for rule, yes in said.items())))

    assert [each.rule for each in verdicts] == [rule.id for rule in FIVE]
    for verdict in verdicts:
        assert (verdict.kind is VerdictKind.DOES_NOT) == (said.get(verdict.rule) is False)
