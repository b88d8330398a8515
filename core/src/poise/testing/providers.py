"""A provider that answers from a script, so that whole applications run without a real model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio

from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.testing.models import scripted_vectors
from poise.testing.scripted_generators import meet_script
from poise.turn.models import Capability, DecisionRequest, Probability, Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Script = Mapping[str, float | None] | Callable[[Question, DecisionRequest], float | None]
"""Probabilities by question id (a missing one is an abstention), or a function that gives them."""


class ScriptedEmbedder(Embedder):
    """Embeds by words: shared words make near vectors, in every run and on every machine.

    Args:
        dimensions: Length of a vector.
        failures: For each call, oldest first, what it raises, or `None`; later calls succeed.
        gate: Each call waits for it: a test says when the model answers.

    Attributes:
        embedded: Every batch of texts, oldest first.
    """

    def __init__(
        self,
        dimensions: int = 256,
        failures: Iterable[Exception | None] = (),
        gate: anyio.Event | None = None,
    ) -> None:
        self.identity = f"scripted-words-{dimensions}"
        self.dimensions = dimensions
        self.embedded: list[tuple[str, ...]] = []
        self._failures = iter(failures)
        self._gate = gate

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded.append(tuple(texts))
        await meet_script(self._failures, self._gate)
        return await anyio.to_thread.run_sync(scripted_vectors, texts, self.dimensions)


class ScriptedDecisionModel(DecisionModel):
    """Answers questions from a script; abstains where it has no line.

    Args:
        script: Probabilities by question id, or a function of question and request.
        failures: For each call, oldest first, what it raises, or `None`; later calls succeed.
        gate: Each call waits for it.

    Attributes:
        requests: Every request, oldest first.
    """

    identity = "scripted-answers"

    def __init__(
        self,
        script: Script | None = None,
        failures: Iterable[Exception | None] = (),
        gate: anyio.Event | None = None,
    ) -> None:
        self.requests: list[DecisionRequest] = []
        self._script = {} if script is None else script
        self._failures = iter(failures)
        self._gate = gate

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        self.requests.append(request)
        await meet_script(self._failures, self._gate)
        return [
            Probability(question.id, self._line(question, request))
            for question in request.questions
        ]

    def _line(self, question: Question, request: DecisionRequest) -> float | None:
        if isinstance(self._script, Mapping):
            return self._script.get(question.id)
        return self._script(question, request)


class ScriptedProvider(ModelProvider):
    """Gives out one embedder, `words`, and one model, `script`, for everything else.

    `offers.add(ModelProvider, "scripted", lambda: ScriptedProvider(decisions=…), default=True)`
    serves a whole application; a test keeps the models it passes in to see what they were asked.

    Args:
        embedder: Default: one that never fails.
        decisions: Default: a model that abstains.
        text: `None`: this provider writes no text.
        structured: `None`: it writes no JSON.
        moderator: `None`: it does not moderate.
    """

    name = "scripted"

    def __init__(
        self,
        embedder: ScriptedEmbedder | None = None,
        decisions: ScriptedDecisionModel | None = None,
        *,
        text: TextGenerator | None = None,
        structured: StructuredGenerator | None = None,
        moderator: Moderator | None = None,
    ) -> None:
        self._embedder = embedder or ScriptedEmbedder()
        self._decisions = decisions or ScriptedDecisionModel()
        self._text = text
        self._structured = structured
        self._moderator = moderator

    def models(self, capability: Capability) -> Sequence[str]:
        served: Mapping[Capability, object] = {
            Capability.DECIDE: self._decisions,
            Capability.TEXT: self._text,
            Capability.STRUCTURED: self._structured,
            Capability.MODERATE: self._moderator,
        }
        if capability is Capability.EMBED:
            return ("words",)
        return () if served[capability] is None else ("script",)

    def embedder(self, model: str) -> Embedder:
        return self._embedder if model == "words" else super().embedder(model)

    def decision_model(self, model: str) -> DecisionModel:
        return self._decisions if model == "script" else super().decision_model(model)

    def text_generator(self, model: str) -> TextGenerator:
        if model != "script" or self._text is None:
            return super().text_generator(model)
        return self._text

    def structured_generator(self, model: str) -> StructuredGenerator:
        if model != "script" or self._structured is None:
            return super().structured_generator(model)
        return self._structured

    def moderator(self, model: str) -> Moderator:
        if model != "script" or self._moderator is None:
            return super().moderator(model)
        return self._moderator
