"""The suites of the ports: each request is recorded, and the answer is what replay says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poise import DecisionModel, Embedder, ModelProvider
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
)
from poise.turn.models import DecisionRequest, Probability

Opener = Any  # of conftest.py, which no test may import


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


class TestCassetteProvider(ModelProviderConformance):
    @pytest.fixture
    async def subject(self, opened: Opener) -> ModelProvider:
        recording = opened("record")
        await recording.embedder("live:m").embed(["a card"])
        await recording.decision_model("live:m").decide(_request())
        made: ModelProvider = opened("replay")
        return made


class TestProviderWithoutCassettes(ModelProviderConformance):
    @pytest.fixture
    def subject(self, opened: Opener, tmp_path: Path) -> ModelProvider:
        made: ModelProvider = opened("replay", at=tmp_path / "nothing")
        return made


def _request() -> DecisionRequest:
    from poise.testing.embedding import request_of
    from poise.turn.models import Question

    return request_of("I lost my card", Question("lost", "Is a card lost?"))
