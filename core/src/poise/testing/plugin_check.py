"""The conformance suites over one installed plugin: what `poise plugins check` has pytest run.

`poise.testing.plugin_selection` fills in the fixture `chosen`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from poise.ports.composition import Composer, TermFinder
from poise.ports.discovery import Annotator, Discoverer
from poise.ports.matching import Matcher, Planner, Resolver
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.ports.runtime import Bus, ConversationEngine, Dispatcher
from poise.ports.stores import ArtifactStore, Repository, SessionStore, Stores
from poise.ports.tools import Extractor, ToolCaller
from poise.testing.clock import FrozenClock
from poise.testing.composition import ComposerConformance, TermFinderConformance
from poise.testing.discovery import AnnotatorConformance, DiscovererConformance
from poise.testing.embedding import (
    DecisionModelConformance,
    EmbedderConformance,
    ModelProviderConformance,
)
from poise.testing.generating import (
    ModeratorConformance,
    StructuredGeneratorConformance,
    TextGeneratorConformance,
)
from poise.testing.matching import MatcherConformance, PlannerConformance, ResolverConformance
from poise.testing.plugin_selection import SUBJECTS
from poise.testing.plugin_subjects import Subject
from poise.testing.runtime import BusConformance, DispatcherConformance, ScriptedEngine
from poise.testing.stores import (
    ArtifactStoreConformance,
    RepositoryConformance,
    SessionStoreConformance,
    StoresConformance,
)
from poise.testing.tools import ExtractorConformance, ToolCallerConformance
from poise.turn.context import TurnContext
from poise.values.clock import Clock
from poise.values.customers import Customer
from poise.values.scope import Scope


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run on asyncio; one loop for all tests, since providers are made once for all of them."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
async def _closed(anyio_backend: str, pytestconfig: pytest.Config) -> AsyncIterator[None]:
    """Keep the loop for as long as there are providers, and close them in it."""
    yield
    for provider in pytestconfig.stash[SUBJECTS].providers:
        await provider.aclose()


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> Subject:
    """What the suite is run on this time."""
    found: Subject = request.param
    return found


class _OfPlugin:
    """A suite whose subject needs nothing but the application."""

    port: ClassVar[type]

    @pytest.fixture
    def subject(self, chosen: Subject) -> Any:  # a `port`
        return chosen.make({})


_SUITES: Mapping[type, type] = {
    ModelProvider: ModelProviderConformance,
    Embedder: EmbedderConformance,
    DecisionModel: DecisionModelConformance,
    TextGenerator: TextGeneratorConformance,
    StructuredGenerator: StructuredGeneratorConformance,
    Moderator: ModeratorConformance,
    Annotator: AnnotatorConformance,
    Discoverer: DiscovererConformance,
    Planner: PlannerConformance,
    Resolver: ResolverConformance,
    Composer: ComposerConformance,
    TermFinder: TermFinderConformance,
    Extractor: ExtractorConformance,
    ToolCaller: ToolCallerConformance,
    Bus: BusConformance,
}

for _port, _suite in _SUITES.items():
    _name = f"Test{_port.__name__}"
    globals()[_name] = type(_name, (_OfPlugin, _suite), {"port": _port})


class TestMatcher(_OfPlugin, MatcherConformance):
    """Over matchers that claim some of the suite's sample rules."""

    port = Matcher

    @pytest.fixture(autouse=True)
    def claims(self, subject: Matcher, turn: TurnContext) -> None:
        if not any(subject.claims(each, turn) for each in turn.candidates):
            pytest.skip("claims none of the sample rules: inherit the suite, with another `turn`")


class TestDispatcher(DispatcherConformance):
    """Over dispatchers of the suite's engine."""

    port = Dispatcher

    @pytest.fixture
    async def subject(self, chosen: Subject, engine: ScriptedEngine) -> AsyncIterator[Dispatcher]:
        made: Any = chosen.make({ConversationEngine: engine})  # a `Dispatcher`
        async with made as running:
            yield running


class _OfStores:
    """A suite over stores that are made anew for each test, in an empty folder."""

    port = Stores

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()

    @pytest.fixture
    async def stores(
        self,
        chosen: Subject,
        clock: FrozenClock,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> AsyncIterator[Stores]:
        monkeypatch.chdir(tmp_path)
        made: Any = chosen.make({Clock: clock})  # a `Stores`
        await made.start()
        yield made
        await made.stop()


class TestStores(_OfStores, StoresConformance):
    """Over the stores as one."""

    @pytest.fixture
    def subject(self, stores: Stores) -> Stores:
        return stores


class TestSessionStore(_OfStores, SessionStoreConformance):
    """Over their logs of sessions."""

    @pytest.fixture
    def subject(self, stores: Stores) -> SessionStore:
        return stores.scope(Scope.local()).sessions


class TestRepository(_OfStores, RepositoryConformance):
    """Over their customers, since all repositories are one."""

    @pytest.fixture
    def subject(self, stores: Stores) -> Repository[Customer]:
        return stores.scope(Scope.local()).customers


class TestArtifactStore(_OfStores, ArtifactStoreConformance):
    """Over what they keep of derived things."""

    @pytest.fixture
    def subject(self, stores: Stores) -> ArtifactStore:
        return stores.artifacts
