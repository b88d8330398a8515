"""Embeddings: every text gets its unit row, whatever the server's limits are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from poise.errors import ContextTooLongError, MalformedReplyError
from poise.ports.models import Embedder
from poise.turn.cards import ModelCard
from poise.turn.generation import Usage
from poise_openai.client import Client
from poise_openai.decode import unreadable
from poise_openai.encode import clean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTES_PER_TOKEN = 3
"""Of text that costs much; plain English has more. A text that is still too long is halved."""

_PROBE = "dimensions"


class OpenAIEmbedder(Embedder):
    """Embeds with one model of one server.

    The length of a vector comes from the model's card. Where the card does not say, it is 0 until
    the first answer, which tells it; `warm` asks for one.
    """

    def __init__(self, client: Client, model: str, *, card: ModelCard) -> None:
        self._client = client
        self._model = model
        self._context = card.context or client.preset.embed_context
        self._shortened = _shortened(card)
        self.dimensions = card.dimensions or 0
        named = f"{client.provider}:{model}"
        self.identity = f"{named}:{card.dimensions}" if card.dimensions else named

    async def warm(self) -> None:
        if not self.dimensions:
            await self.embed([_PROBE])

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows, _ = await self.embed_metered(texts)
        return rows

    async def embed_metered(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Usage | None]:
        asked = {
            position: self._fitting(text) for position, text in enumerate(texts) if text.strip()
        }
        found: dict[int, Sequence[float]] = {}
        usage: Usage | None = None
        for batch in self._batches(asked):
            vectors, took = await self._ask([asked[position] for position in batch])
            found.update(zip(batch, vectors, strict=True))
            usage = took if usage is None else usage + took
        if not self.dimensions and found:
            self.dimensions = len(next(iter(found.values())))
        if texts and not self.dimensions:
            await self.warm()
        for vector in found.values():
            self._check(vector)
        rows = await anyio.to_thread.run_sync(_unit_rows, found, (len(texts), self.dimensions))
        if rows is None:
            raise self._malformed("a vector holds something other than finite numbers")
        return rows, usage

    async def _ask(self, texts: list[str]) -> tuple[list[Sequence[float]], Usage]:
        """Return a vector per text; what is refused as too long is asked for in smaller pieces."""
        try:
            return await self._request(texts)
        except ContextTooLongError:
            if len(texts) == 1 and len(texts[0]) < 2:
                raise
        if len(texts) == 1:
            return await self._ask([texts[0][: len(texts[0]) // 2]])
        half = len(texts) // 2
        first, took = await self._ask(texts[:half])
        second, more = await self._ask(texts[half:])
        return [*first, *second], took + more

    async def _request(self, texts: list[str]) -> tuple[list[Sequence[float]], Usage]:
        params: dict[str, Any] = {
            "model": self._model,
            "input": texts,
            "encoding_format": self._client.preset.encoding,
        }
        if self._shortened:
            params["dimensions"] = self.dimensions
        sdk = await self._client.sdk(self._model)
        if params["encoding_format"] == "base64":
            del params["encoding_format"]  # the SDK asks for it by itself, and decodes the answer
        response = await self._client.send(self._model, sdk.embeddings.create, params)
        data = getattr(response, "data", None)
        if not isinstance(data, list):
            raise unreadable(response, self._client.place(self._model))
        if len(data) != len(texts):
            raise self._malformed(f"it gave {len(data)} vectors for {len(texts)} texts")
        ordered = sorted(enumerate(data), key=lambda each: _place(each[1], each[0]))
        usage = getattr(response, "usage", None)
        took = Usage(input_tokens=getattr(usage, "prompt_tokens", None) or 0)
        return [each.embedding for _, each in ordered], took

    def _fitting(self, text: str) -> str:
        """Return what can be sent of a text: its beginning, as far as the model may read."""
        limit = self._context * _BYTES_PER_TOKEN
        # A character has a byte at least, so the rest need not even be encoded.
        encoded = text[:limit].encode("utf-8", "replace")[:limit]
        return clean(encoded.decode("utf-8", "ignore"))

    def _batches(self, asked: dict[int, str]) -> Iterator[list[int]]:
        preset = self._client.preset
        batch: list[int] = []
        tokens = 0
        for position, text in asked.items():
            costs = len(text.encode()) // _BYTES_PER_TOKEN + 1
            full = len(batch) == preset.embed_batch or tokens + costs > preset.embed_tokens
            if batch and full:
                yield batch
                batch, tokens = [], 0
            batch.append(position)
            tokens += costs
        if batch:
            yield batch

    def _check(self, vector: Sequence[float]) -> None:
        if len(vector) != self.dimensions:
            raise self._malformed(
                f"a vector has {len(vector)} numbers, not {self.dimensions}; correct `dimensions` "
                "on the model's card"
            )

    def _malformed(self, reason: str) -> MalformedReplyError:
        return MalformedReplyError(self._client.provider, self._model, "", reason)


def _shortened(card: ModelCard) -> bool:
    """Say whether vectors are wanted shorter than the model makes them by itself."""
    native = card.quirks.get("native_dimensions")
    return native is not None and card.dimensions is not None and card.dimensions != native


def _place(vector: object, otherwise: int) -> int:
    index = getattr(vector, "index", None)
    return index if isinstance(index, int) else otherwise


def _unit_rows(
    found: dict[int, Sequence[float]], shape: tuple[int, int]
) -> NDArray[np.float32] | None:
    """Return a row of length 1 per text, the first unit vector where there is none to scale."""
    import numpy as np

    rows = np.zeros(shape, dtype=np.float64)
    for position, vector in found.items():
        rows[position] = vector
    if not np.isfinite(rows).all():
        return None
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    empty = lengths[:, 0] == 0.0
    rows[empty, :1] = 1.0
    lengths[empty] = 1.0
    scaled: NDArray[np.float32] = (rows / lengths).astype(np.float32)
    return scaled
