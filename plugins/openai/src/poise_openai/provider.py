"""The provider: one class for every server that speaks this wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poise.hooks.cards import Cards
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.ports.stores import ArtifactStore
from poise.turn.cards import ModelCard
from poise.turn.models import Capability
from poise.turn.prompts import Prompt
from poise_openai.client import Client
from poise_openai.decide import decision_kind, decision_model_for
from poise_openai.preset import Api, Decisions, Level, Preset, load_presets
from poise_openai.probe import Probe
from poise_openai.settings import OpenAISettings, ServerSettings

if TYPE_CHECKING:
    from poise_openai.chat import ChatGenerator
    from poise_openai.responses import ResponsesGenerator

_GENERATING = frozenset({Capability.TEXT, Capability.STRUCTURED})


class CompatibleProvider(ModelProvider):
    """Gives out the models of one server that speaks the OpenAI wire.

    Any name is taken: a server of one's own has models that nobody here has heard of.
    """

    def __init__(
        self,
        preset: Preset,
        settings: ServerSettings | None = None,
        cards: Cards | None = None,
        *,
        artifacts: ArtifactStore | None = None,
    ) -> None:
        self.name = preset.name
        self._client = Client(preset, settings)
        self._settings = self._client.settings
        self.concurrency = self._settings.concurrency
        self._cards = cards or Cards()
        self._probe = Probe(self._client, artifacts)

    def models(self, capability: Capability) -> Sequence[str]:
        chosen = {
            Capability.EMBED: self._settings.embedding_model,
            Capability.MODERATE: None,
        }.get(capability, self._settings.model)
        carded = [
            card.match
            for card in self._cards.all()
            if card.provider == self.name
            and not card.match.endswith("*")
            and capability in self.capabilities(card.match)
        ]
        return tuple(dict.fromkeys([*([chosen] if chosen else []), *carded]))

    def capabilities(self, model: str) -> frozenset[Capability]:
        if not model:
            return frozenset()
        card = self._card(model)
        if card.capabilities:
            return card.capabilities
        name = model.lower()
        if model == self._settings.embedding_model or "embed" in name:
            return frozenset({Capability.EMBED})
        if "moderation" in name and self._client.preset.moderates:
            return frozenset({Capability.MODERATE})
        # Whether log-probabilities are really told is found out when they are first needed.
        decides = decision_kind(self._client.preset, model, card) is not Decisions.STRUCTURED
        return _GENERATING | {Capability.DECIDE} if decides else _GENERATING

    def embedder(self, model: str) -> Embedder:
        if Capability.EMBED not in self.capabilities(model):
            return super().embedder(model)
        from poise_openai.embeddings import OpenAIEmbedder

        return OpenAIEmbedder(self._client, model, card=self._card(model))

    def decision_model(self, model: str) -> DecisionModel:
        if Capability.DECIDE not in self.capabilities(model):
            return super().decision_model(model)
        return decision_model_for(self._client, model, self._card(model), self._probe)

    def text_generator(self, model: str) -> TextGenerator:
        if Capability.TEXT not in self.capabilities(model):
            return super().text_generator(model)
        return self._generator(model)

    def structured_generator(self, model: str) -> StructuredGenerator:
        if Capability.STRUCTURED not in self.capabilities(model):
            return super().structured_generator(model)
        return self._generator(model)

    def moderator(self, model: str) -> Moderator:
        if Capability.MODERATE not in self.capabilities(model):
            return super().moderator(model)
        from poise_openai.moderation import OpenAIModerator

        return OpenAIModerator(self._client, model)

    async def count_tokens(self, model: str, prompt: Prompt) -> int | None:
        vocabulary = self._card(model).quirks.get("vocabulary")
        if vocabulary is None:
            return None
        from poise_openai import tokens

        return await tokens.count(vocabulary, prompt)

    async def probe(self, model: str) -> Mapping[str, str]:
        return await self._probe.findings(model)

    async def aclose(self) -> None:
        await self._client.aclose()

    def _generator(self, model: str) -> ChatGenerator | ResponsesGenerator:
        from poise_openai.chat import ChatGenerator, KnownLevel
        from poise_openai.responses import ResponsesGenerator

        card = self._card(model)
        known = card.quirks.get("json")
        levels = self._probe if known is None else KnownLevel(Level(known))
        if self._client.api is Api.RESPONSES:
            return ResponsesGenerator(self._client, model, card=card, levels=levels)
        return ChatGenerator(self._client, model, card=card, levels=levels)

    def _card(self, model: str) -> ModelCard:
        return self._cards.find(self.name, model)


class OpenAIProvider(CompatibleProvider):
    """The vendor itself, or the server that the setting `openai.base_url` puts in its place."""

    def __init__(
        self, settings: OpenAISettings, cards: Cards, artifacts: ArtifactStore | None = None
    ) -> None:
        super().__init__(load_presets()["openai"], settings, cards, artifacts=artifacts)
