"""Numbers that are written out in English."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from poise_tools.readings import Reading
from poise_tools.words import WORD, vocabulary

_TEENS = vocabulary(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = vocabulary("twenty thirty forty fifty sixty seventy eighty ninety")
_UNITS = {
    **{word: value for value, word in enumerate(_TEENS)},
    **{word: (place + 2) * 10 for place, word in enumerate(_TENS)},
}
_SCALES = {"thousand": 1_000, "million": 1_000_000}


@attrs.define
class _Run:
    """A row of number words: what it adds up to so far, and where it stands."""

    start: int
    end: int
    total: int = 0
    current: int = 0
    last: str = "a"
    words: int = 0
    broken: bool = False

    def take(self, word: str) -> None:
        if word in _SCALES:
            self.broken |= self.last in ("", "and") or self.current == 0
            self.total += self.current * _SCALES[word]
            self.current, self.last = 0, "scale"
        elif word == "hundred":
            self.broken |= not 1 <= self.current <= 19
            self.current, self.last = self.current * 100, "hundred"
        elif word == "and":
            self.broken |= self.last not in ("hundred", "scale")
            self.last = "and"
        else:
            value = _UNITS[word]
            after_tens = self.last == "tens" and 1 <= value <= 9
            self.broken |= self.last in ("unit", "tens") and not after_tens
            self.current += value
            self.last = "tens" if value >= 20 else "unit"
        self.words += 1


def numbers_in_words(text: str) -> Iterator[Reading]:
    """Yield the numbers of `text` that are written out, in order."""
    run: _Run | None = None
    tokens = [(match[0].lower(), match.start(), match.end()) for match in WORD.finditer(text)]
    for place, (word, start, end) in enumerate(tokens):
        adjoining = run is not None and text[run.end : start] in (" ", "-", " - ")
        following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
        is_number = word in _UNITS or word in _SCALES or word == "hundred"
        goes_on = is_number or (word == "and" and following in _UNITS)
        if run is not None and adjoining and goes_on:
            run.take(word)
            run.end = end
        else:
            if run is not None:
                yield from _finished(run, text)
                run = None
            if word in ("a", "an") and following in ("hundred", *_SCALES):
                run = _Run(start, end, current=1)
            elif word in _UNITS:
                run = _Run(start, end)
                run.take(word)
    if run is not None:
        yield from _finished(run, text)


def _finished(run: _Run, text: str) -> Iterator[Reading]:
    follows = text[run.end : run.end + 12].lower()
    if run.broken or run.last == "and" or follows.startswith(" and a half"):
        return
    value = run.total + run.current
    # "One of these two" counts nothing that a tool needs, unless it was asked for.
    yield Reading(value, run.start, run.end, doubtful=run.words == 1 and value < 10)
