"""The provider `embedded`: gives out the models of this package by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise import ArtifactStore, DecisionModel, Embedder, ModelProvider
from poise.turn.models import Capability
from poise_embedded.settings import EmbeddedSettings


class EmbeddedProvider(ModelProvider):
    """Serves the embedder `use`, the embedder `onnx` where one is configured, and `prior`.

    `use` is made once: `prior` compares texts with the same instance, so the model is in memory
    once.
    """

    name = "embedded"

    def __init__(self, settings: EmbeddedSettings, artifacts: ArtifactStore | None = None) -> None:
        self._settings = settings
        self._artifacts = artifacts
        self._use: Embedder | None = None

    def models(self, capability: Capability) -> Sequence[str]:
        served: Mapping[Capability, Sequence[str]] = {
            Capability.EMBED: ("use",) if self._settings.onnx_path is None else ("use", "onnx"),
            Capability.DECIDE: ("prior",),
        }
        return served.get(capability, ())

    def embedder(self, model: str) -> Embedder:
        if model == "use":
            return self._shared()
        if model == "onnx" and self._settings.onnx_path is not None:
            from poise_embedded.onnx_export import OnnxEmbedder

            return OnnxEmbedder(
                self._settings.onnx_path,
                self._settings.onnx_prefix,
                self._settings.onnx_batch,
                threads=self._settings.threads,
            )
        return super().embedder(model)

    def decision_model(self, model: str) -> DecisionModel:
        if model == "prior":
            from poise_embedded.prior import PriorDecisionModel

            return PriorDecisionModel(self._shared(), self._settings.band)
        return super().decision_model(model)

    def _shared(self) -> Embedder:
        if self._use is None:
            from poise_embedded.use import UniversalSentenceEmbedder

            self._use = UniversalSentenceEmbedder(self._settings.threads, self._artifacts)
        return self._use
