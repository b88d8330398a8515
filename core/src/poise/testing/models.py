"""Models that answer from a script, for tests of whatever goes through `turn.models`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from poise.turn.models import Answer, Capability, DecisionRequest, TurnModels
from poise.turn.prompts import Prompt
from poise.values.ids import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def scripted_vectors(texts: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """Return a unit row per text, made of its words: shared words make near vectors."""
    import numpy as np

    rows = np.zeros((len(texts), dimensions), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        words = "".join(each if each.isalnum() else " " for each in text.lower()).split()
        for word in words:
            row[int(digest(word)[:12], 36) % dimensions] += 1.0
        norm = float(np.linalg.norm(row))
        if norm == 0.0:
            row[0] = 1.0
        else:
            row /= norm
    return rows


class ScriptedModels(TurnModels):
    """Embeds by words and answers questions from a script, and keeps what it was asked.

    Attributes:
        requests: Every decision request, oldest first, with its route.
        embedded: Every batch of texts, oldest first.
    """

    def __init__(
        self,
        answers: Mapping[str, float | None]
        | Callable[[str, DecisionRequest], float | None] = lambda _id, _request: None,
        *,
        dimensions: int = 256,
        served: frozenset[Capability] = frozenset(Capability),
    ) -> None:
        self._answers = answers
        self._dimensions = dimensions
        self._served = served
        self.requests: list[tuple[str, DecisionRequest]] = []
        self.embedded: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        self.embedded.append(tuple(texts))
        return scripted_vectors(texts, self._dimensions)

    async def warm(self, *, route: str = "embed", prompt: Prompt | None = None) -> None:
        return None

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        self.requests.append((route, request))
        return [self._answer(question.id, request) for question in request.questions]

    def _answer(self, question: str, request: DecisionRequest) -> Answer:
        if callable(self._answers):
            value = self._answers(question, request)
        else:
            value = self._answers.get(question)
        yes = None if value is None or 0.35 < value < 0.65 else value >= 0.65
        return Answer(question, yes, value, judged_by="scripted:model")

    def serves(self, route: str, capability: Capability) -> bool:
        return capability in self._served

    def identity(self, route: str = "embed") -> str:
        return f"scripted-words-{self._dimensions}"
