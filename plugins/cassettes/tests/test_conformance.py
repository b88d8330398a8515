"""The suites of the ports: each request is recorded, and the answer is what replay says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray

from poise import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
    request_of,
)
from poise.testing.generating import (
    ModeratorConformance,
    StructuredGeneratorConformance,
    TextGeneratorConformance,
)
from poise.testing.scripted_generators import (
    ScriptedModerator,
    ScriptedStructuredGenerator,
    ScriptedTextGenerator,
)
from poise.turn.generation import (
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import DecisionRequest, Probability, Question
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema

Opener = Any  # of conftest.py, which no test may import
Live = Any


class RecordedThenReplayed(Embedder):
    """Records every request, and answers from a replay that has nothing but the files."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._recording: Embedder = opened("record").embedder("live:m")
        self.identity = self._recording.identity
        self.dimensions = self._recording.dimensions

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        recorded = await self._recording.embed(texts)
        if not texts:
            return recorded
        replayed: NDArray[np.float32] = await self._opened("replay").embedder("live:m").embed(texts)
        assert np.array_equal(recorded, replayed)
        return replayed


class DecidedThenReplayed(DecisionModel):
    """The same for decisions."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._recording: DecisionModel = opened("record").decision_model("live:m")
        self.identity = self._recording.identity
        self.band = self._recording.band

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        recorded = await self._recording.decide(request)
        if not request.questions:
            return recorded
        model: DecisionModel = self._opened("replay").decision_model("live:m")
        replayed = await model.decide(request)
        assert list(recorded) == list(replayed)
        return replayed


class WrittenThenReplayed(TextGenerator):
    """The same for text; what is left early is left early in both."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._recording: TextGenerator = opened("record").text_generator("live:m")

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        recorded = [each async for each in self._recording.stream(prompt, options=options)]
        model: TextGenerator = self._opened("replay").text_generator("live:m")
        stream = model.stream(prompt, options=options)
        for expected in recorded:
            chunk = await anext(stream)
            assert chunk == expected
            yield chunk

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        return await self._recording.warm(prompt, options=options)


class GeneratedThenReplayed(StructuredGenerator):
    """The same for JSON."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._recording: StructuredGenerator = opened("record").structured_generator("live:m")

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        recorded = await self._recording.generate(prompt, schema, options=options)
        model: StructuredGenerator = self._opened("replay").structured_generator("live:m")
        replayed = await model.generate(prompt, schema, options=options)
        assert replayed == recorded
        return replayed


class ModeratedThenReplayed(Moderator):
    """The same for moderation."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._recording: Moderator = opened("record").moderator("live:m")

    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        recorded = await self._recording.moderate(texts)
        if not texts:
            return recorded
        model: Moderator = self._opened("replay").moderator("live:m")
        replayed = await model.moderate(texts)
        assert list(replayed) == list(recorded)
        return replayed


class TestReplayedEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, opened: Opener) -> Embedder:
        return RecordedThenReplayed(opened)


class TestRecordingEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, opened: Opener) -> Embedder:
        made: Embedder = opened("auto").embedder("live:m")
        return made


class TestReplayedDecisionModel(DecisionModelConformance):
    @pytest.fixture
    def subject(self, opened: Opener) -> DecisionModel:
        return DecidedThenReplayed(opened)


class TestReplayedTextGenerator(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, opened: Opener, live: Live) -> TextGenerator:
        live.told = ScriptedTextGenerator(["Hello to you", "as ever"])
        return WrittenThenReplayed(opened)


class TestRecordingTextGenerator(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, opened: Opener, live: Live) -> TextGenerator:
        live.told = ScriptedTextGenerator(["Hello to you", "as ever"])
        made: TextGenerator = opened("auto").text_generator("live:m")
        return made


class TestReplayedStructuredGenerator(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, opened: Opener, live: Live) -> StructuredGenerator:
        live.told = ScriptedStructuredGenerator()
        return GeneratedThenReplayed(opened)


class TestReplayedModerator(ModeratorConformance):
    @pytest.fixture
    def subject(self, opened: Opener, live: Live) -> Moderator:
        live.told = ScriptedModerator({"card", "fee"})
        return ModeratedThenReplayed(opened)


class TestCassetteProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self, opened: Opener) -> ModelProvider:
        recording = opened("record")
        anyio.run(recording.embedder("live:m").embed, ["a card"])
        request = request_of("I lost my card", Question("lost", "Is a card lost?"))
        anyio.run(recording.decision_model("live:m").decide, request)
        made: ModelProvider = opened("replay")
        return made


class TestProviderWithoutCassettes(ModelProviderConformance):
    @pytest.fixture
    def subject(self, opened: Opener, tmp_path: Path) -> ModelProvider:
        made: ModelProvider = opened("replay", at=tmp_path / "nothing")
        return made
