"""Prompts as sections, most stable first, so that the longest prefix repeats from turn to turn."""

from __future__ import annotations

from enum import Enum, IntEnum
from itertools import groupby

import attrs


class Stability(IntEnum):
    """For how long a section's bytes stay the same; sections are laid out in this order."""

    CATALOG = 0
    SESSION = 1
    TURN = 2


class Cut(Enum):
    """What is left out of a section when the budget is short."""

    WHOLE = "whole"
    OLDEST_LINES = "oldest_lines"
    NOTHING = "nothing"


@attrs.frozen
class Section:
    """A named piece of a prompt.

    Attributes:
        name: For ledgers and budgets.
        text: What the model reads.
        stability: Where it is laid out.
        priority: What is left out first when the budget is short: lower goes first.
        cut: WHOLE: all of it goes. OLDEST_LINES: lines go from the second on (the first is the
            heading), and all of it last. NOTHING: the request fails before it goes.
    """

    name: str
    text: str
    stability: Stability
    priority: int = 0
    cut: Cut = Cut.WHOLE


@attrs.frozen
class Prompt:
    """Sections in the order that a model reads them."""

    sections: tuple[Section, ...]

    @classmethod
    def of(cls, *sections: Section) -> Prompt:
        """Return the prompt of all sections that have text, most stable first."""
        kept = [section for section in sections if section.text]
        return cls(tuple(sorted(kept, key=lambda section: section.stability)))

    @property
    def text(self) -> str:
        """The whole prompt as one text."""
        return "\n\n".join(section.text for section in self.sections)

    @property
    def blocks(self) -> tuple[tuple[Stability, str], ...]:
        """The text in one piece per stability, most stable first: where caches may be cut."""
        return tuple(
            (stability, "\n\n".join(section.text for section in sections))
            for stability, sections in groupby(self.sections, lambda each: each.stability)
        )

    def followed_by(self, *sections: Section) -> Prompt:
        """Return this prompt with more sections, each laid out after those of its stability."""
        return Prompt.of(*self.sections, *sections)
