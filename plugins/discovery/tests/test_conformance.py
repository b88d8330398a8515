"""The ports' suites over this plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.discovery import Annotator, Discoverer
from poise.testing.discovery import AnnotatorConformance, DiscovererConformance
from poise.testing.models import ScriptedModels
from poise.turn.models import Capability
from poise_discovery.annotator import FlagAnnotator, ReadingAnnotator
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


class TestReadingAnnotator(AnnotatorConformance):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> Annotator:
        settings = DiscoverySettings(annotations=str(tmp_path / "kept.json"))
        return ReadingAnnotator(ScriptedModels(served=frozenset({Capability.EMBED})), settings)
