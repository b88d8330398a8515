"""Splits a message that asks several things into its parts, since joined ones hide each other."""

from __future__ import annotations

import re

MOST = 6
"""A message is split into at most this many parts; the last one keeps the rest."""

_LEAST_WORDS = 3
_WIDE_LETTERS = 6  # in scripts that write no blanks, letters stand in for words
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])\s*|(?<=[؟؛])\s+")
# "And" in the languages that the bundled embedder knows and that set blanks between words.
_CONJUNCTION = re.compile(
    r",?\s+(?:and also|and then|and|also|but|plus|und|aber|y también|y|pero|et aussi|et|mais|"
    r"e também|e anche|e|mas|ma|en|maar|oraz|i także|ale|ve|ama|и|но)\s+",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def split_message(text: str) -> tuple[str, ...]:
    """Return the parts of a message in order, or nothing when it is of one piece.

    Sentences are split, and sentences at a conjunction where both sides could stand alone. A part
    that is too short to mean anything is left out.
    """
    parts: list[str] = []
    for sentence in _SENTENCE.split(text):
        parts.extend(_clauses(sentence.strip()))
    if len(parts) > MOST:
        parts = [*parts[: MOST - 1], " ".join(parts[MOST - 1 :])]
    kept = tuple(part for part in parts if _can_stand(part))
    return () if len(parts) < 2 or not kept else kept


def _clauses(sentence: str) -> list[str]:
    clauses: list[str] = []
    start = 0
    for found in _CONJUNCTION.finditer(sentence):
        before, after = sentence[start : found.start()], sentence[found.end() :]
        if _can_stand(before) and _can_stand(after):
            clauses.append(before.strip())
            start = found.end()
    rest = sentence[start:].strip()
    return [*clauses, rest] if rest else clauses


def _can_stand(text: str) -> bool:
    return len(text.split()) >= _LEAST_WORDS or len(_WIDE.findall(text)) >= _WIDE_LETTERS
