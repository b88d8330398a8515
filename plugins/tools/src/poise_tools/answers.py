"""Answers: what a reply to the agent's own question says as a whole."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from poise.values.tools import Parameter, ParameterKind
from poise_tools.conversation import Exchange, Passage
from poise_tools.named import is_telling
from poise_tools.readings import Reading
from poise_tools.words import name_words, vocabulary

_LONGEST = 4_000  # characters of a reply that can be one value

_YES = frozenset(vocabulary("yes yep yeah yup y sure correct absolutely definitely affirmative"))
_NO = frozenset(vocabulary("no nope nah n never"))
_FIRST_WORD = re.compile(r"\W*([^\W_]+)")
_NEGATIVE_QUESTION = re.compile(r"n['’]t\b|\bnot\b", re.IGNORECASE)
_AVERSE = re.compile(
    r"\s*(?:i (?:do not|don['’]?t|can['’]?t|cannot)|not sure|no\b|nope\b|none\b|never ?mind|cancel|"
    r"stop|wait|hold on|help|what|why|who|how|when|where|which|skip|forget|sorry|hi\b|hello|hey|"
    r"thanks|thank you|yes\b|yep\b|ok\b|okay\b|sure\b)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:sure|ok|okay|yes)?[,.!]?\s*(?:it['’]?s|it is|that['’]?s|that is|that would be)\s+",
    re.IGNORECASE,
)


def is_free_text(parameter: Parameter) -> bool:
    """Say whether nothing about a text can be recognised by its form."""
    return (
        parameter.kind is ParameterKind.STRING
        and not parameter.choices
        and (parameter.pattern is None or not is_telling(parameter.pattern))
    )


def whole_reply(exchange: Exchange) -> Passage | None:
    """Return the customer's one reply to one question, or `None` if it is anything else."""
    if len(exchange.passages) != 1 or len(exchange.asks) != 1:
        return None
    reply = exchange.passages[0]
    is_reply = reply.whole and reply.text.strip() and len(reply.text) <= _LONGEST
    return reply if is_reply else None


def is_answer(text: str) -> bool:
    """Say whether a reply can be a value at all: no question, no refusal, no greeting."""
    return "?" not in text and _AVERSE.match(text) is None


def answer(parameter: Parameter, exchange: Exchange, asked: AbstractSet[str]) -> Reading | None:
    """Return what the reply as a whole says for `parameter`, when it alone had been asked for.

    A BOOLEAN takes an explicit yes or no; a text that can't be recognised by its form takes the
    reply verbatim, without `it's` and the like before it.
    """
    reply = whole_reply(exchange)
    if reply is None or asked != {parameter.name}:
        return None
    if parameter.kind is ParameterKind.BOOLEAN:
        return _yes_or_no(reply.text, exchange.asks[0])
    if is_free_text(parameter) and is_answer(reply.text):
        return _trimmed(reply.said, parameter)
    return None


def _yes_or_no(text: str, question: str) -> Reading | None:
    if _NEGATIVE_QUESTION.search(question):
        return None  # a yes to a question in the negative says either
    first = _FIRST_WORD.match(text)
    words = {word.lower() for word in re.findall(r"[^\W_]+", text)}
    if first is None or (words & _YES and words & _NO):
        return None
    word = first[1].lower()
    if word in _YES or word in _NO:
        return Reading(word in _YES, first.start(1), first.end(1), decisive=True)
    return None


def _trimmed(said: str, parameter: Parameter) -> Reading | None:
    named = r"\s+".join(re.escape(word) for word in name_words(parameter.name))
    lead = _LEAD_IN.match(said) or re.match(rf"\s*(?:my|the) {named} is\s+", said, re.IGNORECASE)
    start = lead.end() if lead else 0
    value = said[start:].strip().strip('"“”').rstrip(".!").strip()
    if not value:
        return None
    place = said.index(value, start)
    return Reading(value, place, place + len(value), decisive=True)
