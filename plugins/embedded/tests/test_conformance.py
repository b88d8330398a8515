"""The ports' suites over the implementations of this package and over the scripted ones."""

from __future__ import annotations

from typing import Any

import pytest

from poise import DecisionModel, Embedder, ModelProvider
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
)
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder, ScriptedProvider
from poise_embedded.onnx_export import OnnxEmbedder
from poise_embedded.prior import PriorDecisionModel
from poise_embedded.provider import EmbeddedProvider
from poise_embedded.settings import EmbeddedSettings
from poise_embedded.use import UniversalSentenceEmbedder


class TestUniversalSentenceEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, use: UniversalSentenceEmbedder) -> Embedder:
        return use


class TestOnnxEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self, export: Any) -> Embedder:
        return OnnxEmbedder(export.write())


class TestScriptedEmbedder(EmbedderConformance):
    @pytest.fixture
    def subject(self) -> Embedder:
        return ScriptedEmbedder()


class TestPriorDecisionModel(DecisionModelConformance):
    @pytest.fixture
    def subject(self, use: UniversalSentenceEmbedder) -> DecisionModel:
        return PriorDecisionModel(use)


class TestScriptedDecisionModel(DecisionModelConformance):
    @pytest.fixture
    def subject(self) -> DecisionModel:
        return ScriptedDecisionModel(lambda question, _request: question.prior)


class TestEmbeddedProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return EmbeddedProvider(EmbeddedSettings())


class TestEmbeddedProviderWithAnExport(ModelProviderConformance):
    @pytest.fixture
    def subject(self, export: Any) -> ModelProvider:
        return EmbeddedProvider(EmbeddedSettings(onnx_path=export.write()))


class TestScriptedProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return ScriptedProvider()
