"""Several readings: who is in question, what to ask, and honouring the answer."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.models import ScriptedModels
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate, Sighting
from poise.turn.context import TurnContext
from poise.turn.models import Answer
from poise.turn.queries import Query, QueryKind
from poise.turn.schemas import schema_of
from poise.turn.state import Clarification, SessionState
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import JourneyId, RuleId
from poise.values.journeys import Journey
from poise.values.relationships import Relation, RelationKind
from poise_matching import DisambiguationMatcher, MatchingSettings

DOUBT = observation("unclear", when="the customer speaks of a card, not of which trouble")
BLOCK = policy("block", signals=["block my card", "stop my card"])
REPLACE = policy("replace", signals=["send me a new card"])
PIN = policy("pin")
OTHER = policy("other")
MATCHER = DisambiguationMatcher(MatchingSettings())


def turn_about(
    *considered: Any, state: SessionState | None = None, journeys: Any = (), targets: Any = None
) -> TurnContext:
    ends = [each.id for each in (targets or (BLOCK, REPLACE, PIN))]
    snapshot = catalog_of(
        (DOUBT, BLOCK, REPLACE, PIN, OTHER),
        [Relation(RelationKind.DISAMBIGUATION, DOUBT.id, each) for each in ends],
        journeys=journeys,
    )
    query = Query(QueryKind.MESSAGE, "my card!", 0)
    found = {
        BLOCK.id: Sighting(BLOCK.id, 0.5, 0.9, 0.4, 0.8, query, "stop my card"),
    }
    turn = turn_of(snapshot, "my card!", models=ScriptedModels(), state=state)
    candidates = tuple(Candidate(rule, found.get(rule.id), judged=True) for rule in considered)
    return attrs.evolve(turn, candidates=candidates)


def answers(turn: TurnContext, **said: Any) -> Answers:
    """Give answers by what `block`, `replace`, `pin` and `doubt` are short for."""
    ids = {"doubt": DOUBT.id}
    for name, rule in (("block", BLOCK), ("replace", REPLACE), ("pin", PIN)):
        ids[name] = RuleId(f"{DOUBT.id}/{rule.id}")
        ids[f"chose_{name}"] = rule.id
    found = {}
    for name, each in said.items():
        yes, details = each if isinstance(each, tuple) else (each, {})
        found[ids[name]] = Answer(ids[name], yes, None, "m:x", details=details)
    return Answers(found)


def on_doubt(turn: TurnContext, **said: Any) -> Verdict:
    claimed = [each for each in turn.candidates if MATCHER.claims(each, turn)]
    verdicts = {each.rule: each for each in MATCHER.conclude(claimed, answers(turn, **said), turn)}
    return verdicts[DOUBT.id]


async def asked(turn: TurnContext) -> Inquiry:
    claimed = [each for each in turn.candidates if MATCHER.claims(each, turn)]
    inquiry = await MATCHER.inquire(claimed, turn)
    assert isinstance(inquiry, Inquiry)
    return inquiry


def test_it_claims_the_observation_and_leaves_the_readings_to_their_own_strategies() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, OTHER)

    claimed = [each.rule for each in turn.candidates if MATCHER.claims(each, turn)]

    assert claimed == [DOUBT]


@pytest.mark.anyio
async def test_it_asks_about_the_doubt_and_about_each_reading_that_came_up() -> None:
    inquiry = await asked(turn_about(DOUBT, BLOCK, REPLACE))

    assert [each.id for each in inquiry.questions] == [
        DOUBT.id,
        f"{DOUBT.id}/{BLOCK.id}",
        f"{DOUBT.id}/{REPLACE.id}",
    ]
    assert inquiry.schema is not None
    assert list(schema_of(inquiry.schema).body["properties"])[-1] == "verdict"


@pytest.mark.anyio
@pytest.mark.parametrize("considered", [(DOUBT,), (DOUBT, BLOCK), (DOUBT, OTHER)])
async def test_fewer_than_two_readings_are_no_doubt_and_nobody_is_asked(considered: Any) -> None:
    turn = turn_about(*considered)

    (verdict,) = await MATCHER.inquire(turn.candidates[:1], turn)  # type: ignore[misc]

    assert verdict.kind is VerdictKind.DOES_NOT


def test_a_doubt_names_who_is_in_question_and_what_to_ask() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, PIN)

    verdict = on_doubt(
        turn,
        doubt=(True, {"clarification": "Block it, or a new one?"}),
        block=(True, {"as_customer_would_say": "block it"}),
        replace=(None, {"as_customer_would_say": "a new one"}),
        pin=False,
    )

    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert verdict.among == (BLOCK.id, REPLACE.id)
    assert verdict.options == ("block it", "a new one")
    assert verdict.question == "Block it, or a new one?"


def test_without_words_of_a_model_it_takes_the_customers_own() -> None:
    """The signal nearest to what was said, else the first, else the name."""
    turn = turn_about(DOUBT, BLOCK, REPLACE, PIN)

    verdict = on_doubt(turn, doubt=True, block=True, replace=True, pin=True)

    assert verdict.options == ("stop my card", "send me a new card", "pin")
    assert verdict.question == (
        "Which of these do you mean: stop my card; or send me a new card; or pin?"
    )


def test_a_doubt_with_less_than_two_possible_readings_is_about_all_of_them() -> None:
    verdict = on_doubt(turn_about(DOUBT, BLOCK, REPLACE), doubt=True, block=True, replace=False)

    assert verdict.among == (BLOCK.id, REPLACE.id)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"doubt": False, "block": True, "replace": True}, VerdictKind.DOES_NOT),
        ({"doubt": None, "block": True, "replace": True}, VerdictKind.AMBIGUOUS),
        ({"doubt": None, "block": True, "replace": False}, VerdictKind.DOES_NOT),
        ({}, VerdictKind.UNDECIDED),
    ],
)
def test_no_doubt_never_counts_as_a_match(said: Any, kind: VerdictKind) -> None:
    verdict = on_doubt(turn_about(DOUBT, BLOCK, REPLACE), **said)

    assert verdict.kind is kind


@pytest.mark.anyio
async def test_a_journey_is_a_reading_through_its_triggers() -> None:
    lost = Journey(JourneyId("journey_lost"), BLOCK.agent, "lost card", triggers=[PIN.id])
    turn = turn_about(DOUBT, BLOCK, PIN, journeys=[lost], targets=[BLOCK, lost])

    inquiry = await asked(turn)

    assert f"{DOUBT.id}/{lost.id}" in [each.id for each in inquiry.questions]
    assert "lost card" in inquiry.questions[0].text


PENDING = SessionState(
    clarifications={
        DOUBT.id: Clarification(
            DOUBT.id,
            "Block it, or a new one?",
            ((BLOCK.id, "block it"), (REPLACE.id, "a new one")),
            4,
        )
    }
)


@pytest.mark.anyio
async def test_after_asking_it_judges_what_was_in_question_by_the_answer() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, OTHER, state=PENDING)

    claimed = [each.rule for each in turn.candidates if MATCHER.claims(each, turn)]
    inquiry = await asked(turn)

    assert claimed == [DOUBT, BLOCK, REPLACE]
    assert [each.id for each in inquiry.questions] == [DOUBT.id, BLOCK.id, REPLACE.id]
    for each in inquiry.questions:
        assert "Block it, or a new one?" in each.text
    assert "The choices were: block it; a new one." in inquiry.questions[0].text
    assert inquiry.questions[1].examples == ("block it", "stop my card", "block my card")
    assert len(set(inquiry.questions[1].examples)) == len(inquiry.questions[1].examples)


def test_what_the_customer_chose_applies_and_the_doubt_is_over() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, state=PENDING)
    claimed = [each for each in turn.candidates if MATCHER.claims(each, turn)]
    given = answers(turn, doubt=None, chose_block=True, chose_replace=False)

    kinds = {each.rule: each for each in MATCHER.conclude(claimed, given, turn)}

    assert kinds[BLOCK.id].kind is VerdictKind.APPLIES
    assert kinds[REPLACE.id].kind is VerdictKind.DOES_NOT
    assert kinds[DOUBT.id].kind is VerdictKind.DOES_NOT
    assert "'block'" in kinds[DOUBT.id].rationale


def test_an_answer_that_leaves_it_open_has_it_asked_again() -> None:
    """Re-asks an unanswered clarification."""
    turn = turn_about(DOUBT, BLOCK, REPLACE, state=PENDING)

    verdict = on_doubt(turn, doubt=True, chose_block=None, chose_replace=None)

    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert verdict.among == (BLOCK.id, REPLACE.id)


def test_who_moved_on_is_not_asked_again() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, state=PENDING)

    verdict = on_doubt(turn, doubt=False, chose_block=False, chose_replace=False)

    assert verdict.kind is VerdictKind.DOES_NOT


@pytest.mark.anyio
async def test_who_moved_on_is_judged_by_the_condition_and_may_choose_several() -> None:
    ruled = policy("ruled", when="When the customer wants the card blocked.")
    snapshot = catalog_of((DOUBT, ruled, REPLACE))
    pending = Clarification(DOUBT.id, "Which?", ((ruled.id, "block it"),), 4)
    state = SessionState(clarifications={DOUBT.id: pending})
    turn = turn_of(snapshot, "well", models=ScriptedModels(), state=state)
    turn = attrs.evolve(turn, candidates=(Candidate(ruled, judged=True),))

    (question,) = (await asked(turn)).questions

    assert "this is so: the customer wants the card blocked." in question.yes_if
    assert "alone or with others" in question.yes_if
    assert question.examples == ("block it",)


def test_who_chooses_several_is_not_asked_again_where_the_judge_reads_language() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, state=PENDING)

    verdict = on_doubt(turn, doubt=False, chose_block=True, chose_replace=True)

    assert verdict.kind is VerdictKind.DOES_NOT


# -- what was asked about stays what it was --


@pytest.mark.anyio
async def test_a_reading_that_code_judges_is_still_asked_about_after_the_clarification() -> None:
    """Its own verdict is the code's; whether it was chosen is a question beside the doubt."""
    coded = policy("coded", matcher="m", signals=["freeze it"])
    snapshot = catalog_of(
        (DOUBT, BLOCK, coded),
        [Relation(RelationKind.DISAMBIGUATION, DOUBT.id, each.id) for each in (BLOCK, coded)],
    )
    asked_before = Clarification(
        DOUBT.id, "Block or freeze?", ((BLOCK.id, "block"), (coded.id, "freeze")), 4
    )
    state = SessionState(clarifications={DOUBT.id: asked_before})
    turn = turn_of(snapshot, "freeze", models=ScriptedModels(), state=state)
    candidates = tuple(Candidate(rule, judged=True) for rule in (DOUBT, BLOCK, coded))
    turn = attrs.evolve(turn, candidates=candidates)

    inquiry = await asked(turn)
    ids = [each.id for each in inquiry.questions]
    given = Answers(
        {
            BLOCK.id: Answer(BLOCK.id, False, None, "m:x"),
            f"{DOUBT.id}/{coded.id}": Answer(f"{DOUBT.id}/{coded.id}", True, None, "m:x"),
        }
    )
    verdicts = {each.rule: each for each in MATCHER.conclude(candidates[:2], given, turn)}

    assert ids == [DOUBT.id, f"{DOUBT.id}/{coded.id}", BLOCK.id]
    assert verdicts[DOUBT.id].kind is VerdictKind.DOES_NOT
    assert "'coded'" in verdicts[DOUBT.id].rationale


@pytest.mark.anyio
async def test_a_reading_that_is_itself_a_doubt_is_not_chosen_by_being_doubtful() -> None:
    inner = observation("which limit", when="it is unclear which limit is meant")
    snapshot = catalog_of(
        (DOUBT, inner, BLOCK, REPLACE, PIN),
        [
            *(Relation(RelationKind.DISAMBIGUATION, DOUBT.id, each.id) for each in (inner, BLOCK)),
            *(Relation(RelationKind.DISAMBIGUATION, inner.id, each.id) for each in (REPLACE, PIN)),
        ],
    )
    asked_before = Clarification(
        DOUBT.id, "Limits, or block it?", ((inner.id, "limits"), (BLOCK.id, "block it")), 4
    )
    state = SessionState(clarifications={DOUBT.id: asked_before})
    turn = turn_of(snapshot, "block it", models=ScriptedModels(), state=state)
    candidates = tuple(Candidate(rule, judged=True) for rule in (DOUBT, inner, BLOCK, REPLACE, PIN))
    turn = attrs.evolve(turn, candidates=candidates)
    claimed = [each for each in turn.candidates if MATCHER.claims(each, turn)]
    inquiry = await asked(turn)
    chosen = f"{DOUBT.id}/{inner.id}"
    said = {DOUBT.id: None, inner.id: True, chosen: False, BLOCK.id: True}
    given = Answers({each: Answer(each, yes, None, "m:x") for each, yes in said.items()})

    verdicts = {each.rule: each for each in MATCHER.conclude(claimed, given, turn)}

    assert chosen in [each.id for each in inquiry.questions]
    assert verdicts[DOUBT.id].kind is VerdictKind.DOES_NOT
    assert "'block'" in verdicts[DOUBT.id].rationale


def test_asking_again_offers_what_was_offered_in_the_same_words() -> None:
    """Re-asks an unanswered clarification; what was ruled out before does not come back."""
    turn = turn_about(DOUBT, BLOCK, REPLACE, PIN, state=PENDING)

    verdict = on_doubt(turn, doubt=True, chose_block=False, chose_replace=False)

    assert verdict.among == (BLOCK.id, REPLACE.id)
    assert verdict.options == ("block it", "a new one")


def test_readings_that_share_a_phrase_are_offered_by_name() -> None:
    first, second = policy("Block it", signals=["my card"]), policy("New one", signals=["my card"])
    snapshot = catalog_of(
        (DOUBT, first, second),
        [Relation(RelationKind.DISAMBIGUATION, DOUBT.id, each.id) for each in (first, second)],
    )
    turn = turn_of(snapshot, "my card", models=ScriptedModels())
    candidates = tuple(Candidate(rule, judged=True) for rule in (DOUBT, first, second))
    turn = attrs.evolve(turn, candidates=candidates)

    verdict = on_doubt(turn, doubt=True)

    assert verdict.options == ("Block it", "New one")


def test_when_nothing_fits_for_sure_and_several_may_it_is_no_silent_no() -> None:
    turn = turn_about(DOUBT, BLOCK, REPLACE, PIN)

    verdict = on_doubt(turn, doubt=None, block=False, replace=None, pin=None)

    assert verdict.kind is VerdictKind.UNDECIDED


@settings(deadline=None)
@given(
    st.booleans(),
    st.dictionaries(
        st.sampled_from(
            [
                *(each.id for each in (DOUBT, BLOCK, REPLACE, PIN)),
                *(f"{DOUBT.id}/{each.id}" for each in (BLOCK, REPLACE, PIN)),
                "rule_x",
                f"{DOUBT.id}/rule_x",
            ]
        ),
        st.tuples(
            st.sampled_from((True, False, None)),
            st.dictionaries(
                st.sampled_from(["clarification", "as_customer_would_say"]),
                st.text(max_size=5) | st.none(),
            ),
        ),
    ),
)
def test_one_verdict_each_whatever_the_answers_and_a_doubt_never_applies(
    pending: bool, said: Any
) -> None:
    """B-006, over missing answers and strangers too."""
    turn = turn_about(DOUBT, BLOCK, REPLACE, PIN, state=PENDING if pending else None)
    claimed = [each for each in turn.candidates if MATCHER.claims(each, turn)]
    given = {
        each: Answer(each, yes, None, "m", details=details) for each, (yes, details) in said.items()
    }

    verdicts = MATCHER.conclude(claimed, Answers(given), turn)

    assert [each.rule for each in verdicts] == [each.rule.id for each in claimed]
    head, *options = verdicts
    assert head.kind in (VerdictKind.AMBIGUOUS, VerdictKind.DOES_NOT, VerdictKind.UNDECIDED)
    if head.kind is VerdictKind.AMBIGUOUS:
        assert len(head.among) > 1
        assert set(head.among) <= {BLOCK.id, REPLACE.id, PIN.id}
        assert len(set(head.options)) == len(head.among)
        assert all(option.strip() for option in head.options)
        assert head.question
    for verdict in options:
        unanswered = said.get(verdict.rule, (None,))[0] is None
        assert (verdict.kind is VerdictKind.UNDECIDED) == unanswered
