"""Tables that fit the terminal, and text that can't steer it."""

from __future__ import annotations

import unicodedata

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.cli.progress import TerminalProgress
from poise.cli.tables import clip, one_line, printable, table, terminal_width, width_of, write


def plain(text: str) -> str:
    return click.unstyle(text)


def test_columns_are_aligned_and_numbers_may_stand_to_the_right() -> None:
    text = table(("rule", "p"), [("Lost card", "0.9"), ("Fee", "12.0")], right=frozenset({"p"}))

    assert plain(text).splitlines() == [
        "rule          p",
        "Lost card   0.9",
        "Fee        12.0",
    ]


def test_wide_characters_take_two_columns() -> None:
    text = plain(table(("who", "what"), [("银行", "a"), ("bank", "b")]))

    assert text.splitlines()[1:] == ["银行  a", "bank  b"]


def test_empty_columns_are_left_out() -> None:
    assert plain(table(("a", "b"), [("x", None), ("y", "")])).splitlines()[0] == "a"


def test_widest_column_is_cut_first() -> None:
    text = plain(table(("name", "id"), [("a very long name indeed", "4711")], width=20))

    assert text.splitlines()[1] == "a very long n…  4711"


CELLS = st.text(max_size=40)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5), st.integers(40, 120))
def test_no_line_is_wider_than_there_is_room_and_each_row_is_one_line(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    lines = plain(table(("one", "two", "three"), rows, width=width)).split("\n")

    assert len(lines) == len(rows) + 1
    assert all(width_of(line) <= width for line in lines)


@given(st.text())
def test_printable_text_has_no_control_characters(text: str) -> None:
    assert {unicodedata.category(char) for char in printable(text) if char != "\n"}.isdisjoint(
        {"Cc", "Cs"}
    )
    assert "\n" not in one_line(text)
    assert printable(printable(text)) == printable(text)


def test_text_can_not_turn_its_direction() -> None:
    assert "\u202e" not in printable("safe\u202eevil")


def test_joined_letters_and_emoji_survive() -> None:
    text = "می‌خواهم 👩‍💻"

    assert printable(text) == text


@given(st.text(), st.integers(1, 30))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert width_of(clip(one_line(text), width)) <= width


def test_columns_variable_says_how_wide_the_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")

    assert terminal_width() == 57


def test_nothing_is_coloured_where_no_color_is_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    write(click.style("bold", bold=True))

    assert capsys.readouterr().out == "bold\n"


def test_progress_elsewhere_than_on_a_terminal_is_begin_and_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = TerminalProgress()

    for done in range(101):
        progress.report("embedding", done, 100)
    progress.report("training", 1, 1)

    assert capsys.readouterr().err.splitlines() == [
        "embedding 0/100",
        "embedding 100/100",
        "training 1/1",
    ]
