from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poise_embedded.texts import chunks, readable

ANY_TEXT = st.text(st.characters(), max_size=4000)


def test_a_text_of_nothing_but_blanks_and_control_characters_is_empty() -> None:
    assert readable(" \x00\n\t\x1b\ufeff ") == ""


def test_a_long_text_keeps_its_head_and_its_tail() -> None:
    text = f"first {'filler ' * 100_000} last"

    found = readable(text)

    assert found.startswith("first filler")
    assert found.endswith("filler last")
    assert len(found.split()) == 256


def test_a_text_without_spaces_is_cut_too() -> None:
    assert len(readable("字" * 1_000_000)) <= 2049


def test_two_halves_of_a_surrogate_pair_become_one_character() -> None:
    assert readable("\ud83d\ude42 hi") == "🙂 hi"


@given(ANY_TEXT)
def test_whatever_comes_can_be_encoded_and_read_again_unchanged(text: str) -> None:
    once = readable(text)

    assert once.encode("utf-8").decode("utf-8") == once
    assert readable(once) == once or len(once) > 2048


@given(st.lists(st.text(max_size=3000), max_size=50), st.integers(1, 8))
def test_runs_hold_every_text_once_in_order(texts: list[str], limit: int) -> None:
    runs = list(chunks(texts, limit))

    assert [each for run in runs for each in run] == list(range(len(texts)))
    assert all(0 < len(run) <= limit for run in runs)
    assert all(
        len(run) == 1 or sum(len(texts[each]) for each in run) <= 8192 + 3000 for run in runs
    )
