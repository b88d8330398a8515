"""Prompts as sections, most stable first, so that the longest prefix repeats from turn to turn."""

from __future__ import annotations

from enum import IntEnum

import attrs


class Stability(IntEnum):
    """For how long a section's bytes stay the same; sections are laid out in this order."""

    CATALOG = 0
    SESSION = 1
    TURN = 2


@attrs.frozen
class Section:
    """A named piece of a prompt.

    Attributes:
        name: For ledgers and budgets.
        text: What the model reads.
        stability: Where it is laid out.
        priority: What is left out first when the budget is short: lower goes first.
    """

    name: str
    text: str
    stability: Stability
    priority: int = 0


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
