"""Turns texts into unit vectors with one of Google's embedding models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import anyio.to_thread
import numpy as np

from poise import Embedder, MalformedReplyError, Usage
from poise_google.client import Connection
from poise_google.encode import sendable
from poise_google.errors import Call, translated

if TYPE_CHECKING:
    from google.genai.types import EmbedContentResponse
    from numpy.typing import NDArray

BATCH = 100
"""Texts that one request may hold."""

BATCH_BYTES = 60_000
"""Of text in one request: some 20,000 tokens, which is what the older models take."""

_BYTES_PER_TOKEN = 3
"""At least so many bytes make a token in every script, so that a cut text fits the window."""


class GoogleEmbedder(Embedder):
    """A model that embeds.

    Args:
        connection: The way to Google.
        model: As the API knows it.
        dimensions: Length of a vector; asked for, since the models can give shorter ones.
        window: Tokens that the model reads of one text.
    """

    def __init__(
        self, connection: Connection, model: str, dimensions: int, *, window: int = 2048
    ) -> None:
        self.identity = f"google-{model}-{dimensions}"
        self.dimensions = dimensions
        self._connection = connection
        self._model = model
        self._bytes = min(window * _BYTES_PER_TOKEN, BATCH_BYTES)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return (await self.embed_metered(texts))[0]

    async def embed_metered(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Usage | None]:
        """Return a unit row per text, and what they took; blank texts are not sent."""
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows[:, 0] = 1.0
        told = {place: cut(text, self._bytes) for place, text in enumerate(texts) if text.strip()}
        # Equal texts are sent once; that also makes their rows equal.
        unique = list(dict.fromkeys(told.values()))
        found: list[NDArray[np.float32]] = []
        usage: Usage | None = None
        for batch in batches(unique):
            vectors, took = await self._embed(batch)
            found.append(vectors)
            usage = took if usage is None else usage + took if took else usage
        if found:
            vectors = np.concatenate(found)
            where = {text: number for number, text in enumerate(unique)}
            rows[list(told)] = vectors[[where[text] for text in told.values()]]
        return rows, usage

    async def _embed(self, batch: Sequence[str]) -> tuple[NDArray[np.float32], Usage | None]:
        call = self._connection.call(self._model)
        client = await self._connection.client(call)
        from google.genai import types

        # Bare strings would become one content, and so one vector, for some models.
        contents: list[types.ContentUnion] = [
            types.Content(role="user", parts=[types.Part(text=text)]) for text in batch
        ]
        config = types.EmbedContentConfig(output_dimensionality=self.dimensions)
        with translated(call):
            response = await client.aio.models.embed_content(
                model=self._model, contents=contents, config=config
            )
        values = [list(each.values or ()) for each in response.embeddings or ()]
        _refuse_misshapen(values, len(batch), self.dimensions, call=call)
        return await anyio.to_thread.run_sync(unit_rows, values), _usage(response)


def unit_rows(values: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    """Return the vectors with length 1; one that has no length is the first unit vector."""
    rows = np.asarray(values, dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    rows[lengths[:, 0] == 0, 0] = 1.0
    return np.asarray(rows, dtype=np.float32)


def cut(text: str, limit: int) -> str:
    """Return what of `text` fits `limit` bytes, half from its head and half from its tail."""
    whole = sendable(text).encode("utf-8")
    if len(whole) <= limit:
        return whole.decode("utf-8")
    half = (limit - 1) // 2
    head, tail = whole[:half], whole[-half:]
    return f"{head.decode('utf-8', 'ignore')} {tail.decode('utf-8', 'ignore')}"


def batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield `texts` in order, in pieces that one request can hold."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8"))
        if batch and (len(batch) == BATCH or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def _refuse_misshapen(
    values: Sequence[Sequence[float]], texts: int, dimensions: int, *, call: Call
) -> None:
    lengths = {len(vector) for vector in values}
    if len(values) == texts and lengths <= {dimensions}:
        return
    raise MalformedReplyError(
        call.provider,
        call.model,
        "",
        f"{texts} texts got {len(values)} vectors of length {sorted(lengths)}, not of "
        f'{dimensions}; correct model_cards."{call.provider}:{call.model}".dimensions',
    )


def _usage(response: EmbedContentResponse) -> Usage | None:
    if response.usage_metadata is not None and response.usage_metadata.prompt_token_count:
        return Usage(input_tokens=response.usage_metadata.prompt_token_count)
    counts = [
        each.statistics.token_count
        for each in response.embeddings or ()
        if each.statistics is not None and each.statistics.token_count
    ]
    return Usage(input_tokens=round(sum(counts))) if counts else None
