"""The texts that discovery scores: made in one way, for turns and for training alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from poise.values.events import Event

QUERY_WORDS = 128
"""A longer text is cut to its first and last words: what matters stands at either end."""

JOINED_MESSAGES = 3
"""How many of the customer's last messages are also scored as one text."""

_READ_LIMIT = 16_384  # characters looked at before words are counted, so 1 MB costs no more


class QueryKind(Enum):
    """How a query was made."""

    MESSAGE = "message"
    JOINED = "joined"
    ANSWER = "answer"
    TOOL_RESULT = "tool_result"


@attrs.frozen
class Query:
    """A text to be scored against every rule.

    Attributes:
        kind: How it was made.
        text: At most `QUERY_WORDS` words.
        offset: Of the newest event in it: what it brings up was triggered there.
        is_fresh: Whether nothing in it was answered before. Older words may bring a rule up; they
            say nothing about whether it applies to this very turn.
    """

    kind: QueryKind
    text: str
    offset: int
    is_fresh: bool = True


def clip_words(text: str, limit: int = QUERY_WORDS) -> str:
    """Return `text` with only its first and last words when it has more than `limit` of them."""
    if len(text) > _READ_LIMIT:
        text = f"{text[: _READ_LIMIT // 2]} {text[-_READ_LIMIT // 2 :]}"
    words = text.split()
    if len(words) <= limit:
        return " ".join(words)
    head = limit // 2
    return " ".join([*words[:head], *words[head - limit :]])


def customer_queries(messages: Sequence[Event], base: int) -> tuple[Query, ...]:
    """Return what to score for the customer's messages at or after offset `base`.

    Each new message alone; the last `JOINED_MESSAGES` customer messages joined, when the new ones
    are not all there is; and, where the agent's last words before them were a question, that
    question with the first new message.

    Args:
        messages: Message events of both sides, oldest first.
        base: Offset of the first message that is new.
    """
    said = [event for event in messages if event.is_customer_message and event.text.strip()]
    new = [event for event in said if event.offset >= base]
    if not new:
        return ()
    queries = [Query(QueryKind.MESSAGE, clip_words(event.text), event.offset) for event in new]
    recent = said[-JOINED_MESSAGES:]
    if len(recent) > 1:
        joined = clip_words(" ".join(clip_words(event.text) for event in recent))
        is_fresh = recent[0].offset >= base
        queries.append(Query(QueryKind.JOINED, joined, new[-1].offset, is_fresh))
    question = next(
        (
            event.text
            for event in reversed(messages)
            if event.is_agent_message and event.offset < new[0].offset
        ),
        "",
    )
    if question.rstrip().endswith(("?", "？", "؟")):
        answer = f"{clip_words(question, QUERY_WORDS // 2)} {clip_words(new[0].text)}"
        queries.append(Query(QueryKind.ANSWER, clip_words(answer), new[0].offset))
    return tuple(queries)


def result_query(data: Any, offset: int) -> Query | None:  # any JSON
    """Return what to score of a tool's result: the texts in it; `None` when there are none."""
    texts: list[str] = []
    room = _READ_LIMIT
    waiting = [data]
    while waiting and room > 0:
        each = waiting.pop()
        if isinstance(each, str):
            texts.append(each[:room])
            room -= len(each)
        elif isinstance(each, Mapping):
            waiting.extend(reversed(list(each.values())))
        elif isinstance(each, list | tuple):
            waiting.extend(reversed(each))
    text = clip_words(" ".join(texts))
    return Query(QueryKind.TOOL_RESULT, text, offset) if text else None
