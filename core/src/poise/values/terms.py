"""Vocabulary: a word that the agent reads the way its author means it."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from poise.errors import InvalidValueError
from poise.values.ids import AgentId, TermId


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


@attrs.frozen
class Term:
    """A name, what it means, and other words for the same thing."""

    id: TermId
    agent: AgentId
    name: str
    description: str
    synonyms: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def __attrs_post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidValueError("term", "name", "is empty")
        if not self.description.strip():
            raise InvalidValueError(f"term {self.name!r}", "description", "is empty")
