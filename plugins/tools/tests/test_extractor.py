"""The extractor: what is read from a conversation for which parameter, and what is left out."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.testing.tools import tool_named
from poise.testing.turns import AGENT, catalog_of, turn_of
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import Field, ToolOutcome
from poise.values.customers import Customer
from poise.values.events import Source
from poise.values.ids import CustomerId, TermId
from poise.values.terms import Term
from poise.values.tools import (
    ArgumentSource,
    Parameter,
    ParameterKind,
    ToolCall,
    ToolResult,
)
from poise_tools import PatternExtractor, ToolSettings

pytestmark = pytest.mark.anyio

KIND = ParameterKind
AMOUNT = Parameter("amount", KIND.NUMBER)
QUANTITY = Parameter("quantity", KIND.INTEGER)
CARD = Parameter("card_type", KIND.STRING, choices=("debit", "credit"))
FROM = Parameter("from_account", KIND.STRING, choices=("checking", "savings"))
TO = Parameter("to_account", KIND.STRING, choices=("checking", "savings"))
START = Parameter("from_date", KIND.DATE)
END = Parameter("to_date", KIND.DATE)
DATE = Parameter("date", KIND.DATE)
ORDER = Parameter("order_id", KIND.STRING, pattern=r"ORD-\d{3,}")
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


# -- numbers and money --


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("send 200 to John", 200),
        ("i want to pay two hundred euros", 200),
        ("transfer £1,250.50 please", 1250.5),
        ("überweise 1.250,50 €", 1250.5),
        ("top up 20", 20),
        ("my card ending 4242 should get 50", 50),
        ("order 12345 was late, refund 15.99", 15.99),
        ("I tried 3 times to send $20", 20),
        ("pay 30 on 5 March at 10:30", 30),
    ],
)
async def test_amount_is_read(said, value):
    assert await read([AMOUNT], said) == {"amount": value}


@pytest.mark.parametrize(
    "said",
    [
        "send money to John",
        "I tried 3 times",
        "my card ending 4242 was stolen",
        "one of my cards is lost",
        "send 200 or 300",
        "send £200 to one and £300 to another",
        "it was on 5 March 2025",
        "my pin is 1234",
    ],
)
async def test_amount_that_is_absent_or_contested_is_left_out(said):
    assert await read([AMOUNT], said) == {}


async def test_source_is_verbatim_with_the_events_offset():
    fact = (await facts_of([AMOUNT], "hello", "send £1,250.50 now"))["amount"]

    assert (fact.source, fact.offset) == ("£1,250.50", 1)


async def test_number_goes_to_the_parameter_that_is_named_beside_it():
    assert await read([AMOUNT, QUANTITY], "quantity 3 and amount 50") == {
        "amount": 50,
        "quantity": 3,
    }


async def test_number_that_two_parameters_could_take_is_left_out():
    people, rooms = Parameter("people", KIND.INTEGER), Parameter("rooms", KIND.INTEGER)

    assert await read([people, rooms], "book it for 4") == {}
    assert await read([people, rooms], "book 2 rooms for 4 people") == {"people": 4, "rooms": 2}


async def test_money_is_no_quantity():
    assert await read([QUANTITY], "I have 20 dollars") == {}


async def test_optional_number_is_taken_only_beside_its_name():
    installments = Parameter("installments", KIND.INTEGER, required=False, default=1)

    assert await read([AMOUNT, installments], "pay 200") == {"amount": 200}
    assert await read([AMOUNT, installments], "pay 200 in 3 installments") == {
        "amount": 200,
        "installments": 3,
    }


async def test_fraction_is_no_whole_number():
    assert await read([QUANTITY], "quantity 2.5") == {}


@pytest.mark.parametrize(
    ("said", "choices", "code"),
    [
        ("send 20 euros", (), "EUR"),
        ("send £20", (), "GBP"),
        ("send $20", ("USD", "EUR"), "USD"),
        ("send $20", (), None),
        ("send 20 in EUR", ("USD", "EUR"), "EUR"),
    ],
)
async def test_currency_is_read_where_it_can_be_only_one(said, choices, code):
    currency = Parameter("currency", KIND.STRING, choices=choices)

    found = await read([AMOUNT, currency], said)

    assert found.get("currency") == code
    assert found["amount"] == 20


# -- dates --


async def test_dates_are_read_relative_to_the_turns_day():
    assert await read([DATE], "send it tomorrow") == {"date": "2026-01-06"}
    assert await read([DATE], "send it next friday") == {"date": "2026-01-09"}


async def test_ambiguous_date_is_left_out():
    assert await read([DATE], "send it on 03/04/2026") == {}


async def test_time_zone_decides_what_today_is():
    settings = ToolSettings(timezone="Pacific/Kiritimati")  # already the next day at 10 UTC
    late = turn_of(catalog_of(), "x").now.replace(hour=11)

    assert await read([DATE], "send it today", settings=settings, now=late) == {
        "date": "2026-01-06"
    }


async def test_period_goes_by_the_words_between():
    assert await read([START, END], "from 5 March to 8 March") == {
        "from_date": "2026-03-05",
        "to_date": "2026-03-08",
    }
    assert await read([START, END], "5 March to 8 March") == {
        "from_date": "2026-03-05",
        "to_date": "2026-03-08",
    }
    assert await read([START, END], "on 5 March") == {}


async def test_moment_is_read():
    at = Parameter("at", KIND.DATETIME)

    assert await read([at], "call me tomorrow at 3pm") == {"at": "2026-01-06T15:00:00+00:00"}
    assert await read([at], "call me tomorrow") == {}


# -- choices, ids, addresses --


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("freeze my Debit card", "debit"),
        ("both credits and that", "credit"),
        ("not the debit card, the credit one", "credit"),
        ("my debit or my credit card", None),
        ("discredited", None),
        ("my card", None),
    ],
)
async def test_choice_is_a_whole_word(said, choice):
    assert (await read([CARD], said)).get("card_type") == choice


async def test_longest_name_of_a_choice_wins():
    plan = Parameter("plan", KIND.STRING, choices=("gold", "gold_plus"))

    assert await read([plan], "I want gold plus") == {"plan": "gold_plus"}


async def test_synonym_of_a_term_names_the_choice():
    term = Term(TermId("t"), AGENT.id, "credit", "A card with a limit", ("plastic money",))

    assert await read([CARD], "my plastic money", terms=[term]) == {"card_type": "credit"}


async def test_equal_choices_go_by_the_words_beside_them():
    expected = {"from_account": "checking", "to_account": "savings"}

    assert await read([FROM, TO], "move it from checking to savings") == expected
    assert await read([FROM, TO], "to savings, from checking") == expected
    assert await read([FROM, TO], "my savings") == {}


async def test_everyday_word_is_a_choice_only_as_an_answer():
    size = Parameter("size", KIND.STRING, choices=("S", "M", "other"))

    assert await read([size], "any other ideas? I'm M. Smith") == {}
    assert await read([size], agent_said("Which size do you want?"), "other") == {"size": "other"}


@pytest.mark.parametrize("said", ["where is ORD-123?", "where is ord-123", "(ORD-123)"])
async def test_id_is_found_by_its_pattern(said):
    assert await read([ORDER], said) == {"order_id": "ORD-123"}


@pytest.mark.parametrize("said", ["ORD-1", "XORD-123", "ORD-123-4", "ORD-123 and ORD-456"])
async def test_id_must_match_as_a_whole_and_alone(said):
    assert await read([ORDER], said) == {}


async def test_grouped_digits_match_when_the_pattern_says_so():
    card = Parameter("card", KIND.STRING, pattern=r"^\d{16}$")
    phone = Parameter("phone", KIND.STRING, pattern=r"\+\d{8,15}")
    iban = Parameter("iban", KIND.STRING, pattern=r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}")

    assert await read([card], "it is 4242 4242 4242 4242") == {"card": "4242424242424242"}
    assert await read([phone], "call +43 (660) 123-4567") == {"phone": "+436601234567"}
    assert await read([iban], "to GB29 NWBK 6016 1331 9268 19 please") == {
        "iban": "GB29NWBK60161331926819"
    }


async def test_pattern_that_fits_any_word_recognises_nothing():
    name = Parameter("nickname", KIND.STRING, pattern=r"\w+")

    assert await read([name], "hello") == {}


async def test_digits_of_an_id_are_no_amount():
    account = Parameter("account", KIND.STRING, pattern=r"\d{8}")

    assert await read([AMOUNT, account], "send 200 to 12345678") == {
        "amount": 200,
        "account": "12345678",
    }


async def test_email_is_found_by_the_parameters_name():
    email = Parameter("email", KIND.STRING)

    assert await read([email], "write to ada@example.org.") == {"email": "ada@example.org"}


async def test_list_takes_all_that_are_named():
    orders = Parameter("orders", KIND.LIST, items=attrs.evolve(ORDER, name="item"))
    found = await facts_of([orders], "both ORD-123 and ORD-456 are late")

    assert found["orders"].value == ["ORD-123", "ORD-456"]
    assert found["orders"].source == "ORD-123 and ORD-456"


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


# -- context --


async def test_results_and_records_serve_by_name():
    call = ToolCall("k", tool_named("find").id, {})
    now = ToolOutcome(call, "find", result=ToolResult(data={"order_id": "ORD-999"}), offset=4)
    before = RecordedCall("find", "finished", 2, data={"orders": [{"order_id": "ORD-777"}]})
    customer = Customer(CustomerId("c1"), "Ada", metadata={"order_id": "ORD-555"})
    state = SessionState(calls={"k": before})

    fresh = await facts_of([ORDER], "where?", results=(now,), state=state, customer=customer)
    record = await facts_of([ORDER], "where?", state=state, customer=customer)
    earlier = await facts_of([ORDER], "where?", state=state)

    assert (fresh["order_id"].value, fresh["order_id"].source) == ("ORD-999", "result of find")
    assert (record["order_id"].value, record["order_id"].source) == (
        "ORD-555",
        "customer record order_id",
    )
    assert (earlier["order_id"].value, earlier["order_id"].offset) == ("ORD-777", 2)


async def test_result_with_two_values_says_nothing():
    data = [{"order_id": "ORD-111"}, {"order_id": "ORD-222"}]
    state = SessionState(calls={"k": RecordedCall("find", "finished", 2, data=data)})

    assert await read([ORDER], "where?", state=state) == {}


async def test_customers_words_win_over_a_variable():
    assert await read([ORDER], "ORD-123", variables={"order_id": "ORD-999"}) == {
        "order_id": "ORD-123"
    }


async def test_competing_words_are_not_settled_by_a_variable():
    said = "ORD-123 or ORD-456"

    assert await read([ORDER], said, variables={"order_id": "ORD-999"}) == {}


async def test_variable_that_does_not_fit_is_left_out():
    assert await read([ORDER], "where?", variables={"order_id": 5}) == {}


async def test_record_comes_from_context_alone():
    city = Parameter("city", KIND.STRING)
    address = Parameter("address", KIND.RECORD, fields=(city,))

    assert await read([address], "Graz", variables={"address": {"city": "Graz"}}) == {
        "address": {"city": "Graz"}
    }
    assert await read([address], "my city is Graz") == {}


async def test_context_parameter_is_never_read_from_words():
    tier = Parameter("tier", KIND.STRING, choices=("gold",), source=ArgumentSource.CONTEXT)

    assert await read([tier], "I am gold") == {}
    assert await read([tier], "hello", variables={"tier": "gold"}) == {"tier": "gold"}


# -- laws --


@given(
    text=st.text(max_size=200),
    earlier=st.text(max_size=60),
    question=st.sampled_from(["", "How much?", "What amount?", "Which card type?", "Who?"]),
)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_fact_is_verbatim_and_fits(text, earlier, question):
    parameters = [AMOUNT, DATE, CARD, ORDER, PAYEE, URGENT]
    said = [earlier, agent_said(question or "Ok."), text]

    found = await facts_of(parameters, *said)

    for fact in found.values():
        assert fact.offset in (0, 2)
        assert fact.source in said[fact.offset]


async def test_digits_of_another_script_are_read_and_quoted_verbatim():
    fact = (await facts_of([AMOUNT], "send ٢٠٠"))["amount"]

    assert (fact.value, fact.source) == (200, "٢٠٠")


async def test_long_message_is_read_at_both_ends():
    padding = "blah " * 200_000

    assert await read([ORDER], f"ORD-123 {padding}") == {"order_id": "ORD-123"}
    assert await read([ORDER], f"{padding} ORD-123") == {"order_id": "ORD-123"}
