"""What a piece of text can be read as, and where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

Span = tuple[int, int]
"""Where something stands in a text: its start and its end."""


@attrs.frozen
class Reading:
    """One value that a text gives.

    Attributes:
        value: JSON.
        start: Where it begins.
        end: Where it ends.
        decisive: It can hardly be anything else (an id by its pattern, a choice by its name), so
            it needs no hint as to what it is for.
        doubtful: It counts only as an answer, or beside the parameter's own name.
        unit: The stem of a word after a number that says what is counted.
        currencies: Codes that money may be in; empty for a plain number.
        held: What of it no other reading can share; default all. Of an amount it is the number,
            so that its currency is another parameter's.
    """

    value: Any  # JSON
    start: int
    end: int
    decisive: bool = False
    doubtful: bool = False
    unit: str = ""
    currencies: tuple[str, ...] = ()
    held: Span | None = None

    @property
    def span(self) -> Span:
        """Where it stands."""
        return (self.start, self.end)

    @property
    def core(self) -> Span:
        """What of it no other reading can share."""
        return self.held or self.span


def overlaps(span: Span, others: Iterable[Span]) -> bool:
    """Say whether `span` shares a character with one of `others`."""
    return any(span[0] < end and start < span[1] for start, end in others)
