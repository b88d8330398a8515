"""Vectors of phrases, kept by content, so that a text is embedded once and not at every start."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import StoreError
from poise.ports.stores import ArtifactStore
from poise.turn.models import TurnModels
from poise.values.ids import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

logger = logging.getLogger(__name__)

BATCH = 64
"""Texts in one request: long enough to be quick, short enough to show progress."""


class VectorCache:
    """Embeds groups of texts through the application's models and keeps each group's rows."""

    def __init__(self, models: TurnModels, artifacts: ArtifactStore) -> None:
        self._models = models
        self._artifacts = artifacts

    async def rows(
        self,
        groups: Iterable[Sequence[str]],
        embedder: str,
        report: Callable[[int, int], None],
    ) -> Mapping[str, Floats]:
        """Return the row of every text in `groups`.

        A group (a rule's phrases, say) is stored under a digest of the embedder and its texts: a
        changed group is embedded again, all others are read.

        Raises:
            ProviderError: The embedder failed; groups finished by then are kept.
        """
        found: dict[str, Floats] = {}
        pending: deque[tuple[str, ...]] = deque()
        for group in groups:
            texts = tuple(group)
            if texts and not await self._read(texts, embedder, found):
                pending.append(texts)
        waiting = [text for group in pending for text in group if text not in found]
        waiting = list(dict.fromkeys(waiting))
        report(0, len(waiting))
        for begin in range(0, len(waiting), BATCH):
            batch = waiting[begin : begin + BATCH]
            found.update(await self._embed(batch))
            report(begin + len(batch), len(waiting))
            # A group is kept as soon as it is whole, so a failure later costs less the next time.
            while pending and all(text in found for text in pending[0]):
                await self._write(pending.popleft(), embedder, found)
        for group in pending:
            await self._write(group, embedder, found)
        return found

    async def kept(self, groups: Iterable[Sequence[str]], embedder: str) -> Mapping[str, Floats]:
        """Return the row of every text of those of `groups` that are kept; asks no model."""
        found: dict[str, Floats] = {}
        for group in groups:
            if group:
                await self._read(group, embedder, found)
        return found

    async def embedded(self, texts: Sequence[str]) -> Mapping[str, Floats]:
        """Return the row of every text, and keep none.

        Raises:
            ProviderError: The embedder failed.
        """
        found: dict[str, Floats] = {}
        for begin in range(0, len(texts), BATCH):
            found.update(await self._embed(texts[begin : begin + BATCH]))
        return found

    async def _embed(self, batch: Sequence[str]) -> Mapping[str, Floats]:
        return dict(zip(batch, await self._models.embed(batch), strict=True))

    async def _read(self, texts: Sequence[str], embedder: str, found: dict[str, Floats]) -> bool:
        try:
            data = await self._artifacts.load(_key(texts, embedder))
        except StoreError:
            logger.warning("vectors could not be read", exc_info=True)
            return False
        if data is None:
            return False
        table = np.frombuffer(data, dtype=np.float32)
        if table.size % len(texts):
            return False
        found.update(zip(texts, table.reshape(len(texts), -1), strict=True))
        return True

    async def _write(
        self, texts: Sequence[str], embedder: str, found: Mapping[str, Floats]
    ) -> None:
        table = np.stack([found[text] for text in texts]).astype(np.float32)
        try:
            await self._artifacts.save(_key(texts, embedder), table.tobytes())
        except StoreError:
            # Losing a cached vector costs time, never truth.
            logger.warning("vectors could not be kept", exc_info=True)


def _key(texts: Sequence[str], embedder: str) -> str:
    return f"discovery/vectors/{digest(embedder, *texts)}"
