"""An answer to the agent's question keeps the rule that asked in force."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from poise import Extractor
from poise.testing.turns import AGENT, catalog_of, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.models import Answer
from poise.turn.state import Awaited, SessionState
from poise.turn.tooling import Fact, Field
from poise.turn.verdicts import Answers, Inquiry, VerdictKind
from poise.values.events import Source
from poise.values.ids import ToolId
from poise.values.tools import Parameter, ParameterKind, Tool
from poise_matching.answering import AnsweringMatcher
from poise_matching.settings import MatchingSettings

pytestmark = pytest.mark.anyio

TOOL = Tool(
    ToolId("tool_freeze"),
    AGENT.id,
    "freeze",
    "functions",
    parameters=[Parameter("digits", ParameterKind.STRING)],
)
LOST = policy("lost card", tools=[TOOL.id])
OTHER = policy("opening hours")
SNAPSHOT = catalog_of([LOST, OTHER], tools=[TOOL])
QUESTION = (Source.AI_AGENT, "Which card?")


class Digits(Extractor):
    """Finds four digits in the newest message."""

    async def extract(self, fields: Sequence[Field], turn: TurnContext) -> Sequence[Fact]:
        text = turn.new_messages[-1]
        if not (text.isdigit() and len(text) == 4):
            return []
        return [Fact(each.parameter.name, text, text, turn.base) for each in fields]


def asked(*said, base: int | None = None) -> TurnContext:
    awaiting = {LOST.id: Awaited("freeze", ("digits",))}
    return turn_of(SNAPSHOT, *said, state=SessionState(awaiting=awaiting), base=base)


@pytest.fixture
def matcher() -> AnsweringMatcher:
    return AnsweringMatcher(Digits(), MatchingSettings())


def test_only_rules_that_asked_are_claimed(matcher: AnsweringMatcher) -> None:
    turn = asked("I lost my card", QUESTION, "4417")

    assert matcher.claims(Candidate(LOST), turn)
    assert not matcher.claims(Candidate(OTHER), turn)


async def test_answer_keeps_the_rule_in_force_without_asking_a_model(
    matcher: AnsweringMatcher,
) -> None:
    turn = asked("I lost my card", QUESTION, "4417")

    verdicts = await matcher.inquire([Candidate(LOST)], turn)

    assert not isinstance(verdicts, Inquiry)
    assert verdicts[0].kind is VerdictKind.APPLIES
    assert "4417" in verdicts[0].rationale


async def test_turn_to_something_else_is_asked_about_like_any_rule(
    matcher: AnsweringMatcher,
) -> None:
    turn = asked("I lost my card", QUESTION, "when are you open?")

    inquiry = await matcher.inquire([Candidate(LOST)], turn)

    assert isinstance(inquiry, Inquiry)
    answers = Answers({LOST.id: Answer(LOST.id, False, 0.1, judged_by="m")})
    assert matcher.conclude([Candidate(LOST)], answers, turn)[0].kind is VerdictKind.DOES_NOT
