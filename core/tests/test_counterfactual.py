"""What would have had a rule matched: true by construction, nearest first, in plain words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.app.counterfactual import changes_for, request_behind, what_if
from poise.app.explain import Explanation, explain_line
from poise.engine.account import Account
from poise.testing.relating import excludes, implies, needs, outranks, request_of
from poise.testing.scripted_matching import NaiveResolver
from poise.testing.strategies import resolution_requests
from poise.testing.turns import catalog_of, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.fates import Fate, ResolutionRequest
from poise.turn.state import SessionState
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.relationships import DependencyMode

A, B, C = policy("A"), policy("B"), policy("C")
RESOLVER = NaiveResolver()


def told(rule, request: ResolutionRequest) -> list[str]:
    return [each.sentence for each in changes_for(rule.id, request, RESOLVER)]


@settings(deadline=None)
@given(resolution_requests(), st.data())
def test_each_change_does_have_the_rule_matched(
    request_: ResolutionRequest, data: st.DataObject
) -> None:
    rule = data.draw(st.sampled_from(sorted(request_.snapshot.rules)))

    for change in changes_for(rule, request_, RESOLVER):
        assert RESOLVER.resolve(change.request).fate_of(rule) is Fate.MATCHED, change.sentence


@settings(deadline=None)
@given(resolution_requests(), st.data())
def test_where_its_own_verdict_is_enough_that_comes_first(
    request_: ResolutionRequest, data: st.DataObject
) -> None:
    rule = data.draw(st.sampled_from(sorted(request_.snapshot.rules)))
    verdict = Verdict(rule, VerdictKind.APPLIES, "supposed")
    supposed = ResolutionRequest(
        request_.snapshot,
        {**request_.verdicts, rule: verdict},
        request_.shown - {rule},
        request_.confirmed,
        request_.applied,
        request_.groups,
        journeys=request_.journeys,
        nodes=request_.nodes,
    )
    is_enough = RESOLVER.resolve(supposed).fate_of(rule) is Fate.MATCHED
    is_matched = RESOLVER.resolve(request_).fate_of(rule) is Fate.MATCHED

    changes = changes_for(rule, request_, RESOLVER)

    if is_enough and not is_matched:
        assert changes[0].sentence == "had it been judged to apply"


def test_a_matched_rule_needs_no_change() -> None:
    assert told(A, request_of([A], [], [A])) == []


def test_an_outranked_rule_names_the_other_and_the_edge() -> None:
    request = request_of([A, B], [outranks(A, B)], [A, B])

    assert told(B, request) == ["had 'A' not applied", "without the priority of 'A' over 'B'"]


def test_an_excluded_rule_names_the_other_and_the_edge() -> None:
    request = request_of([A, B], [excludes(A, B)], [A, B])

    assert told(B, request) == ["had 'A' not applied", "without the exclusion of 'A' over 'B'"]


def test_a_lack_is_told_with_what_would_fill_it() -> None:
    relation = needs(A, B, mode=DependencyMode.THIS_TURN)
    request = request_of([A, B], [relation], [A], confirmed=frozenset({B.id}))

    assert told(A, request) == [
        "had 'B' applied",
        "had its dependency on 'B' been one of the session, not of this turn",
        "without the dependency of 'A' on 'B'",
    ]


def test_the_cause_of_a_cause_is_found() -> None:
    """A lacks B, which C outranks: without C both are there."""
    relations = [needs(A, B, mode=DependencyMode.THIS_TURN), outranks(C, B)]
    request = request_of([A, B, C], relations, [A, B, C])

    assert "had 'C' not applied" in told(A, request)


def test_a_rank_is_a_cause_like_any_other() -> None:
    low, high = policy("low", rank="offers"), policy("high", rank="offers", priority=2)

    assert told(low, request_of([low, high], [], [low, high])) == [
        "had 'high' not applied",
        "had 'low' not been in the rank 'offers'",
    ]


def test_what_no_single_change_can_mend_says_what_stands_in_the_way() -> None:
    request = request_of([A, B, C], [outranks(A, C), outranks(B, C)], [A, B, C])
    explanation = Explanation(C.id, "C", "outranked", "")

    (sentence,) = what_if(C.id, explanation, request, RESOLVER)

    assert sentence.startswith("No single change would have had it matched")
    assert "'A', 'B'" in sentence


@pytest.mark.parametrize(
    ("fate", "figures", "expected"),
    [
        ("not_discovered", {"score": 0.31, "threshold": 0.4}, "Had its threshold been 0.310"),
        ("over_budget", {}, "Had more rules been allowed"),
        ("disabled", {}, None),
    ],
)
def test_what_never_came_up_would_have_had_to_be_found(
    fate: str, figures: dict[str, float], expected: str | None
) -> None:
    request = request_of([A], [], [])
    sentences = what_if(A.id, Explanation(A.id, "A", fate, "", figures=figures), request, RESOLVER)

    assert (sentences[0] if sentences else None) == expected or (
        expected is not None and sentences[0].startswith(expected)
    )


@settings(deadline=None)
@given(resolution_requests())
def test_an_account_holds_what_its_relations_were_settled_from(request_: ResolutionRequest) -> None:
    """Settling it anew from the account gives the recorded fates."""
    resolution = RESOLVER.resolve(request_)
    snapshot = request_.snapshot
    candidates = tuple(
        Candidate(snapshot.rules[each]) for each in sorted({*request_.verdicts, *request_.shown})
    )
    turn = turn_of(
        snapshot,
        "hello",
        candidates=candidates,
        verdicts=tuple(request_.verdicts.values()),
        resolution=resolution,
    )
    ledger = Account().ledger(turn, "sent", "")
    before = SessionState(
        confirmed=dict.fromkeys(request_.confirmed, 1), applied=dict.fromkeys(request_.applied, 1)
    )

    again = RESOLVER.resolve(request_behind(ledger, snapshot, before, request_.groups))

    for line in ledger.lines:
        verdict = request_.verdicts.get(line.subject)  # type: ignore[call-overload]
        if verdict is not None and (verdict.from_code or verdict.among):
            return  # a drawn judge says neither in the account
        started_only = line.kind == "journey" and line.subject not in request_.journeys
        if started_only and line.relation != "trigger":
            return  # one that a trigger started and something set aside looks as if under way
    for line in ledger.lines:
        assert again.outcomes[line.subject].fate.value == line.fate, explain_line(ledger, line)  # type: ignore[index]


def test_implying_is_no_matching_and_takes_no_change() -> None:
    catalog_of([A, B])
    request = request_of([A, B], [implies(A, B)], [A])
    explanation = Explanation(B.id, "B", "implied", "")

    assert what_if(B.id, explanation, request, RESOLVER) == ()
