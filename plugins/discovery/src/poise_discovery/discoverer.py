"""The `Discoverer` on signals: indexes catalogs, scores turns, and says why."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

import anyio.from_thread
import anyio.to_thread

from poise.errors import StoreError
from poise.ports.discovery import Discoverer, Progress
from poise.ports.stores import ArtifactStore
from poise.turn.candidates import Budget, Sighting
from poise.turn.context import TurnContext
from poise.turn.models import TurnModels
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import AgentId, IndexId, RuleId, digest
from poise_discovery.corpus import background_for, texts_of
from poise_discovery.errors import EmbedderChangedError, IndexMissingError
from poise_discovery.index import FORMAT, Index
from poise_discovery.phrases import RulePhrases, phrases_of
from poise_discovery.scoring import Scored, hits_of_each, probes_of, score
from poise_discovery.settings import DiscoverySettings
from poise_discovery.threads import one_thread
from poise_discovery.topics import with_topics
from poise_discovery.training import empty_index, train
from poise_discovery.vectors import VectorCache
from poise_discovery.working_set import rules_to_drop

logger = logging.getLogger(__name__)

AT_ONCE = 256
"""Texts that are embedded before they are scored, where many are to be checked."""

IN_MEMORY = 16
"""Indexes kept in memory; older ones are read again when a turn still needs them."""


class SignalDiscoverer(Discoverer):
    """One logistic regression per rule over embeddings of its signals.

    Args:
        models: The application's models, bound to no turn: embed phrases when indexing.
        artifacts: Keeps vectors and indexes by content.
        settings: The section `discovery`.
    """

    def __init__(
        self, models: TurnModels, artifacts: ArtifactStore, settings: DiscoverySettings
    ) -> None:
        self._models = models
        self._artifacts = artifacts
        self._settings = settings
        self._vectors = VectorCache(models, artifacts)
        self._indexes: OrderedDict[IndexId, Index] = OrderedDict()
        self._newest: dict[AgentId, IndexId] = {}

    async def prepare(self, snapshot: CatalogSnapshot, progress: Progress) -> IndexId:
        # In a thread, as all that takes longer the more rules there are.
        phrases = await anyio.to_thread.run_sync(phrases_of, snapshot)
        embedder = self._models.identity() if phrases else ""
        index_id = await anyio.to_thread.run_sync(
            index_id_of, phrases, embedder, self._settings.recall
        )
        agent = snapshot.agent.id
        if await self._find(index_id) is None:
            earlier = await self._earlier(agent)
            index = await self._train(phrases, embedder, earlier=earlier, progress=progress)
            data = await anyio.to_thread.run_sync(index.to_bytes)
            await self._save(_index_key(index_id), data)
            self._remember(index_id, index)
        if self._newest.get(agent) != index_id:
            self._newest[agent] = index_id
            await self._save(_newest_key(agent), index_id.encode())
        return index_id

    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        index = await self._find(turn.index)
        if index is None:
            raise IndexMissingError(turn.index)
        scored = await self._score(index, queries, turn.models, turn)
        if scored is None:
            return ()
        snapshot = turn.snapshot
        in_play = {
            *turn.state.working_set,
            *(candidate.rule.id for candidate in turn.candidates),
            *snapshot.bypass,
        }
        new = [
            rule
            for rule in scored.hits()
            if index.rules[rule] not in in_play and _is_for(turn, RuleId(index.rules[rule]))
        ]
        room = max(0, turn.plan.admit_limit - _admitted_before(turn))
        left_out = frozenset(new[room:])
        wanted = {RuleId(index.rules[rule]) for rule in scored.hits()} | in_play
        numbers = (index.number(rule) for rule in snapshot.with_needs(sorted(wanted)))
        found = [
            scored.sighting(rule, over_budget=rule in left_out)
            for rule in numbers
            if rule is not None
        ]
        return sorted(with_topics(found, snapshot), key=lambda each: (-each.margin, each.rule))

    def prune(self, turn: TurnContext, budget: Budget) -> Sequence[RuleId]:
        return rules_to_drop(
            turn,
            budget,
            stale_after=self._settings.stale_after,
            passing=self._settings.passing,
        )

    async def explain(
        self, rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
    ) -> Sighting | None:
        if rule not in snapshot.rules:
            return None
        index = await self._find(await self.prepare(snapshot, _Unwatched()))
        number = index.number(rule) if index is not None else None
        if index is None or number is None:
            return None
        scored = await self._score(index, queries, self._models)
        return scored.sighting(number) if scored is not None else None

    async def score(
        self, texts: Sequence[str], snapshot: CatalogSnapshot
    ) -> Sequence[Sequence[Sighting]]:
        index = await self._find(await self.prepare(snapshot, _Unwatched()))
        if index is None or not index.rules:
            return [() for _text in texts]
        # Whoever checks a catalog asks about its own phrases, whose vectors are kept.
        phrases = await anyio.to_thread.run_sync(phrases_of, snapshot)
        known = await self._vectors.kept(map(texts_of, phrases), index.embedder)
        found: list[Sequence[Sighting]] = []
        for begin in range(0, len(texts), AT_ONCE):
            probes = [
                probes_of([Query(QueryKind.MESSAGE, text, 0)])
                for text in texts[begin : begin + AT_ONCE]
            ]
            new = {probe.text: None for each in probes for probe in each if probe.text not in known}
            vectors = {**known, **await self._vectors.embedded(list(new))}
            found += await anyio.to_thread.run_sync(hits_of_each, index, probes, vectors)
        return found

    async def _score(
        self,
        index: Index,
        queries: Sequence[Query],
        models: TurnModels,
        turn: TurnContext | None = None,
    ) -> Scored | None:
        probes = probes_of(queries)
        if not probes or not index.rules:
            return None
        if models.identity() != index.embedder:
            raise EmbedderChangedError(index.embedder, models.identity())
        vectors = await models.embed([probe.text for probe in probes])
        return score(index, probes, vectors, turn.state.pruned if turn is not None else None)

    async def _train(
        self,
        phrases: Sequence[RulePhrases],
        embedder: str,
        *,
        earlier: Sequence[Index],
        progress: Progress,
    ) -> Index:
        if not phrases:
            return empty_index(embedder, self._settings.recall)
        groups = await anyio.to_thread.run_sync(_texts_of_each, phrases)
        vectors = await self._vectors.rows(
            [*groups, background_for(len(phrases))],
            embedder,
            partial(progress.report, "embedding phrases"),
        )

        def report(phase: str, done: int, total: int) -> None:
            anyio.from_thread.run_sync(progress.report, phase, done, total)

        fit = partial(
            train,
            phrases,
            vectors,
            embedder=embedder,
            target=self._settings.recall,
            earlier=earlier,
            report=report,
        )
        # In a thread: turns go on with the index they have.
        return await anyio.to_thread.run_sync(_on_one_thread, fit)

    async def _find(self, index_id: IndexId) -> Index | None:
        index = self._indexes.get(index_id)
        if index is None:
            index = await self._load(index_id)
            if index is None:
                return None
        self._remember(index_id, index)
        return index

    async def _load(self, index_id: IndexId) -> Index | None:
        try:
            data = await self._artifacts.load(_index_key(index_id))
            if data is None:
                return None
            return await anyio.to_thread.run_sync(Index.from_bytes, data)
        except (StoreError, ValueError):
            logger.warning("an index could not be read", extra={"index": index_id}, exc_info=True)
            return None

    async def _earlier(self, agent: AgentId) -> tuple[Index, ...]:
        """Return the indexes to take unchanged heads from, the agent's newest last."""
        newest = self._newest.get(agent)
        if newest is None:
            try:
                kept = await self._artifacts.load(_newest_key(agent))
            except StoreError:
                kept = None
            newest = None if kept is None else IndexId(kept.decode())
        found = None if newest is None else await self._find(newest)
        return () if found is None else (found,)

    async def _save(self, key: str, data: bytes) -> None:
        try:
            await self._artifacts.save(key, data)
        except StoreError:
            # Derived data: the next start makes it again.
            logger.warning("an artifact could not be kept", extra={"key": key}, exc_info=True)

    def _remember(self, index_id: IndexId, index: Index) -> None:
        self._indexes[index_id] = index
        self._indexes.move_to_end(index_id)
        while len(self._indexes) > IN_MEMORY:
            self._indexes.popitem(last=False)


def _texts_of_each(phrases: Sequence[RulePhrases]) -> list[tuple[str, ...]]:
    return [texts_of(each) for each in phrases]


def _on_one_thread(fit: Callable[[], Index]) -> Index:
    with one_thread():
        return fit()


class _Unwatched:
    """Progress that nobody looks at."""

    def report(self, phase: str, done: int, total: int) -> None:
        """Do nothing."""


def index_id_of(phrases: Sequence[RulePhrases], embedder: str, recall: float) -> IndexId:
    """Return the id of an index: a digest of all that it is made from."""
    parts = ["index", str(FORMAT), embedder, repr(recall)]
    for each in phrases:
        own = str(each.from_own_words)
        parts += [each.rule, own, *each.positives, "-", *each.negatives, "-"]
        parts += sorted(each.relatives)
    return IndexId(f"index_{digest(*parts)}")


def _index_key(index_id: IndexId) -> str:
    return f"discovery/indexes/{index_id}"


def _newest_key(agent: AgentId) -> str:
    return f"discovery/newest/{agent}"


def _is_for(turn: TurnContext, rule: RuleId) -> bool:
    """Say whether the rule is for this customer; one that is not takes no one's place."""
    known = turn.snapshot.rules.get(rule)
    return known is not None and (not known.groups or bool(known.groups & turn.customer.groups))


def _admitted_before(turn: TurnContext) -> int:
    """Return how many rules earlier texts of this turn have newly brought up."""
    members = turn.state.working_set
    bypass = frozenset(turn.snapshot.bypass)
    return sum(
        1
        for candidate in turn.candidates
        if candidate.sighting is not None
        and candidate.sighting.is_hit
        and not candidate.sighting.over_budget
        and candidate.rule.id not in members
        and candidate.rule.id not in bypass
    )
