"""The extractor: what is read from a conversation for which parameter, and what is left out."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.testing.turns import AGENT, catalog_of, turn_of
from poise.turn.tooling import Field
from poise.values.events import Source
from poise.values.ids import TermId
from poise.values.terms import Term
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
        "send around 200",
        "send up to £200",
        "between 100 and 200",
        "send 100 instead of 200",
        "-50",
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
    assert await read([START, END], "starting tomorrow until 8 March") == {
        "from_date": "2026-01-06",
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
