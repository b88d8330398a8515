"""Writes text and JSON with a Gemini model: one request per call."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from poise import (
    Finish,
    GenerationOptions,
    Prompt,
    ProviderError,
    ProviderUnavailableError,
    Schema,
    Section,
    Stability,
    StructuredGenerator,
    StructuredReply,
    TextChunk,
    TextGenerator,
    Usage,
)
from poise_google.caching import DEFAULT_MINIMUM, Prefixes, Stored
from poise_google.client import Connection, hang_up, noted
from poise_google.decode import Reading
from poise_google.encode import Asked, generation, refuse_empty
from poise_google.errors import Call, translated

if TYPE_CHECKING:
    from google.genai.types import GenerateContentConfig, GenerateContentResponse
    from httpx2 import Response

_WARMING = "."


class GoogleGenerator(TextGenerator, StructuredGenerator):
    """A model that writes.

    Args:
        connection: The way to Google.
        model: As the API knows it.
        quirks: What its card says of it beside limits and price.
        prefixes: Stores beginnings of prompts; `None`: Google caches as it sees fit.
    """

    def __init__(
        self,
        connection: Connection,
        model: str,
        quirks: Mapping[str, Any],
        *,
        prefixes: Prefixes | None = None,
    ) -> None:
        self._connection = connection
        self._model = model
        self._quirks = quirks
        self._prefixes = prefixes

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncGenerator[TextChunk, None]:
        call = self._connection.call(self._model)
        asked = generation(prompt, options, self._quirks)
        refuse_empty(asked, call.provider, call.model)
        stored = await self._stored(asked)
        reading = Reading(call.provider, call.model)
        client = await self._connection.client(call)
        config = _config(asked, stored)
        opened: list[Response] = []
        with self._renewing(call, asked, stored), translated(call):
            pieces = await client.aio.models.generate_content_stream(
                model=self._model, contents=asked.content, config=config
            )
            try:
                with noted(opened):
                    piece = await anext(pieces, None)
                while piece is not None:
                    words = reading.take(piece)
                    if words:
                        yield TextChunk(words)
                    piece = await anext(pieces, None)
            finally:
                await hang_up(opened)
        last = reading.end(stored.written if stored else None)
        if last is None:
            raise _broken_off(call)
        yield last

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        call = self._connection.call(self._model)
        asked = generation(prompt, options, self._quirks, schema=schema)
        refuse_empty(asked, call.provider, call.model)
        stored = await self._stored(asked)
        reading = Reading(call.provider, call.model)
        text = reading.take(await self._answer(call, asked, stored))
        last = reading.end(stored.written if stored else None)
        if last is None or last.finish is None:
            raise _broken_off(call)
        finish = Finish.COMPLETE if last.finish is Finish.CALLS else last.finish
        return StructuredReply(text, finish, last.usage, last.reason, last.model)

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        """Have the stable part of `prompt` cached: stored, or read once for one token of output."""
        asked = _beginning(prompt, options, self._quirks)
        if asked is None:
            return None
        stored = await self._stored(asked)
        if stored is not None:
            return stored.written
        call = self._connection.call(self._model)
        reading = Reading(call.provider, call.model)
        reading.take(await self._answer(call, asked, None))
        last = reading.end()
        return last.usage if last else None

    async def _answer(
        self, call: Call, asked: Asked, stored: Stored | None
    ) -> GenerateContentResponse:
        client = await self._connection.client(call)
        config = _config(asked, stored)
        with self._renewing(call, asked, stored), translated(call):
            return await client.aio.models.generate_content(
                model=self._model, contents=asked.content, config=config
            )

    async def _stored(self, asked: Asked) -> Stored | None:
        if self._prefixes is None:
            return None
        minimum = int(self._quirks.get("cache_minimum", DEFAULT_MINIMUM))
        return await self._prefixes.stored(self._model, asked, minimum)

    @contextmanager
    def _renewing(self, call: Call, asked: Asked, stored: Stored | None) -> Iterator[None]:
        """Have the next try store the beginning anew where Google has dropped it meanwhile."""
        try:
            yield
        except ProviderError as exc:
            if self._prefixes is None or stored is None or not _is_about_cache(exc):
                raise
            self._prefixes.forget(self._model, asked)
            raise ProviderUnavailableError(
                call.provider,
                call.model,
                "",
                "the stored beginning of the prompt is gone; the next try stores it again",
            ) from exc


def _config(asked: Asked, stored: Stored | None) -> GenerateContentConfig:
    from google.genai import types

    told = asked.after(stored.name) if stored and stored.name else asked.whole()
    return types.GenerateContentConfig.model_validate(told)


def _beginning(
    prompt: Prompt, options: GenerationOptions, quirks: Mapping[str, Any]
) -> Asked | None:
    """Return a request with the stable part of `prompt` and next to nothing else."""
    stable = [each for each in prompt.sections if each.stability is not Stability.TURN]
    if not stable:
        return None
    shortest = Prompt.of(*stable, Section("warming", _WARMING, Stability.TURN))
    return generation(shortest, attrs.evolve(options, max_output=1), quirks)


def _is_about_cache(exc: ProviderError) -> bool:
    said = exc.reason.lower().replace(" ", "")
    return not exc.is_retryable and "cachedcontent" in said


def _broken_off(call: Call) -> ProviderUnavailableError:
    return ProviderUnavailableError(
        call.provider,
        call.model,
        "",
        "the answer ended before the model said why it stopped; try again",
    )
