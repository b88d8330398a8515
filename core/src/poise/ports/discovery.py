"""Discovery: which rules the conversation has made relevant, without a language model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from poise.turn.candidates import Budget, Sighting
from poise.turn.context import TurnContext
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import Annotation, CatalogSnapshot
from poise.values.ids import IndexId, RuleId
from poise.values.rules import Rule


class Progress(Protocol):
    """Whoever shows how far a long preparation has come."""

    def report(self, phase: str, done: int, total: int) -> None:
        """Take note that `done` of `total` steps of `phase` are finished."""
        ...


class Annotator(ABC):
    """Says at compile time how a rule comes up and how its action behaves."""

    @abstractmethod
    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        """Return one annotation for each of `rules`.

        The engine calls it once per catalog version, before `Discoverer.prepare`. Without a
        language model the author's flags and the rule's own words decide; an annotator never
        fails for want of one.
        """


class Discoverer(ABC):
    """Scores every rule against the new texts of a turn: cheap, and recall before precision."""

    @abstractmethod
    async def prepare(self, snapshot: CatalogSnapshot, progress: Progress) -> IndexId:
        """Make the index of a snapshot ready and return its id.

        Called at start and after each change of the catalog, beside running turns, which keep
        the index of their own snapshot. Equal content and embedder give an equal id, and a second
        call for it does no work. Cancellation leaves the earlier indexes as they were.

        Raises:
            ProviderError: The embedder failed; the engine then keeps the earlier index.
        """

    @abstractmethod
    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        """Return sightings for these new texts, best margin first.

        There is exactly one sighting for: each rule of the index whose margin is at least 0; each
        rule of the index that is in play (in the working set, among `turn.candidates`, or
        bypassing discovery), whatever its margin; and each rule of the index that one of those
        needs, directly or not. Of the hits that are not in play, at most
        `turn.plan.admit_limit`, best first, come without `over_budget`; a pruned rule is a hit
        only for a text that is newer than its pruning. The engine passes only texts that this
        turn has not scored yet, and is served from `turn.index`.

        Raises:
            ProviderError: The embedder failed; the engine falls back to what is in play.
        """

    @abstractmethod
    def prune(self, turn: TurnContext, budget: Budget) -> Sequence[RuleId]:
        """Return the rules to drop from the working set; may be empty.

        As many as it takes to fit `budget`, and beyond that whatever the conversation has moved
        on from. Called after every reply, and when a full working set must make room. This turn's
        active rules are never dropped; HIGH weight goes last.
        """

    @abstractmethod
    async def explain(
        self, rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
    ) -> Sighting | None:
        """Return how `rule` scores against `queries`, hit or not; `None` if it is not indexed."""

    async def score(
        self, texts: Sequence[str], snapshot: CatalogSnapshot
    ) -> Sequence[Sequence[Sighting]]:
        """Return, for each text as if a customer said it, the hits among all rules, best first.

        For whoever checks a catalog; no turn asks it. The default asks `explain` for each rule.
        """
        found: list[Sequence[Sighting]] = []
        for text in texts:
            query = Query(QueryKind.MESSAGE, text, 0)
            scored = [await self.explain(rule, snapshot, (query,)) for rule in snapshot.rules]
            hits = [each for each in scored if each is not None and each.is_hit]
            found.append(sorted(hits, key=lambda each: (-each.margin, each.rule)))
        return found
