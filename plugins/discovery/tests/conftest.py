"""A small bank of topics, and what trains it on scripted word vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from poise.memory.artifacts import MemoryArtifactStore
from poise.testing.models import ScriptedModels, scripted_vectors
from poise.values.ids import RuleId
from poise_discovery.corpus import background_for, texts_of
from poise_discovery.discoverer import SignalDiscoverer
from poise_discovery.index import Index
from poise_discovery.phrases import RulePhrases
from poise_discovery.settings import DiscoverySettings
from poise_discovery.training import train

TOPICS: Mapping[str, tuple[str, ...]] = {
    "lost": ("I lost my card", "my card is gone", "card stolen from my bag", "cannot find card"),
    "pin": ("I forgot my pin", "the pin is wrong", "change my pin code", "which pin do I use"),
    "rate": (
        "what is the euro rate",
        "rate for dollars",
        "exchange rate today",
        "your rate please",
    ),
    "hours": ("when do you open", "opening hours today", "are you open late", "hours on sunday"),
    "loan": ("I want a loan", "borrow money for a car", "interest of a loan", "apply for a loan"),
    "fee": ("why this fee", "the monthly fee is high", "refund the fee", "a fee was charged twice"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def topics() -> tuple[RulePhrases, ...]:
    return tuple(RulePhrases(RuleId(name), phrases) for name, phrases in TOPICS.items())


@pytest.fixture
def vectors_of() -> Callable[[Sequence[RulePhrases]], dict[str, NDArray[np.float32]]]:
    def made(phrases: Sequence[RulePhrases]) -> dict[str, NDArray[np.float32]]:
        texts = [text for each in phrases for text in texts_of(each)]
        texts += background_for(len(phrases))
        return dict(zip(texts, scripted_vectors(texts, 128), strict=True))

    return made


@pytest.fixture
def trained(
    vectors_of: Callable[[Sequence[RulePhrases]], dict[str, NDArray[np.float32]]],
) -> Callable[..., Index]:
    def made(phrases: Sequence[RulePhrases], target: float = 0.97, **more: object) -> Index:
        return train(
            phrases,
            vectors_of(phrases),
            embedder="words",
            target=target,
            **more,  # type: ignore[arg-type]  # as tests pass it
        )

    return made


@pytest.fixture
def models() -> ScriptedModels:
    return ScriptedModels()


@pytest.fixture
def artifacts() -> MemoryArtifactStore:
    return MemoryArtifactStore()


@pytest.fixture
def discoverer(models: ScriptedModels, artifacts: MemoryArtifactStore) -> SignalDiscoverer:
    return SignalDiscoverer(models, artifacts, DiscoverySettings())
