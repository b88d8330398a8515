"""What is known of a model beside its name: how much it reads, what it can do, what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs

from poise.turn.generation import Usage
from poise.turn.models import Capability

_MILLION = 1_000_000


class SizeClass(Enum):
    """How big a model is among its maker's: `provider:small` names the preferred small one."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


@attrs.frozen
class Price:
    """US dollars per million tokens.

    Attributes:
        input: Fresh input.
        output: Output, reasoning included.
        cached: Input read from the provider's cache; `None`: as `input`.
        written: Input written to the provider's cache; `None`: as `input`.
    """

    input: float
    output: float = 0.0
    cached: float | None = None
    written: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return what a request of that usage costs, in US dollars."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        plain = usage.input_tokens - usage.cached_tokens - usage.written_tokens
        return (
            plain * self.input
            + usage.cached_tokens * cached
            + usage.written_tokens * written
            + usage.output_tokens * self.output
        ) / _MILLION


@attrs.frozen
class ModelCard:
    """A model's data, from the files that plugins contribute and from settings.

    Attributes:
        provider: The provider's name.
        match: The model's name, with `*` for any ending.
        context: Tokens that it reads and writes together; `None`: not known, so nothing is cut.
        max_output: Tokens that it writes at most; `None`: not known.
        size: Its class; `None`: not known.
        capabilities: What it can be asked for; empty: whatever its provider says.
        price: `None`: not known here; a price table may know.
        band: For decisions: at or below the first probability it is a no, at or above the second
            a yes; `None`: the model's own.
        questions: Questions that one decision request may hold; `None`: the model's own limit.
        dimensions: Length of a vector, for embedders; `None`: not known.
        quirks: What else its provider must know, by the provider's own keys.
    """

    provider: str
    match: str
    context: int | None = None
    max_output: int | None = None
    size: SizeClass | None = None
    capabilities: frozenset[Capability] = frozenset()
    price: Price | None = None
    band: tuple[float, float] | None = None
    questions: int | None = None
    dimensions: int | None = None
    quirks: Mapping[str, Any] = attrs.field(factory=dict, hash=False)

    def fits(self, model: str) -> bool:
        """Say whether this card is about `model`."""
        if self.match.endswith("*"):
            return model.startswith(self.match[:-1])
        return model == self.match
