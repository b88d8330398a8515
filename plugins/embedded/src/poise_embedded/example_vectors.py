"""Vectors of authors' examples, kept by text: they come again on every turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from poise import Embedder

_CAPACITY = 4096  # 8 MB at 512 dimensions; a turn needs some 600


class ExampleVectors:
    """Embeds a text when it is first asked for and keeps the last few thousand.

    Args:
        embedder: Makes the vectors.
        capacity: How many texts are kept; the ones not asked for longest go first.
    """

    def __init__(self, embedder: Embedder, capacity: int = _CAPACITY) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    async def of(self, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return a unit vector for each of `texts`, whatever the capacity.

        Raises:
            ProviderError: The embedder failed; what was kept stays.
        """
        wanted = dict.fromkeys(texts)
        found = {text: self._kept[text] for text in wanted if text in self._kept}
        for text in found:
            self._kept.move_to_end(text)
        missing = [text for text in wanted if text not in found]
        if missing:
            found |= zip(missing, await self._embedder.embed(missing), strict=True)
            self._kept |= {text: found[text] for text in missing}
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return found
