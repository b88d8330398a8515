"""Fitting what is asked to the room of a model's window, by the priority of sections."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import attrs

from poise.turn.models import Question
from poise.turn.prompts import Cut, Prompt, Section

Count = Callable[[str], int]
"""How many tokens a text has."""

# -- how long a text is --

_PLAIN = bytes([*b" ", *range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)])
_ASCII = bytes(range(0x80))
_LATIN = bytes(range(0xC2, 0xCC))  # first bytes of U+0080 to U+02FF
_ALPHABETS = bytes(range(0xCC, 0xE0))  # … to U+07FF: Greek, Cyrillic, Hebrew, Arabic
_SYLLABLES = bytes(range(0xE0, 0xE2))  # … to U+1FFF: of India and South-East Asia
_IDEOGRAPHS = bytes(range(0xE2, 0xF0))  # … to U+FFFF: Chinese, Japanese, Korean, symbols
_RARE = bytes(range(0xF0, 0xF5))  # beyond: emoji and seldom used scripts

_HUNDREDTHS = (
    (_PLAIN, 25),
    (_LATIN, 60),
    (_ALPHABETS, 50),
    (_SYLLABLES, 90),
    (_IDEOGRAPHS, 100),
    (_RARE, 250),
)
"""Per first byte of a character in UTF-8, hundredths of a token that such a character takes."""

_OTHER_ASCII = 50  # digits, punctuation and line breaks: JSON and figures are full of them
_SAFETY = 115  # per cent


def estimate(text: str) -> int:
    """Return about how many tokens a text has, from its characters and rather too many.

    A token is about four plain letters, two digits or signs, two letters of Greek, Cyrillic,
    Hebrew or Arabic, one of an Indian or South-East Asian script, one Chinese, Japanese or Korean
    character; an emoji takes two and a half. On top of that come 15 %, since vocabularies differ.
    A longer text never has fewer, two texts together no more than both apart, and only the empty
    text has none.
    """
    # Byte counts in C: a prompt of 100 kB takes well below a millisecond.
    data = text.encode("utf-8", "surrogatepass")
    hundredths = 0
    plain = 0
    for first_bytes, each in _HUNDREDTHS:
        found = len(data) - len(data.translate(None, first_bytes))
        hundredths += found * each
        if first_bytes is _PLAIN:
            plain = found
            if plain == len(data):
                break
    if plain < len(data):
        ascii_count = len(data) - len(data.translate(None, _ASCII))
        hundredths += (ascii_count - plain) * _OTHER_ASCII
    return -(-hundredths * _SAFETY // 10_000)


# -- prompts --


@attrs.frozen
class Fitted:
    """A prompt as far as it fits, and what that took.

    Attributes:
        prompt: What is left; when it does not fit, only what may never go.
        omitted: What went, in the order of the prompt: `terms` for a whole section,
            `history: 12 oldest lines` for a shortened one.
        tokens: That `prompt` has.
        fits: Whether that is within the room.
    """

    prompt: Prompt
    omitted: tuple[str, ...]
    tokens: int
    fits: bool


def fit(prompt: Prompt, room: int, *, count: Count = estimate) -> Fitted:
    """Return the prompt with as much left out as it takes to have at most `room` tokens.

    Sections go by priority, the lowest first; of equal ones the less stable first, so that what a
    provider caches stays as it is. A section goes whole, or loses its oldest lines, no more than
    needed; its heading and its newest line stay until all else that may go has gone, and then the
    least stable go first: a result before the customer's question. What stays keeps its place and
    its bytes.

    Args:
        prompt: The whole prompt.
        room: Tokens.
        count: Counts them.
    """
    state = _State(prompt, room, count)
    by_priority = sorted(
        (place for place, each in enumerate(prompt.sections) if each.cut is not Cut.NOTHING),
        key=lambda place: (prompt.sections[place].priority, -place),
    )
    for place in by_priority:
        if state.fits:
            break
        if prompt.sections[place].cut is Cut.OLDEST_LINES:
            state.shorten(place)
        else:
            state.drop(place)
    for place in sorted(by_priority, key=lambda place: -prompt.sections[place].stability):
        if state.fits:
            break
        state.drop(place)
    return state.result()


class _State:
    """A prompt while it is being fitted."""

    def __init__(self, prompt: Prompt, room: int, count: Count) -> None:
        self._given = prompt.sections
        self._kept: list[Section | None] = list(prompt.sections)
        self._lines_gone: dict[int, int] = {}
        self._room = room
        self._count = count
        self._tokens = count(prompt.text)

    @property
    def fits(self) -> bool:
        return self._tokens <= self._room

    def drop(self, place: int) -> None:
        """Leave a section out."""
        self._put(place, None)
        self._lines_gone.pop(place, None)

    def shorten(self, place: int) -> None:
        """Leave out as many of a section's oldest lines as needed, or all but the newest."""
        section = self._given[place]
        lines = _Lines.of(section.text)

        def without(dropped: int) -> Section:
            return attrs.evolve(section, text=lines.without(dropped))

        most = len(lines.rest) - 1
        if most < 1 or self._tokens_with(place, without(most)) >= self._tokens:
            return
        fewest = 1
        while fewest < most:
            middle = (fewest + most) // 2
            if self._tokens_with(place, without(middle)) <= self._room:
                most = middle
            else:
                fewest = middle + 1
        self._put(place, without(most))
        self._lines_gone[place] = lines.gone + most

    def _put(self, place: int, section: Section | None) -> None:
        self._kept[place] = section
        self._tokens = self._count(_prompt(self._kept).text)

    def _tokens_with(self, place: int, section: Section) -> int:
        return self._count(_prompt([*self._kept[:place], section, *self._kept[place + 1 :]]).text)

    def result(self) -> Fitted:
        omitted = [
            section.name
            if self._kept[place] is None
            else f"{section.name}: {self._lines_gone[place]} oldest lines"
            for place, section in enumerate(self._given)
            if self._kept[place] is None or place in self._lines_gone
        ]
        return Fitted(_prompt(self._kept), tuple(omitted), self._tokens, self.fits)


def _prompt(kept: Sequence[Section | None]) -> Prompt:
    return Prompt(tuple(each for each in kept if each is not None))


_MARK = re.compile(r"\[(\d+) older lines are left out\]")


@attrs.frozen
class _Lines:
    """A section's heading, how many lines after it are gone already, and the lines that follow."""

    heading: str
    gone: int
    rest: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Lines:
        heading, *rest = text.split("\n")
        mark = _MARK.fullmatch(rest[0]) if rest else None
        return cls(heading, int(mark[1]), tuple(rest[1:])) if mark else cls(heading, 0, tuple(rest))

    def without(self, dropped: int) -> str:
        mark = f"[{self.gone + dropped} older lines are left out]"
        return "\n".join((self.heading, mark, *self.rest[dropped:]))


# -- questions --


def split_questions(
    questions: Sequence[Question],
    room: int | None,
    *,
    limit: int,
    count: Callable[[Question], int],
) -> Sequence[Sequence[Question]]:
    """Return the questions in batches that fit, as few as that takes and of about one size.

    Their order is kept over all batches. A question that does not fit by itself is a batch of its
    own: the model says what is wrong with it.

    Args:
        questions: What is asked.
        room: Tokens that the questions of one request may have; `None`: any number.
        limit: Questions that one request may hold, at least one.
        count: Counts a question's tokens.
    """
    sizes = [0 if room is None else count(question) for question in questions]
    batches = _batches(sizes, room, max(limit, 1))
    if len(batches) > 1:
        # Batches go out side by side, and the largest one is waited for.
        even = _batches(sizes, room, -(-len(questions) // len(batches)))
        batches = even if len(even) == len(batches) else batches
    return [questions[start:end] for start, end in batches]


def _batches(sizes: Sequence[int], room: int | None, limit: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start = taken = 0
    for place, size in enumerate(sizes):
        is_full = place - start == limit or (room is not None and taken + size > room)
        if place > start and is_full:
            found.append((start, place))
            start, taken = place, 0
        taken += size
    if sizes:
        found.append((start, len(sizes)))
    return found
