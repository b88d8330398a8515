"""A plugin by which a whole application runs on scripted models and scripted discovery."""

from __future__ import annotations

from poise.hooks.markers import hookimpl
from poise.hooks.offers import Offers
from poise.ports.discovery import Annotator, Discoverer
from poise.ports.models import ModelProvider
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder, ScriptedProvider
from poise.testing.scripted_discovery import ScriptedAnnotator, ScriptedDiscoverer
from poise.turn.models import DecisionRequest, Question, TurnModels


def discoverys_own(question: Question, request: DecisionRequest) -> float | None:
    """Answer with discovery's probability: what was sighted applies."""
    return question.prior


class ScriptedParts:
    """Offers models, discovery and annotations, each the default of its port.

    `Application(plugins=[ScriptedParts(), …], installed=False)` needs nothing else but matching,
    relations, tools and composition. A test keeps what it passes in, and sees what was asked.

    Args:
        embedder: Default: one that never fails.
        decisions: Default: discovery's probability is the verdict.
        discoverer: Default: shared words, embedded as a real discoverer would.
        annotator: Default: the author's flags.
    """

    def __init__(
        self,
        *,
        embedder: ScriptedEmbedder | None = None,
        decisions: ScriptedDecisionModel | None = None,
        discoverer: Discoverer | None = None,
        annotator: Annotator | None = None,
    ) -> None:
        self.embedder = embedder or ScriptedEmbedder()
        self.decisions = decisions or ScriptedDecisionModel(discoverys_own)
        self._discoverer = discoverer
        self._annotator = annotator or ScriptedAnnotator()

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        """Offer everything as `scripted`."""
        offers.add(ModelProvider, "scripted", self._provider, default=True)
        offers.add(Discoverer, "scripted", self._discovery, default=True)
        offers.add(Annotator, "scripted", self._annotations, default=True)

    def _provider(self) -> ModelProvider:
        return ScriptedProvider(self.embedder, self.decisions)

    def _discovery(self, models: TurnModels) -> Discoverer:
        return self._discoverer or ScriptedDiscoverer(models=models)

    def _annotations(self) -> Annotator:
        return self._annotator
