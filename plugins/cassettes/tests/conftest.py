from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from poise import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    Providers,
    StructuredGenerator,
    TextGenerator,
    UnknownOfferError,
)
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import Capability
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema
from poise_cassettes.provider import CassetteProvider
from poise_cassettes.settings import CassetteSettings, Mode

Line = TextChunk | StructuredReply | Exception


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Told(TextGenerator, StructuredGenerator, Moderator):
    """Says line after line what it was told to say, and keeps count."""

    def __init__(self) -> None:
        self.lines: list[Sequence[Line]] = []
        self.asked = 0
        self.closed = 0
        self.warmed = 0

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        try:
            for line in self._next():
                await checkpoint()
                if isinstance(line, Exception):
                    raise line
                assert isinstance(line, TextChunk)
                yield line
        finally:
            self.closed += 1

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        self.warmed += 1
        return Usage(7)

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        (line,) = self._next()
        if isinstance(line, Exception):
            raise line
        assert isinstance(line, StructuredReply)
        return line

    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        self.asked += 1
        return [Moderation("gun" in text, {"violence": len(text) / 1000}) for text in texts]

    def _next(self) -> Sequence[Line]:
        self.asked += 1
        if self.lines:
            return self.lines.pop(0)
        return [TextChunk("as ever"), TextChunk(finish=Finish.COMPLETE)]


class Live(ModelProvider):
    """The wrapped provider: everything it gives out is scripted."""

    name = "live"

    def __init__(self) -> None:
        self.told = Told()
        self.embeds = ScriptedEmbedder(dimensions=64)
        self.decides = ScriptedDecisionModel(lambda question, _: question.prior)
        self.decides.identity = "scripted-7"
        self.decides.band = (0.3, 0.9)
        self.decides.max_questions = 12

    def models(self, capability: Capability) -> Sequence[str]:
        return ["m"]

    def embedder(self, model: str) -> Embedder:
        return self.embeds if model == "m" else super().embedder(model)

    def decision_model(self, model: str) -> DecisionModel:
        return self.decides if model == "m" else super().decision_model(model)

    def text_generator(self, model: str) -> TextGenerator:
        return self.told if model == "m" else super().text_generator(model)

    def structured_generator(self, model: str) -> StructuredGenerator:
        return self.told if model == "m" else super().structured_generator(model)

    def moderator(self, model: str) -> Moderator:
        return self.told if model == "m" else super().moderator(model)


class Installed(Providers):
    """The providers of an application that has only these."""

    def __init__(self, providers: Iterable[ModelProvider]) -> None:
        self._by_name: Mapping[str, ModelProvider] = {each.name: each for each in providers}

    def get(self, name: str) -> ModelProvider:
        if name not in self._by_name:
            raise UnknownOfferError("ModelProvider", name, tuple(self._by_name))
        return self._by_name[name]


Opener = Callable[..., CassetteProvider]


@pytest.fixture
def live() -> Live:
    return Live()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cassettes"


@pytest.fixture
def opened(folder: Path, live: Live) -> Opener:
    """Open the cassettes: in `replay` nothing else is installed."""

    def make(mode: str, *, at: Path | None = None) -> CassetteProvider:
        chosen = Mode(mode)
        providers = Installed([] if chosen is Mode.REPLAY else [live])
        return CassetteProvider(CassetteSettings(folder=at or folder, mode=chosen), providers)

    return make
