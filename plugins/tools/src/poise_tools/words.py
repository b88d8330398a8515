"""Words: how names and texts are cut up and compared, everywhere in this distribution alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
"""A word of a text: letters and digits, with an apostrophe inside."""


def vocabulary(text: str) -> tuple[str, ...]:
    """Return the words of a list that is written as one text."""
    return tuple(text.split())


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STRAY = re.compile(r"[^\w%]+")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return `word` in lower case, a regular plural as its singular."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a parameter's name: `from_date` and `fromDate` are `from`, `date`."""
    return tuple(stem(part) for part in WORD.findall(_CAMEL.sub(" ", name).replace("_", " ")))


def words_of(text: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    return frozenset(stem(word) for word in WORD.findall(text))


def contains_all(words: frozenset[str], wanted: Sequence[str] | Iterable[str]) -> bool:
    """Say whether every wanted stem is there, and at least one was wanted."""
    wanted = tuple(wanted)
    return bool(wanted) and all(word in words for word in wanted)


def plain(text: str) -> str:
    """Return a text in lower case with single spaces for all that is no word."""
    return _STRAY.sub(" ", text.lower()).strip()
