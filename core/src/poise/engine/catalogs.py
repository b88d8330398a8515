"""The catalogs that serve turns: published once per version, then read from memory."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType

import anyio
import attrs

from poise.errors import ProviderError
from poise.hooks.caller import HookCaller, log_failure
from poise.ports.discovery import Annotator, Discoverer, Progress
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import AgentId, IndexId

logger = logging.getLogger(__name__)

NO_INDEX = IndexId("")
"""The index of a catalog whose embedder failed: discovery falls back to what is in play."""


class SilentProgress:
    """Shows nothing."""

    def report(self, phase: str, done: int, total: int) -> None:
        """Do nothing."""


@attrs.frozen
class Published:
    """A catalog version with its index, as turns take it; `failure` says why there is none."""

    snapshot: CatalogSnapshot
    index: IndexId
    failure: str = ""


class Catalogs:
    """The current catalog of every agent of an application."""

    def __init__(self, annotator: Annotator, discoverer: Discoverer, hooks: HookCaller) -> None:
        self._annotator = annotator
        self._discoverer = discoverer
        self._hooks = hooks
        self._current: dict[AgentId, Published] = {}
        self._publishing = anyio.Lock()

    async def publish(self, snapshot: CatalogSnapshot, progress: Progress | None = None) -> None:
        """Annotate and index a snapshot, then let it serve new turns; running ones keep theirs.

        A failing embedder does not stop it: turns then consider what is in play, and say so.
        """
        async with self._publishing:
            annotations = await self._annotator.annotate(tuple(snapshot.rules.values()))
            annotated = attrs.evolve(snapshot, annotations=MappingProxyType(dict(annotations)))
            failure = ""
            try:
                index = await self._discoverer.prepare(annotated, progress or SilentProgress())
            except ProviderError as exc:
                logger.error("the catalog was not indexed", exc_info=exc)
                index, failure = NO_INDEX, str(exc)
            self._current[snapshot.agent.id] = Published(annotated, index, failure)
        await self._hooks.notify("on_catalog_changed", log_failure, catalog=annotated)

    def published(self, agent: AgentId) -> Published | None:
        """Return the current version with its index, or `None` for an unknown agent."""
        return self._current.get(agent)

    def current(self, agent: AgentId) -> CatalogSnapshot | None:
        """Return the current snapshot of an agent, or `None`."""
        found = self._current.get(agent)
        return found.snapshot if found else None

    def all(self) -> Mapping[AgentId, Published]:
        """Return the current version of every agent."""
        return MappingProxyType(self._current)
