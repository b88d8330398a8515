"""Embedding off the event loop: what the embedders of this package have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from threading import Lock
from typing import ClassVar

import anyio
import numpy as np
from numpy.typing import NDArray

from poise import Embedder
from poise.errors import ProviderError
from poise_embedded.texts import chunks, readable


class ThreadedEmbedder(Embedder):
    """Reads texts, cuts them into runs, and encodes one run at a time in a worker thread.

    Runs of several requests take turns, so a message waits for one run of an index being made,
    not for the index.

    Attributes:
        model: The name under which the provider gives it out.
    """

    model: ClassVar[str]

    def __init__(self, *, identity: str, dimensions: int, batch: int) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self._batch = batch
        self._limiter = anyio.CapacityLimiter(1)
        self._lock = Lock()  # the limiter belongs to one event loop, the model to the process

    async def warm(self) -> None:
        await self.embed(["hello"])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        readings = [readable(text) for text in texts]
        filled = [position for position, reading in enumerate(readings) if reading]
        rows[[position for position, reading in enumerate(readings) if not reading], 0] = 1.0
        for run in chunks([readings[position] for position in filled], self._batch):
            positions = [filled[each] for each in run]
            rows[positions] = await anyio.to_thread.run_sync(
                self._encode_alone,
                [readings[position] for position in positions],
                limiter=self._limiter,
            )
        return rows

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row per readable text, of any length but 0; called by one thread at a time."""

    def _encode_alone(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            try:
                rows = self._encode(texts)
            except Exception as exc:  # whatever a model's own library raises
                raise ProviderError(
                    "embedded", self.model, "embed", f"{type(exc).__name__}: {exc}"
                ) from exc
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise ProviderError(
                "embedded", self.model, "embed", "the model gave a vector without a direction"
            )
        unit: NDArray[np.float32] = rows / lengths
        return unit
