"""The providers `google` and `vertex`: give out models by name, known ones and any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poise import (
    Capability,
    Cards,
    DecisionModel,
    Embedder,
    ModelCard,
    ModelProvider,
    Prompt,
    SizeClass,
    StructuredGenerator,
    TextGenerator,
)
from poise.values.clock import Clock, SystemClock
from poise_google.client import Connection, gemini, vertex
from poise_google.encode import sendable
from poise_google.errors import translated
from poise_google.settings import GoogleSettings, ServiceSettings, VertexSettings

if TYPE_CHECKING:
    from poise_google.caching import Prefixes
    from poise_google.generator import GoogleGenerator

_WRITING = frozenset({Capability.TEXT, Capability.STRUCTURED})
_SIZES = frozenset(size.value for size in SizeClass)


class _ServiceProvider(ModelProvider):
    """What both services have in common: models are what their cards say."""

    def __init__(
        self, settings: ServiceSettings, connection: Connection, cards: Cards, *, clock: Clock
    ) -> None:
        self.concurrency = settings.concurrency
        self._settings = settings
        self._connection = connection
        self._cards = cards
        self._clock = clock
        self._prefixes: Prefixes | None = None

    def models(self, capability: Capability) -> Sequence[str]:
        named = (
            card.match
            for card in self._cards.all()
            if card.provider == self.name and not card.match.endswith("*")
        )
        return tuple(name for name in dict.fromkeys(named) if capability in self.capabilities(name))

    def capabilities(self, model: str) -> frozenset[Capability]:
        if model in _SIZES:
            return frozenset()  # the router's words for a class, never a model's name
        return self._card(model).capabilities or _WRITING

    def text_generator(self, model: str) -> TextGenerator:
        if Capability.TEXT not in self.capabilities(model):
            return super().text_generator(model)
        return self._generator(model)

    def structured_generator(self, model: str) -> StructuredGenerator:
        if Capability.STRUCTURED not in self.capabilities(model):
            return super().structured_generator(model)
        return self._generator(model)

    def decision_model(self, model: str) -> DecisionModel:
        if Capability.DECIDE not in self.capabilities(model):
            return super().decision_model(model)
        from poise_google.decisions import MAX_QUESTIONS, GoogleDecisionModel

        questions = self._card(model).questions or MAX_QUESTIONS
        return GoogleDecisionModel(self._connection, model, questions)

    def embedder(self, model: str) -> Embedder:
        card = self._card(model)
        if card.dimensions is None:
            return super().embedder(model)
        from poise_google.embeddings import GoogleEmbedder

        return GoogleEmbedder(self._connection, model, card.dimensions, window=card.context or 2048)

    async def count_tokens(self, model: str, prompt: Prompt) -> int | None:
        text = sendable(prompt.text)
        if not text.strip():
            return 0
        call = self._connection.call(model)
        client = await self._connection.client(call)
        with translated(call):
            # The Gemini API counts no system instruction, so all of it is counted as content.
            counted = await client.aio.models.count_tokens(model=model, contents=text)
        return counted.total_tokens

    async def probe(self, model: str) -> Mapping[str, str]:
        call = self._connection.call(model)
        client = await self._connection.client(call)
        with translated(call):
            found = await client.aio.models.get(model=model)
        told = {
            "version": found.version,
            "reads": f"{found.input_token_limit} tokens" if found.input_token_limit else None,
            "writes": f"{found.output_token_limit} tokens" if found.output_token_limit else None,
            "actions": ", ".join(found.supported_actions or ()),
        }
        return {topic: words for topic, words in told.items() if words}

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _card(self, model: str) -> ModelCard:
        return self._cards.find(self.name, model)

    def _generator(self, model: str) -> GoogleGenerator:
        from poise_google.generator import GoogleGenerator

        if self._settings.cache == "explicit" and self._prefixes is None:
            from poise_google.caching import Prefixes

            self._prefixes = Prefixes(self._connection, self._clock, self._settings.cache_ttl)
        return GoogleGenerator(
            self._connection, model, self._card(model).quirks, prefixes=self._prefixes
        )


class GoogleProvider(_ServiceProvider):
    """The Gemini API, by key: writes, decides, embeds.

    Args:
        settings: The section `[google]`.
        cards: What is known of models; default: what this package knows.
        clock: Default: the machine's.
    """

    name = "google"

    def __init__(
        self, settings: GoogleSettings, cards: Cards | None = None, clock: Clock | None = None
    ) -> None:
        clock = clock or SystemClock()
        super().__init__(settings, gemini(settings, clock), cards or _own_cards(), clock=clock)


class VertexProvider(_ServiceProvider):
    """Vertex AI, by Google Cloud's credentials: writes and embeds.

    Args:
        settings: The section `[vertex]`.
        cards: What is known of models; default: what this package knows.
        clock: Default: the machine's.
    """

    name = "vertex"

    def __init__(
        self, settings: VertexSettings, cards: Cards | None = None, clock: Clock | None = None
    ) -> None:
        clock = clock or SystemClock()
        super().__init__(settings, vertex(settings, clock), cards or _own_cards(), clock=clock)


def _own_cards() -> Cards:
    cards = Cards("google")
    cards.add_file("poise_google")
    cards.add_file("poise_google", "vertex.toml")
    return cards
