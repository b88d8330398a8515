"""Ways to score rules: the plugin's own, the nearest signal, and the peer's published constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from poise.memory.artifacts import MemoryArtifactStore
from poise.turn.models import Answer, Capability, DecisionRequest, TurnModels
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import IndexId, RuleId
from poise.values.rules import Rule
from poise_discovery.discoverer import SignalDiscoverer
from poise_discovery.index import Index
from poise_discovery.scoring import Scored, probes_of, score
from poise_discovery.settings import DiscoverySettings
from poise_embedded.use import UniversalSentenceEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BATCH = 64


class RememberingModels(TurnModels):
    """Embeds with the default embedder, each text once."""

    def __init__(self) -> None:
        self._embedder = UniversalSentenceEmbedder()
        self._kept: dict[str, Floats] = {}

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> Floats:
        wanted = list(dict.fromkeys(text for text in texts if text not in self._kept))
        for begin in range(0, len(wanted), BATCH):
            batch = wanted[begin : begin + BATCH]
            self._kept.update(zip(batch, await self._embedder.embed(batch), strict=True))
        return np.stack([self._kept[text] for text in texts])

    async def warm(self, *, route: str = "embed") -> None:
        """Do nothing: the first text loads the model."""

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        raise NotImplementedError

    def serves(self, route: str, capability: Capability) -> bool:
        return capability is Capability.EMBED

    def identity(self, route: str = "embed") -> str:
        return self._embedder.identity


class Silent:
    """Progress that nobody looks at."""

    def report(self, phase: str, done: int, total: int) -> None:
        """Do nothing."""


@attrs.frozen(eq=False)
class Trained:
    """A catalog, indexed by the plugin."""

    discoverer: SignalDiscoverer
    models: RememberingModels
    snapshot: CatalogSnapshot
    index_id: IndexId
    index: Index

    def columns(self, rules: Sequence[Rule]) -> list[int]:
        """Return where these rules stand among the index's scores."""
        return [self.number(rule.id) for rule in rules]

    def number(self, rule: RuleId) -> int:
        found = self.index.number(rule)
        if found is None:
            raise KeyError(rule)
        return found

    async def scored(self, queries: Sequence[Query]) -> Scored:
        """Return how the plugin scores these queries."""
        probes = probes_of(queries)
        vectors = await self.models.embed([probe.text for probe in probes])
        return score(self.index, probes, vectors)


async def train(
    snapshot: CatalogSnapshot,
    models: RememberingModels,
    settings: DiscoverySettings = DiscoverySettings(),  # noqa: B008 - it is frozen
) -> Trained:
    """Return the catalog indexed as an application would."""
    artifacts = MemoryArtifactStore()
    discoverer = SignalDiscoverer(models, artifacts, settings)
    index_id = await discoverer.prepare(snapshot, Silent())
    data = await artifacts.load(f"discovery/indexes/{index_id}")
    if data is None:
        raise RuntimeError("the index was not kept")
    return Trained(discoverer, models, snapshot, index_id, Index.from_bytes(data))


async def embed_messages(models: RememberingModels, texts: Sequence[str]) -> None:
    """Embed messages and their parts in large batches, so that scoring one by one finds them."""
    probes = probes_of([Query(QueryKind.MESSAGE, text, 0) for text in texts])
    await models.embed([probe.text for probe in probes])


async def our_margins(
    trained: Trained, texts: Sequence[str], rules: Sequence[Rule]
) -> tuple[Floats, Floats]:
    """Return margins and probabilities of rules for messages, each scored as a turn would."""
    await embed_messages(trained.models, texts)
    columns = trained.columns(rules)
    margins = np.full((len(texts), len(rules)), -100.0, dtype=np.float32)
    chances = np.zeros((len(texts), len(rules)), dtype=np.float32)
    for at, text in enumerate(texts):
        if not text.strip():
            continue
        scored = await trained.scored([Query(QueryKind.MESSAGE, text, 0)])
        margins[at] = scored.margins[columns]
        for place in np.flatnonzero(margins[at] >= 0.0).tolist():
            chances[at, place] = scored.sighting(columns[place]).probability
    return margins, chances


async def nearest_signal(
    models: RememberingModels, texts: Sequence[str], rules: Sequence[Rule]
) -> Floats:
    """Return the largest cosine between a message and a rule's signals."""
    said = await models.embed(texts)
    scores = np.empty((len(texts), len(rules)), dtype=np.float32)
    for at, rule in enumerate(rules):
        scores[:, at] = (said @ (await models.embed(rule.signals)).T).max(axis=1)
    return scores


PEER_C = 2.0
PEER_STEPS = 1_000
PEER_THRESHOLD = -0.5


async def peer_margins(
    models: RememberingModels,
    texts: Sequence[str],
    rules: Sequence[Rule],
    anti_signals: Mapping[RuleId, Sequence[str]] | None = None,
) -> Floats:
    """Return decision values by the peer's constants: full-batch steps of length 1, C = 2.

    Vectors are centred on the training texts and of unit length. A rule's negatives are its own
    anti-signals where it has any, otherwise the signals of all other rules.
    """
    signals = [text for rule in rules for text in rule.signals]
    vectors = await models.embed(signals)
    mean = vectors.mean(axis=0)

    def unit(given: Floats) -> Floats:
        moved = given - mean
        rows: Floats = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-6)
        return rows

    owner = np.repeat(np.arange(len(rules)), [len(rule.signals) for rule in rules])
    positive = owner[:, None] == np.arange(len(rules))[None, :]
    rows = unit(vectors)
    negative = ~positive
    if anti_signals is not None:
        near = [text for rule in rules for text in anti_signals[rule.id]]
        rows = np.concatenate([rows, unit(await models.embed(near))])
        of = np.repeat(np.arange(len(rules)), [len(anti_signals[rule.id]) for rule in rules])
        negative = np.concatenate(
            [np.zeros_like(positive), of[:, None] == np.arange(len(rules))[None, :]]
        )
        positive = np.concatenate([positive, np.zeros_like(negative[len(positive) :])])
    weights = positive * (0.5 / np.maximum(positive.sum(axis=0), 1))
    weights = (weights + negative * (0.5 / np.maximum(negative.sum(axis=0), 1))) * PEER_C
    weights = weights.astype(np.float32)
    signs = np.where(positive, 1.0, -1.0).astype(np.float32)
    heads = np.zeros((len(rules), rows.shape[1]), dtype=np.float32)
    bias = np.zeros(len(rules), dtype=np.float32)
    for _ in range(PEER_STEPS):
        pull = signs * weights / (1.0 + np.exp(np.clip(signs * (rows @ heads.T + bias), -30, 30)))
        change = pull.T @ rows - heads
        heads += change
        bias += pull.sum(axis=0)
        if np.abs(change).max() < 1e-6:
            break
    scores: Floats = unit(await models.embed(texts)) @ heads.T + bias
    return scores


async def near_misses(
    models: RememberingModels, rules: Sequence[Rule], count: int
) -> Mapping[RuleId, tuple[str, ...]]:
    """Return for each rule the signals of other rules nearest to its own, as near misses."""
    texts = [text for rule in rules for text in rule.signals]
    vectors = await models.embed(texts)
    owner = np.repeat(np.arange(len(rules)), [len(rule.signals) for rule in rules])
    found = {}
    for at, rule in enumerate(rules):
        own = set(rule.signals)
        nearness = vectors @ vectors[owner == at].mean(axis=0)
        ranked = [texts[place] for place in np.argsort(-nearness) if texts[place] not in own]
        found[rule.id] = tuple(dict.fromkeys(ranked))[:count]
    return found
