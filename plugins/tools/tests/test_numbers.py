"""Numbers and money: what is read, what is doubtful, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise_tools.numbers import numbers, parse


def read(text):
    return [reading.value for reading in numbers(text) if not reading.doubtful]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("send 200 to John", 200),
        ("two hundred", 200),
        ("a hundred and five", 105),
        ("twenty-five", 25),
        ("three thousand two hundred and one", 3201),
        ("1,250.50", 1250.5),
        ("1.250,50", 1250.5),
        ("1,250", 1250),
        ("1,000,000", 1_000_000),
        ("1.000.000", 1_000_000),
        ("12,50", 12.5),
        ("it is 12.50.", 12.5),
        ("0.125", 0.125),
        ("£20", 20),
        ("20€", 20),
        ("EUR 20", 20),
        ("20 dollars", 20),
        ("1.5k", 1500),
        ("2 grand", 2000),
        ("50 pence", 0.5),
        ("-5 degrees", -5),
    ],
)
def test_number_is_read(text, value):
    assert read(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "1.250",
        "ORD-123",
        "4242 4242 4242",
        "at 3/4 or 10:30",
        "on the 5th",
        "A4 paper",
        "200-300",
        "two three",
        "room 12b",
        "v2.1.3",
        "two and a half",
    ],
)
def test_part_of_something_else_is_no_number(text):
    assert [each.value for each in numbers(text)] == []


@pytest.mark.parametrize(
    "text",
    ["one of these", "I tried 3 times", "card ending in 4242", "order 12345", "10% off", "in 2023"],
)
def test_number_that_is_a_name_or_counts_something_is_doubtful(text):
    assert numbers(text)
    assert read(text) == []


@given(st.decimals(min_value=0, max_value=999_999, places=2))
def test_amount_is_read_in_english_and_in_german_grouping(amount):
    if amount == amount.to_integral_value():
        return  # a whole number loses its decimals on paper
    english = f"{amount:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))

    assert parse(english) == parse(german) == float(amount)


@given(st.text(max_size=300))
def test_reading_is_total_and_verbatim(text):
    for reading in numbers(text):
        assert 0 <= reading.start < reading.end <= len(text)
