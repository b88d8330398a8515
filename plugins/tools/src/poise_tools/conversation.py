"""The conversation as extraction reads it: what the customer said, and what had been asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import attrs

from poise.turn.context import TurnContext
from poise.values.events import Event
from poise.values.tools import Parameter
from poise_tools.words import contains_all, name_words, plain, words_of

_READ = 4_000  # characters of one message: its head and its tail
_READ_IN_ALL = 64_000  # of a conversation, newest first

_QUESTION = re.compile(r"[^.!?\n]*\?")
_REQUEST = re.compile(
    r"[^.!?\n]*\b(?:please (?:tell|give|send|enter|provide|share|name)|tell me|let me know|"
    r"i(?:'d| would)? need)\b[^.!?\n]*[.!:\n]?",
    re.IGNORECASE,
)
_GENERIC = frozenset({"id", "number", "no", "code", "name", "date", "value", "type", "ref"})


@attrs.frozen
class Passage:
    """A piece of one customer message.

    Attributes:
        said: Verbatim.
        text: The same with digits of other scripts as ASCII; places are the same in both.
        offset: Of the message's event.
        whole: Whether it is all of the message.
    """

    said: str
    text: str
    offset: int
    whole: bool = True

    @classmethod
    def of(cls, said: str, offset: int, *, whole: bool = True) -> Passage:
        """Return the passage of a verbatim text."""
        return cls(said, _with_ascii_digits(said), offset, whole)


@attrs.frozen
class Exchange:
    """What the customer said between two of the agent's messages.

    Attributes:
        question: The agent's words before it; empty when the customer spoke first.
        passages: Oldest first.
        is_new: Whether some of it is unanswered.
    """

    question: str
    passages: tuple[Passage, ...]
    is_new: bool

    @property
    def asks(self) -> tuple[str, ...]:
        """The agent's questions and requests, one each."""
        text = self.question[-_READ:]
        questions = [match[0].strip() for match in _QUESTION.finditer(text)]
        requests = [match[0].strip() for match in _REQUEST.finditer(text)]
        return tuple(
            dict.fromkeys(
                [*questions, *(each for each in requests if not any(each in q for q in questions))]
            )
        )


def exchanges(turn: TurnContext, since: int = 0) -> Iterator[Exchange]:
    """Yield the window's exchanges, newest first, until enough text was read.

    Args:
        turn: Whose history it is.
        since: Messages before this offset are left out.
    """
    room = _READ_IN_ALL
    said: list[Event] = []
    for event in (*reversed(turn.history.messages), None):
        if event is not None and event.is_customer_message:
            said.append(event)
            continue
        if said:
            kept = [each for each in reversed(said) if each.offset >= since]
            passages = tuple(piece for each in kept for piece in _pieces(each))
            if passages:
                yield Exchange(
                    question=event.text if event is not None else "",
                    passages=passages,
                    is_new=passages[-1].offset >= turn.base,
                )
                room -= sum(len(piece.text) for piece in passages)
            if room <= 0 or len(kept) < len(said):
                return
            said = []


def _pieces(event: Event) -> tuple[Passage, ...]:
    text = event.text
    if len(text) <= _READ:
        return (Passage.of(text, event.offset),)
    half = _READ // 2
    return tuple(
        Passage.of(piece, event.offset, whole=False) for piece in (text[:half], text[-half:])
    )


def _with_ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)


def asked(parameters: Sequence[Parameter], exchange: Exchange) -> frozenset[str]:
    """Return the names of the parameters that the agent had just asked for."""
    asks = exchange.asks
    spoken = plain(exchange.question[-_READ:])
    return frozenset(
        parameter.name
        for parameter in parameters
        if (parameter.question and plain(parameter.question) in spoken)
        or any(_asks_for(parameter, question) for question in asks)
    )


def _asks_for(parameter: Parameter, question: str) -> bool:
    spoken = words_of(question)
    named = name_words(parameter.name)
    telling = [word for word in named if word not in _GENERIC] or list(named)
    if contains_all(spoken, telling):
        return True
    choices = [plain(str(choice).replace("_", " ")) for choice in parameter.choices]
    flat = f" {plain(question)} "
    return sum(f" {choice} " in flat for choice in choices) > 1
