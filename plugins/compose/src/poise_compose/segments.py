"""The parts of what a customer says, so that two requests in one message are both heard."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from poise.turn.queries import clip_words
from poise_compose.words import words_of

_MESSAGES = 3  # the newest; what came before them is history
_PIECES = 6
_BREAK = re.compile(
    r"[.!?;\n。！？؟；]+\s*|[,،、，]\s*|\s+(?:and|also|plus|und|auch|et|aussi|también|também)\s+",
    re.IGNORECASE,
)


@attrs.frozen
class Heard:
    """The texts that a reply answers.

    Attributes:
        texts: Each new message whole, then the clauses of those that have several.
        requests: Places in `texts` that may each want an answer: a message's clauses, or the
            message itself where it has only one.
    """

    texts: tuple[str, ...] = ()
    requests: tuple[int, ...] = ()


def heard(messages: Sequence[str]) -> Heard:
    """Return what is to be answered, a bounded number of texts whatever the customer sent.

    A whole text comes in the bytes that discovery made of it, so that a turn embeds it once.
    """
    wholes = dict.fromkeys(clip_words(text) for text in messages[-_MESSAGES:] if text.strip())
    parted = {whole: split(whole) for whole in wholes}
    pieces = [piece for clauses in parted.values() for piece in clauses][:_PIECES]
    texts = tuple(dict.fromkeys((*wholes, *pieces)))
    single = (whole for whole, clauses in parted.items() if not clauses)
    requests = {texts.index(text) for text in (*single, *pieces)}
    return Heard(texts, tuple(sorted(requests)))


def split(text: str) -> Sequence[str]:
    """Return the clauses of `text` that say something; nothing where it has only one."""
    clauses = [clause.strip() for clause in _BREAK.split(text)]
    telling = [clause for clause in clauses if len(words_of(clause)) > 1]
    return telling if len(telling) > 1 else ()
