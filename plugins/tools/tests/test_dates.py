"""Dates and moments, relative to Monday, 5 January 2026."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise_tools.dates import dates, moments

TODAY = date(2026, 1, 5)


def read(text):
    return [reading.value for reading in dates(text, TODAY)[0] if not reading.doubtful]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on 2026-03-05 please", "2026-03-05"),
        ("5 March", "2026-03-05"),
        ("5th of March 2027", "2027-03-05"),
        ("March 5th, 2026", "2026-03-05"),
        ("5 mar", "2026-03-05"),
        ("today", "2026-01-05"),
        ("Tomorrow!", "2026-01-06"),
        ("yesterday", "2026-01-04"),
        ("the day after tomorrow", "2026-01-07"),
        ("next friday", "2026-01-09"),
        ("on Friday", "2026-01-09"),
        ("next monday", "2026-01-12"),
        ("last friday", "2026-01-02"),
        ("in two weeks", "2026-01-19"),
        ("3 days ago", "2026-01-02"),
        ("25/12/2026", "2026-12-25"),
        ("12/25/2026", "2026-12-25"),
        ("04/04/2026", "2026-04-04"),
        ("03.04.2026", "2026-04-03"),
    ],
)
def test_date_is_read(text, day):
    assert read(text) == [day]


@pytest.mark.parametrize("text", ["03/04/2026", "31 Feb 2026", "on monday", "soon", "10:30", "3/4"])
def test_date_with_two_readings_or_none_is_left_out(text):
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "day"), [("the 15th", "2026-01-15"), ("on the 3rd", "2026-02-03")]
)
def test_day_of_no_month_is_the_coming_one_and_doubtful(text, day):
    ((reading,), _) = dates(text, TODAY)

    assert (reading.value, reading.doubtful) == (day, True)


def test_day_of_no_month_is_none_beside_another_date():
    assert read("from the 10th to the 20th of March 2026") == ["2026-03-20"]
    assert len(dates("from the 10th to the 20th of March 2026", TODAY)[0]) == 1


def test_day_whose_last_occurrence_is_nearer_is_doubtful():
    ((reading,), _) = dates("28 December", TODAY)

    assert (reading.value, reading.doubtful) == ("2026-12-28", True)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow at 3pm", "2026-01-06T15:00:00+00:00"),
        ("3:15 pm tomorrow", "2026-01-06T15:15:00+00:00"),
        ("15:30 on 5 March", "2026-03-05T15:30:00+00:00"),
        ("noon tomorrow", "2026-01-06T12:00:00+00:00"),
        ("2026-03-05T10:00+01:00", "2026-03-05T10:00:00+01:00"),
    ],
)
def test_moment_is_a_date_with_a_time_of_day(text, moment):
    found = moments(text, datetime(2026, 1, 5, 9, tzinfo=UTC))

    assert [each.value for each in found] == [moment]


@pytest.mark.parametrize("text", ["tomorrow", "3pm", "tomorrow at 3", "tomorrow at 25:00"])
def test_half_a_moment_is_none(text):
    assert moments(text, datetime(2026, 1, 5, 9, tzinfo=UTC)) == ()


@given(st.dates(min_value=date(2000, 1, 1), max_value=date(2099, 12, 31)))
def test_written_date_is_read_back(day):
    for text in (day.isoformat(), f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}"):
        assert read(text) == [day.isoformat()]


@given(st.text(max_size=300))
def test_reading_is_total(text):
    readings, places = dates(text, TODAY)

    assert {reading.span for reading in readings} <= set(places)
