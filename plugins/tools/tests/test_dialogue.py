"""The extractor over a dialogue: answers to questions, and which words count."""

from __future__ import annotations

import pytest

from poise.testing.tools import tool_named
from poise.testing.turns import catalog_of, turn_of
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import Field
from poise.values.events import Source
from poise.values.tools import (
    Parameter,
    ParameterKind,
)
from poise_tools import PatternExtractor, ToolSettings

pytestmark = pytest.mark.anyio

KIND = ParameterKind
AMOUNT = Parameter("amount", KIND.NUMBER)
QUANTITY = Parameter("quantity", KIND.INTEGER)
CARD = Parameter("card_type", KIND.STRING, choices=("debit", "credit"))
DATE = Parameter("date", KIND.DATE)
PAYEE = Parameter("payee", KIND.STRING, question="Who should get it?")
URGENT = Parameter("urgent", KIND.BOOLEAN, question="Is it urgent?")


def agent_said(text):
    return (Source.AI_AGENT, text)


async def facts_of(parameters, *said, tools=(), terms=(), settings=None, tool="pay", **turn):
    snapshot = catalog_of(tools=tools, terms=terms)
    found = await PatternExtractor(settings or ToolSettings()).extract(
        [Field(each, tool) for each in parameters], turn_of(snapshot, *said, **turn)
    )
    return {fact.field: fact for fact in found}


async def read(parameters, *said, **turn):
    found = await facts_of(parameters, *said, **turn)
    return {name: fact.value for name, fact in found.items()}


# -- answers --


async def test_free_text_is_never_guessed():
    assert await read([PAYEE], "send 200 to John") == {}


async def test_free_text_is_the_whole_reply_to_its_question():
    found = await facts_of([PAYEE], agent_said("Sure. Who should get it?"), "John Smith.")

    assert (found["payee"].value, found["payee"].source) == ("John Smith", "John Smith")


@pytest.mark.parametrize(
    "reply", ["why do you ask?", "I don't know", "never mind", "cancel", "hey, how are you"]
)
async def test_reply_that_is_no_answer_is_no_value(reply):
    assert await read([PAYEE], agent_said("Who should get it?"), reply) == {}


async def test_free_text_is_left_out_when_two_things_were_asked():
    asked = agent_said("Who should get it? And what is the reason?")

    assert await read([PAYEE], asked, "John Smith") == {}


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("yes", True),
        ("Yep, please", True),
        ("no", False),
        ("Nope", False),
        ("yes and no", None),
        ("maybe", None),
        ("it is urgent", None),
    ],
)
async def test_boolean_is_an_explicit_yes_or_no(reply, value):
    assert (await read([URGENT], agent_said("Is it urgent?"), reply)).get("urgent") is value


async def test_yes_to_another_question_is_no_boolean():
    assert await read([URGENT], agent_said("Do you like it?"), "yes") == {}
    assert await read([URGENT], "yes") == {}


@pytest.mark.parametrize("reply", ["3", "three", "one"])
async def test_bare_number_answers_the_question(reply):
    count = Parameter("cards", KIND.INTEGER)

    assert await read([count, QUANTITY], agent_said("How many cards?"), reply) == {
        "cards": {"3": 3, "three": 3, "one": 1}[reply]
    }


async def test_far_day_without_a_year_counts_as_an_answer():
    assert await read([DATE], "on 28 December") == {}
    assert await read([DATE], agent_said("On what date?"), "28 December") == {"date": "2026-12-28"}
    assert await read([DATE], agent_said("On what date?"), "the 15th") == {"date": "2026-01-15"}


async def test_request_is_put_together_over_several_answers():
    parameters = [AMOUNT, PAYEE, DATE]
    said = [
        "send 200",
        agent_said("Who should get it?"),
        "John",
        agent_said("On which date?"),
        "tomorrow",
    ]

    assert await read(parameters, *said) == {
        "amount": 200,
        "payee": "John",
        "date": "2026-01-06",
    }


# -- which words count --


async def test_correction_in_a_later_message_wins():
    said = ["send 200", "sorry, I meant 300"]

    assert await read([AMOUNT], *said, base=0) == {"amount": 300}


async def test_two_wishes_in_two_messages_compete():
    assert await read([AMOUNT], "send 200", "and send 300", base=0) == {}


async def test_number_of_another_topic_long_ago_is_not_taken():
    count = Parameter("tickets", KIND.INTEGER)
    said = ["I live at 12 with my dog", agent_said("Nice."), "book it"]

    assert await read([count], *said) == {}


async def test_what_a_consequential_call_dealt_with_is_not_read_again():
    freeze = tool_named("freeze", CARD, consequential=True)
    said = ["freeze my debit card", agent_said("Done."), "freeze my card"]
    state = SessionState(calls={"k": RecordedCall("freeze", "finished", 1)})

    assert await read([CARD], *said, tools=[freeze], tool="freeze") == {"card_type": "debit"}
    assert await read([CARD], *said, tools=[freeze], tool="freeze", state=state) == {}


async def test_amount_of_an_earlier_complaint_is_not_what_is_sent_now():
    said = ["I was charged £35 last week", agent_said("I am sorry."), "send money to John"]

    assert await read([AMOUNT], *said) == {}
