"""Generation over the Responses endpoint, the vendor's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import attrs

from poise.errors import RefusedError
from poise.ports.models import StructuredGenerator, TextGenerator
from poise.turn.cards import ModelCard
from poise.turn.generation import Finish, GenerationOptions, StructuredReply, TextChunk, Usage
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema
from poise_openai.chat import Levels
from poise_openai.client import Client, lean
from poise_openai.decode import Answer, add_items, read_response, response_usage
from poise_openai.encode import LEAST_OUTPUT, Asked, Encoder
from poise_openai.errors import Place, failed
from poise_openai.preset import Caching

if TYPE_CHECKING:
    from openai.types.responses import ResponseStreamEvent


class ResponsesGenerator(TextGenerator, StructuredGenerator):
    """Writes text and JSON with one model of the vendor."""

    def __init__(self, client: Client, model: str, *, card: ModelCard, levels: Levels) -> None:
        self._client = client
        self._model = model
        self._encoder = Encoder(client.preset, model, card)
        self._levels = levels

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        place = self._client.place(self._model)
        reading = _Reading(place)
        try:
            events = await self._send(
                {**self._encoder.responses(prompt, Asked(options)), "stream": True}
            )
            with self._client.translating(self._model):
                async with events:
                    async for event in events:
                        words = reading.take(event)
                        if words:
                            yield TextChunk(words)
        except RefusedError as refused:
            yield TextChunk(finish=Finish.REFUSED, reason=refused.reason)
            return
        yield reading.answer.last_chunk(place)

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        level = await self._levels.level(self._model)
        place = self._client.place(self._model)
        try:
            response = await self._send(
                self._encoder.responses(prompt, Asked(options, schema, level))
            )
            with self._client.translating(self._model):
                return read_response(response, place).reply(place)
        except RefusedError as refused:
            return StructuredReply("", Finish.REFUSED, reason=refused.reason)

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        if self._client.preset.caching is Caching.NONE:
            return None
        brief = attrs.evolve(options, max_output=LEAST_OUTPUT)
        params = self._encoder.responses(prompt, Asked(brief))
        if "prompt_cache_options" in params:
            params["prompt_cache_options"] = {**params["prompt_cache_options"], "prewarm": True}
        response = await self._send(params)
        return response_usage(getattr(response, "usage", None))

    async def _send(self, params: dict[str, Any]) -> Any:  # the SDK's overloads of one method
        sdk = await self._client.sdk(self._model)
        return await self._client.send(self._model, lean(sdk.responses.create), params)


class _Reading:
    """Reads one stream of events."""

    def __init__(self, place: Place) -> None:
        self.answer = Answer()
        self._place = place
        self._items: list[Any] = []  # the SDK's union of items

    def take(self, event: ResponseStreamEvent) -> str:
        """Take in an event and return its words."""
        if event.type == "response.output_text.delta":
            return event.delta
        if event.type == "response.output_item.done":
            self._items.append(event.item)
        elif event.type == "error":
            raise failed(event.code or "", event.message, self._place)
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            response = event.response
            answer = read_response(response, self._place)
            if not response.output:  # servers that leave out what they have streamed already
                add_items(answer, self._items)
            self.answer = answer
        return ""
