"""The provider `anthropic`: gives out the vendor's models by name, and any that a server has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise import (
    Capability,
    Cards,
    ModelCard,
    ModelProvider,
    Prompt,
    StructuredGenerator,
    TextGenerator,
    UnknownModelError,
)
from poise_anthropic.client import Connection
from poise_anthropic.encode import prompt_fields
from poise_anthropic.errors import PROVIDER
from poise_anthropic.generator import AnthropicGenerator
from poise_anthropic.quirks import quirks_of
from poise_anthropic.settings import AnthropicSettings

_GENERATES = frozenset({Capability.TEXT, Capability.STRUCTURED})


class AnthropicProvider(ModelProvider):
    """Serves every name: what is known of a model only says how it is asked.

    The vendor has no embedders, no decision endpoint and no moderation; the router decides by
    JSON instead.

    Args:
        settings: How the vendor is reached.
        cards: What is known of models; without it, what this package says.
    """

    name = PROVIDER

    def __init__(self, settings: AnthropicSettings, cards: Cards | None = None) -> None:
        self.concurrency = settings.concurrency
        self._settings = settings
        self._cards = cards
        self._connection = Connection(settings)
        self._generators: dict[str, AnthropicGenerator] = {}
        self._probed: dict[str, str] = {}
        self._cannot_count = False

    def models(self, capability: Capability) -> Sequence[str]:
        if capability not in _GENERATES:
            return ()
        return tuple(
            dict.fromkeys(
                card.match
                for card in self._known().all()
                if card.provider == self.name
                and not card.match.endswith("*")
                and capability in self.capabilities(card.match)
            )
        )

    def capabilities(self, model: str) -> frozenset[Capability]:
        in_words = quirks_of(self._card(model)).structured == "words"
        return frozenset({Capability.TEXT}) if in_words else _GENERATES

    def text_generator(self, model: str) -> TextGenerator:
        return self._generator(model)

    def structured_generator(self, model: str) -> StructuredGenerator:
        return self._generator(model)

    async def count_tokens(self, model: str, prompt: Prompt) -> int | None:
        if self._cannot_count:
            return None
        try:
            return await self._connection.count(
                model, prompt_fields(prompt, self._settings.cache_ttl)
            )
        except UnknownModelError:
            if self._settings.base_url is None:
                raise
            # A compatible server that does not count says so as if the model were unknown.
            self._cannot_count = True
            return None

    async def probe(self, model: str) -> Mapping[str, str]:
        if Capability.STRUCTURED not in self.capabilities(model):
            return {"JSON": "in words, as its card says"}
        if model not in self._probed:
            self._probed[model] = await self._generator(model).probe()
        return {"JSON": self._probed[model]}

    async def aclose(self) -> None:
        await self._connection.aclose()

    def _generator(self, model: str) -> AnthropicGenerator:
        # One for both capabilities: what it learns of the model counts for both.
        if model not in self._generators:
            self._generators[model] = AnthropicGenerator(
                model, self._connection, self._card(model), ttl=self._settings.cache_ttl
            )
        return self._generators[model]

    def _card(self, model: str) -> ModelCard:
        return self._known().find(self.name, model)

    def _known(self) -> Cards:
        if self._cards is None:
            self._cards = Cards(self.name)
            self._cards.add_file("poise_anthropic")
        return self._cards
