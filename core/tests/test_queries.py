"""What discovery scores: bounded texts, made in one way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from poise.testing.turns import message
from poise.turn.queries import QUERY_WORDS, QueryKind, clip_words, customer_queries, result_query
from poise.values.events import Source


def test_every_new_message_is_scored_alone_and_the_last_ones_joined() -> None:
    said = [message("hello", 0), message("my card is gone", 1), message("please help", 2)]

    queries = customer_queries(said, base=1)

    assert [(each.kind, each.text) for each in queries] == [
        (QueryKind.MESSAGE, "my card is gone"),
        (QueryKind.MESSAGE, "please help"),
        (QueryKind.JOINED, "hello my card is gone please help"),
    ]


def test_answer_is_scored_with_the_question_it_answers() -> None:
    said = [
        message("I want a new card", 0),
        message("A debit or a credit card?", 1, Source.AI_AGENT),
        message("credit", 2),
    ]

    queries = customer_queries(said, base=2)

    assert queries[-1].kind is QueryKind.ANSWER
    assert queries[-1].text == "A debit or a credit card? credit"
    assert queries[-1].offset == 2


def test_statement_of_the_agent_is_not_scored() -> None:
    said = [message("hi", 0), message("Welcome.", 1, Source.AI_AGENT), message("thanks", 2)]

    assert QueryKind.ANSWER not in {each.kind for each in customer_queries(said, base=2)}


def test_nothing_new_gives_nothing_to_score() -> None:
    assert customer_queries([message("hi", 0)], base=1) == ()
    assert customer_queries([], base=0) == ()


@given(st.text(max_size=400), st.integers(2, 200))
def test_clipped_text_has_at_most_so_many_words(text: str, limit: int) -> None:
    words = text.split()
    clipped = clip_words(text, limit).split()

    assert len(clipped) <= limit
    if len(words) <= limit:
        assert clipped == words
    else:
        assert clipped[0] == words[0]
        assert clipped[-1] == words[-1]


def test_huge_text_keeps_head_and_tail() -> None:
    clipped = clip_words("first " + "filler " * 200_000 + "last")

    assert clipped.startswith("first filler")
    assert clipped.endswith("filler last")
    assert len(clipped.split()) == QUERY_WORDS


def test_result_is_scored_by_the_texts_in_it() -> None:
    query = result_query({"status": "card expired", "tries": 3, "notes": ["call bank"]}, 7)

    assert query is not None
    assert query.text == "card expired call bank"
    assert query.offset == 7
    assert result_query({"tries": 3}, 7) is None
