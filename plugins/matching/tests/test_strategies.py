"""Each strategy: what it claims, what it asks, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.models import ScriptedModels
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate, Sighting
from poise.turn.context import Plan, TurnContext
from poise.turn.models import Answer, Capability
from poise.turn.queries import Query, QueryKind
from poise.turn.schemas import schema_of
from poise.turn.state import Owed, SessionState
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.catalog import Annotation
from poise.values.rules import Rule, WayIn, Weight
from poise_matching import (
    ActionableMatcher,
    AlwaysMatcher,
    CustomerDependentMatcher,
    DecisionBatchMatcher,
    LowWeightMatcher,
    MatchingSettings,
    ObservationalMatcher,
    PreviouslyAppliedMatcher,
)

SETTINGS = MatchingSettings()
DONE = SessionState
K = VerdictKind


class Writes(ScriptedModels):
    """Models of which none decides natively."""

    def way(self, route: str, capability: Capability) -> Capability | None:
        return Capability.STRUCTURED


def turn_with(*rules: Rule, state: SessionState | None = None, **fields: Any) -> TurnContext:
    snapshot = fields.pop("snapshot", None) or catalog_of(rules)
    turn = turn_of(snapshot, "hello", **{"models": Writes(), "state": state, **fields})
    return attrs.evolve(turn, candidates=tuple(Candidate(rule, judged=True) for rule in rules))


async def question(matcher: Any, turn: TurnContext) -> Any:
    inquiry = await matcher.inquire(turn.candidates, turn)
    assert isinstance(inquiry, Inquiry)
    return inquiry.questions[0]


def judged(
    matcher: Any, turn: TurnContext, yes: bool | None, details: Mapping[str, Any] | None = None
) -> Verdict:
    rule = turn.candidates[0].rule
    answer = Answer(rule.id, yes, None, "m:x", "so it is", details or {})
    (verdict,) = matcher.conclude(turn.candidates[:1], Answers({rule.id: answer}), turn)
    return verdict


# -- who claims what --


LIGHT = policy("light", weight=Weight.LOW)
SEEN = observation("seen")
PLAIN = policy("plain", when="a card is lost")
WAITS = policy("waits", customer_dependent=True)
STAYS = policy("stays", continuous=True)
FREE = policy("free", track=False)


@pytest.mark.parametrize(
    ("matcher", "rule", "state", "claimed"),
    [
        (AlwaysMatcher(), policy("a", matcher="always"), None, True),
        (AlwaysMatcher(), policy("a", matcher="m0"), None, False),
        (ObservationalMatcher(SETTINGS), SEEN, None, True),
        (ObservationalMatcher(SETTINGS), PLAIN, None, False),
        (ActionableMatcher(SETTINGS), PLAIN, None, True),
        (ActionableMatcher(SETTINGS), SEEN, None, False),
        (LowWeightMatcher(SETTINGS), LIGHT, None, True),
        (LowWeightMatcher(SETTINGS), PLAIN, None, False),
        (PreviouslyAppliedMatcher(SETTINGS), PLAIN, None, False),
        (PreviouslyAppliedMatcher(SETTINGS), PLAIN, SessionState(applied={PLAIN.id: 1}), True),
        (
            PreviouslyAppliedMatcher(SETTINGS),
            PLAIN,
            SessionState(partly={PLAIN.id: Owed(1, "the rest")}),
            True,
        ),
        (PreviouslyAppliedMatcher(SETTINGS), WAITS, SessionState(applied={WAITS.id: 1}), False),
        (PreviouslyAppliedMatcher(SETTINGS), STAYS, SessionState(applied={STAYS.id: 1}), False),
        (PreviouslyAppliedMatcher(SETTINGS), FREE, SessionState(applied={FREE.id: 1}), False),
        (CustomerDependentMatcher(SETTINGS), WAITS, None, False),
        (CustomerDependentMatcher(SETTINGS), WAITS, SessionState(applied={WAITS.id: 1}), True),
        (CustomerDependentMatcher(SETTINGS), PLAIN, SessionState(applied={PLAIN.id: 1}), False),
        (DecisionBatchMatcher(SETTINGS), SEEN, None, True),
    ],
)
def test_who_claims_what(
    matcher: Any, rule: Rule, state: SessionState | None, claimed: bool
) -> None:
    turn = turn_with(rule, state=state)

    assert matcher.claims(turn.candidates[0], turn) is claimed


@pytest.mark.parametrize("matcher", [ObservationalMatcher, ActionableMatcher, LowWeightMatcher])
def test_the_forms_of_models_that_write_are_not_for_one_that_decides(matcher: Any) -> None:
    for rule in (SEEN, PLAIN, LIGHT):
        turn = turn_with(rule, models=ScriptedModels())
        assert not matcher(SETTINGS).claims(turn.candidates[0], turn)


def test_annotations_decide_where_the_author_said_nothing() -> None:
    annotations = {
        PLAIN.id: Annotation(WayIn.SIGNALS, customer_dependent=True),
        WAITS.id: Annotation(WayIn.SIGNALS, continuous=True),
    }
    done = SessionState(applied={PLAIN.id: 1, WAITS.id: 1})
    turn = turn_with(
        PLAIN, WAITS, state=done, snapshot=catalog_of((PLAIN, WAITS), annotations=annotations)
    )

    by_customer = [
        CustomerDependentMatcher(SETTINGS).claims(each, turn) for each in turn.candidates
    ]
    assert by_customer == [True, False]


# -- what they ask --


@pytest.mark.anyio
@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize(
    "matcher",
    [
        ObservationalMatcher,
        ActionableMatcher,
        LowWeightMatcher,
        PreviouslyAppliedMatcher,
        CustomerDependentMatcher,
    ],
)
async def test_forms_fit_every_vendor_and_end_with_the_verdict(matcher: Any, explain: bool) -> None:
    turn = turn_with(PLAIN, state=SessionState(applied={PLAIN.id: 1}), plan=Plan(explain=explain))

    inquiry = await matcher(SETTINGS).inquire(turn.candidates, turn)

    fields = list(schema_of(inquiry.schema).body["properties"])
    assert fields[-1] == "verdict"
    if explain and matcher is not LowWeightMatcher:
        assert fields[0] == "evidence"
    assert inquiry.section
    assert [each.id for each in inquiry.questions] == [PLAIN.id]


@pytest.mark.anyio
async def test_each_task_is_its_own() -> None:
    turn = turn_with(PLAIN, state=SessionState(applied={PLAIN.id: 1}))
    matchers = (
        ObservationalMatcher,
        ActionableMatcher,
        LowWeightMatcher,
        PreviouslyAppliedMatcher,
        CustomerDependentMatcher,
        DecisionBatchMatcher,
    )

    asked = [await each(SETTINGS).inquire(turn.candidates, turn) for each in matchers]

    assert len({each.section for each in asked if isinstance(each, Inquiry)}) == len(matchers)


@pytest.mark.anyio
async def test_a_continuous_action_ends_where_it_says_that_it_does() -> None:
    """B-005."""
    rule = policy(
        "rating", when="the matter is closed", then="ask for a rating until one is given",
        continuous=True,
    )  # fmt: skip

    asked = await question(ActionableMatcher(SETTINGS), turn_with(rule))

    assert "one is given" in asked.no_if


@pytest.mark.anyio
async def test_an_intention_is_asked_of_the_agent() -> None:
    """B-004."""
    rule = policy("record", when="you discuss a medical record", agent_intention=True)

    asked = await question(ActionableMatcher(SETTINGS), turn_with(rule))

    assert "Is the agent, in answering now, about to" in asked.text
    assert "you discuss a medical record" in asked.text


@pytest.mark.anyio
async def test_the_missing_part_alone_is_asked_about() -> None:
    """B-002."""
    state = SessionState(partly={PLAIN.id: Owed(3, "offer the voucher")})
    matcher = PreviouslyAppliedMatcher(SETTINGS)
    turn = turn_with(PLAIN, state=state)

    asked = await question(matcher, turn)

    assert "offer the voucher" in asked.text
    assert PLAIN.then is not None
    assert PLAIN.then not in asked.text


@pytest.mark.anyio
@pytest.mark.parametrize("matcher", [PreviouslyAppliedMatcher, CustomerDependentMatcher])
async def test_a_condition_that_begins_with_when_is_quoted_as_part_of_a_sentence(
    matcher: Any,
) -> None:
    rule = policy("news", when="When the price comes up.", then="Mention the newsletter.")
    turn = turn_with(rule, state=SessionState(applied={rule.id: 1}))

    asked = await question(matcher(SETTINGS), turn)

    assert "Mention the newsletter when the price comes up." in asked.text


@pytest.mark.anyio
@pytest.mark.parametrize("matcher", [PreviouslyAppliedMatcher, CustomerDependentMatcher])
async def test_a_model_without_language_reads_the_same_examples_as_before(matcher: Any) -> None:
    """What brings the rule up by itself is the new occasion as well as it can tell."""
    rule = policy("news", signals=["what does it cost"], anti_signals=["it cost me dearly"])
    query = Query(QueryKind.MESSAGE, "the cost?", 0)
    sighting = Sighting(rule.id, 0.5, 0.9, 0.4, 0.8, query, "what does it cost")
    turn = turn_with(rule, state=SessionState(applied={rule.id: 1}))
    turn = attrs.evolve(turn, candidates=(Candidate(rule, sighting, judged=True),))

    asked = await question(matcher(SETTINGS), turn)
    ordinary = await question(ActionableMatcher(SETTINGS), turn)

    assert asked.text != ordinary.text
    for field in ("examples", "counterexamples", "prior"):
        assert getattr(asked, field) == getattr(ordinary, field)
    assert (asked.examples, asked.prior) == (("what does it cost",), 0.8)


@pytest.mark.anyio
@pytest.mark.parametrize(
    "matcher",
    [
        ObservationalMatcher,
        ActionableMatcher,
        LowWeightMatcher,
        PreviouslyAppliedMatcher,
        CustomerDependentMatcher,
        DecisionBatchMatcher,
    ],
)
async def test_a_task_and_its_form_are_the_same_whatever_the_rules(matcher: Any) -> None:
    """So that requests begin alike; what a rule says stands in its question alone."""
    moon = policy("b", when="the moon is full")

    first, second = [
        await matcher(SETTINGS).inquire(turn.candidates, turn)
        for turn in (turn_with(PLAIN), turn_with(moon))
    ]

    assert first.section == second.section
    assert first.schema is second.schema
    assert first.questions != second.questions
    assert "moon" in second.questions[0].text


# -- what they make of the answers --


@pytest.mark.parametrize(
    ("matcher", "yes", "details", "kind"),
    [
        (ActionableMatcher, True, {}, K.APPLIES),
        (ActionableMatcher, False, {}, K.DOES_NOT),
        (ActionableMatcher, None, {}, K.UNDECIDED),
        (ActionableMatcher, True, {"holding": ["a"], "not_holding": []}, K.APPLIES),
        (ActionableMatcher, True, {"holding": ["a"], "not_holding": ["", " "]}, K.APPLIES),
        (PreviouslyAppliedMatcher, True, {}, K.APPLIES),
        (PreviouslyAppliedMatcher, False, {}, K.ALREADY_APPLIED),
        (PreviouslyAppliedMatcher, False, {"condition_holds": True}, K.ALREADY_APPLIED),
        (PreviouslyAppliedMatcher, False, {"condition_holds": False}, K.DOES_NOT),
        (PreviouslyAppliedMatcher, None, {}, K.UNDECIDED),
        (CustomerDependentMatcher, True, {}, K.APPLIES),
        (CustomerDependentMatcher, False, {}, K.ALREADY_APPLIED),
        (CustomerDependentMatcher, None, {}, K.UNDECIDED),
    ],
)
def test_answers_and_verdicts(
    matcher: Any, yes: bool | None, details: Mapping[str, Any], kind: VerdictKind
) -> None:
    turn = turn_with(PLAIN, state=SessionState(applied={PLAIN.id: 1}))

    verdict = judged(matcher(SETTINGS), turn, yes, details)

    assert verdict.kind is kind
    assert verdict.judged_by == f"{matcher.name}/m:x"


@pytest.mark.parametrize(
    ("matcher", "yes", "kind", "owed"),
    [
        (PreviouslyAppliedMatcher, True, K.PARTLY_APPLIED, "offer the voucher"),
        (PreviouslyAppliedMatcher, False, K.DOES_NOT, None),
        (CustomerDependentMatcher, True, K.PARTLY_APPLIED, "offer the voucher"),
        (CustomerDependentMatcher, False, K.ALREADY_APPLIED, None),
    ],
)
def test_of_what_was_done_in_part_the_rest_alone_is_owed(
    matcher: Any, yes: bool, kind: VerdictKind, owed: str | None
) -> None:
    """B-002."""
    turn = turn_with(PLAIN, state=SessionState(partly={PLAIN.id: Owed(3, "offer the voucher")}))

    verdict = judged(matcher(SETTINGS), turn, yes)

    assert (verdict.kind, verdict.owed) == (kind, owed)


@pytest.mark.parametrize("matcher", [ActionableMatcher, ObservationalMatcher])
def test_a_yes_beside_a_part_that_does_not_hold_is_a_no(matcher: Any) -> None:
    """B-001: a compound condition needs all of its parts."""
    parts = {"holding": ["a refund"], "not_holding": ["older than 30 days"]}

    verdict = judged(matcher(SETTINGS), turn_with(PLAIN), True, parts)

    assert verdict.kind is VerdictKind.DOES_NOT
    assert "older than 30 days" in verdict.rationale
    assert "a refund" not in verdict.rationale


@settings(deadline=None)
@given(
    st.sampled_from(
        [ActionableMatcher, ObservationalMatcher, LowWeightMatcher, PreviouslyAppliedMatcher,
         CustomerDependentMatcher, DecisionBatchMatcher]
    ),
    st.dictionaries(
        st.sampled_from([PLAIN.id, SEEN.id, LIGHT.id, "rule_x", f"{PLAIN.id}/rule_y"]),
        st.tuples(
            st.sampled_from((True, False, None)),
            st.dictionaries(
                st.sampled_from(["condition_holds", "evidence"]), st.booleans() | st.text()
            ),
        ),
    ),
)  # fmt: skip
def test_exactly_one_verdict_per_candidate_and_never_a_silent_no(matcher: Any, said: Any) -> None:
    """B-006."""
    turn = turn_with(PLAIN, SEEN, LIGHT, state=SessionState(applied={PLAIN.id: 1}))
    answers = {
        each: Answer(each, yes, None, "m", details=details) for each, (yes, details) in said.items()
    }

    verdicts = matcher(SETTINGS).conclude(turn.candidates, Answers(answers), turn)

    assert [each.rule for each in verdicts] == [PLAIN.id, SEEN.id, LIGHT.id]
    for verdict in verdicts:
        unanswered = said.get(verdict.rule, (None,))[0] is None
        assert (verdict.kind is VerdictKind.UNDECIDED) == unanswered
