from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise_discovery.parts import MOST, split_message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I lost my card. What is my balance?", ("I lost my card.", "What is my balance?")),
        (
            "I lost my card and want to know my balance",
            ("I lost my card", "want to know my balance"),
        ),
        (
            "he perdido mi tarjeta y también quiero ver mi saldo",
            ("he perdido mi tarjeta", "quiero ver mi saldo"),
        ),
        (
            "ich habe meine Karte verloren und brauche eine neue",
            ("ich habe meine Karte verloren", "brauche eine neue"),
        ),
        ("我的卡丢了怎么办呢。请告诉我余额是多少", ("我的卡丢了怎么办呢。", "请告诉我余额是多少")),
        ("Hi! I lost my card yesterday", ("I lost my card yesterday",)),
    ],
)
def test_what_asks_two_things_is_split(text: str, parts: tuple[str, ...]) -> None:
    assert split_message(text) == parts


@pytest.mark.parametrize(
    "text", ["", "hello", "I lost my card", "black and white", "fish and chips please", "...", "?!"]
)
def test_what_is_of_one_piece_stays_whole(text: str) -> None:
    assert split_message(text) == ()


@given(st.text(max_size=400))
def test_parts_are_few_and_hold_only_words_of_the_message(text: str) -> None:
    parts = split_message(text)

    assert len(parts) <= MOST
    said = "".join(text.split())
    assert all("".join(part.split()) in said or len(parts) == MOST for part in parts)
    assert all(part.strip() for part in parts)


def test_a_long_message_is_cut_into_a_bounded_number_of_parts() -> None:
    text = "I have one more question. " * 50

    assert len(split_message(text)) == MOST
