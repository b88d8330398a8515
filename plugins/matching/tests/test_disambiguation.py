"""Several readings: who is in question, what to ask, and honouring the answer."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

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
    assert "Block it, or a new one?" in inquiry.questions[1].text
    assert inquiry.questions[1].examples[0] == "block it"


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
