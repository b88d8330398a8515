"""A plugin in one file: how it is offered, and what it offers, imported only when chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from poise import Embedder, Offers, hookimpl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HashingEmbedder", "hashed_trigrams"]


class HashingEmbedder(Embedder):
    """Embed text by hashing its character trigrams: no model, no network, always the same."""

    identity = "hashing-trigrams-1024"
    dimensions = 1024

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await anyio.to_thread.run_sync(hashed_trigrams, texts, self.dimensions)


def hashed_trigrams(texts: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """Return a unit row per text, made of the trigrams of its first and last characters."""
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer  # type: ignore[import-untyped]

    if not texts:
        return np.zeros((0, dimensions), dtype=np.float32)
    hashing = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), n_features=dimensions, dtype=np.float32
    )
    rows: NDArray[np.float32] = hashing.transform([_readable(text) for text in texts]).toarray()
    rows[~rows.any(axis=1), 0] = 1.0
    return rows


def _readable(text: str, limit: int = 4096) -> str:
    ends = text if len(text) <= limit else f"{text[: limit // 2]} {text[-limit // 2 :]}"
    return ends.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair can't be hashed


@hookimpl
def poise_provide(offers: Offers) -> None:
    offers.add(Embedder, "hashing", "poise_hashing:HashingEmbedder")
