"""How near the customer's words lie to the examples of a question, and whether they deny them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from poise import Embedder
from poise.turn.models import Question
from poise_embedded.example_vectors import ExampleVectors
from poise_embedded.negation import Denial, is_denial


@attrs.frozen
class Nearness:
    """One text of the focus beside one question.

    Attributes:
        example: The example nearest to the text.
        cosine: How near it is.
        contrast: By how much it is nearer than the nearest counterexample, where there are any.
        is_denied: The text denies what is near to the examples; they do not deny it themselves.
    """

    example: str
    cosine: float
    contrast: float | None
    is_denied: bool


async def compare(
    questions: Sequence[Question],
    focus: Mapping[str, Denial | None],
    *,
    embedder: Embedder,
    examples: ExampleVectors,
) -> Mapping[str, Sequence[Nearness]]:
    """Return, by question, one nearness per text of the focus.

    Args:
        questions: Each has examples.
        focus: The texts, with what they deny.
        embedder: For the texts, and for their parts where they deny something.
        examples: For the questions' own phrases.

    Raises:
        ProviderError: The embedder failed.
    """
    parts = [part for each in focus.values() if each for part in (each.denied, each.rest) if part]
    said = list(dict.fromkeys((*focus, *parts)))
    phrases = list(
        dict.fromkeys(
            phrase for each in questions for phrase in (*each.examples, *each.counterexamples)
        )
    )
    spoken = await embedder.embed(said)
    vectors = await examples.of(phrases)
    known = np.concatenate([vectors[each] for each in phrases]).reshape(len(phrases), -1)
    table = _Cosines(said, phrases, spoken @ known.T)
    return {
        question.id: [_nearness(question, text, denial, table) for text, denial in focus.items()]
        for question in questions
    }


class _Cosines:
    """The cosine of every text with every phrase."""

    def __init__(
        self, texts: Sequence[str], phrases: Sequence[str], cosines: NDArray[np.float32]
    ) -> None:
        self._rows = {text: row.tolist() for text, row in zip(texts, cosines, strict=True)}
        self._columns = {phrase: column for column, phrase in enumerate(phrases)}

    def nearest(self, text: str, phrases: Sequence[str]) -> tuple[float, str]:
        """Return the phrase nearest to `text`, after its cosine."""
        row = self._rows[text]
        return max((row[self._columns[phrase]], phrase) for phrase in phrases)


def _nearness(question: Question, text: str, denial: Denial | None, table: _Cosines) -> Nearness:
    cosine, example = table.nearest(text, question.examples)
    contrast = None
    if question.counterexamples:
        contrast = cosine - table.nearest(text, question.counterexamples)[0]
    return Nearness(example, cosine, contrast, _is_denied(question, example, denial, table))


def _is_denied(question: Question, example: str, denial: Denial | None, table: _Cosines) -> bool:
    if denial is None:
        return False
    if denial.rest:
        denied, _ = table.nearest(denial.denied, question.examples)
        rest, _ = table.nearest(denial.rest, question.examples)
        if denied < rest:
            return False
    return not is_denial(example)  # else denying is what the question is about
