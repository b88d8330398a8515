"""Composition: what the agent says, and the vocabulary it reads the conversation with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar

from poise.turn.context import TurnContext
from poise.turn.speech import Revision, Utterance
from poise.values.agents import CompositionMode
from poise.values.terms import Term


class Composer(ABC):
    """Words the reply of a turn: the one way out for what an agent says."""

    modes: ClassVar[frozenset[CompositionMode]]

    @abstractmethod
    def compose(
        self, turn: TurnContext, revision: Revision | None = None
    ) -> AsyncIterator[Utterance]:
        """Yield what to say: messages, or chunks of a streamed one, or one silence.

        Never an empty message and never an unfilled field. An exception makes the engine say the
        agent's apology. The iterator is closed when the turn is cancelled.

        Args:
            turn: Everything that was prepared.
            revision: Why an earlier draft was sent back, or `None`.
        """


class TermFinder(ABC):
    """Finds the vocabulary that a conversation touches."""

    @abstractmethod
    async def find(self, turn: TurnContext) -> Sequence[Term]:
        """Return the terms of `turn.snapshot` that the window mentions, in a stable order."""
