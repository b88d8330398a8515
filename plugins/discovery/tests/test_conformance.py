"""The ports' suites over this plugin."""

from __future__ import annotations

import pytest

from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.discovery import Annotator, Discoverer
from poise.testing.discovery import AnnotatorConformance, DiscovererConformance
from poise.testing.models import ScriptedModels
from poise_discovery.annotator import FlagAnnotator
from poise_discovery.discoverer import SignalDiscoverer
from poise_discovery.settings import DiscoverySettings


class TestSignalDiscoverer(DiscovererConformance):
    @pytest.fixture
    def subject(self) -> Discoverer:
        return SignalDiscoverer(ScriptedModels(), MemoryArtifactStore(), DiscoverySettings())


class TestFlagAnnotator(AnnotatorConformance):
    @pytest.fixture
    def subject(self) -> Annotator:
        return FlagAnnotator()
