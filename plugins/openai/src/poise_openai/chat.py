"""Generation over Chat Completions, which every compatible server speaks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from poise.errors import RefusedError
from poise.ports.models import StructuredGenerator, TextGenerator
from poise.turn.cards import ModelCard
from poise.turn.generation import Finish, GenerationOptions, StructuredReply, TextChunk, Usage
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema
from poise_openai.client import Client, lean
from poise_openai.decode import Answer, chat_usage, read_completion
from poise_openai.encode import LEAST_OUTPUT, Asked, Encoder
from poise_openai.preset import Caching, Level

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk


class Levels(Protocol):
    """Knows how a model is best made to write JSON."""

    async def level(self, model: str) -> Level:
        """Return the best level that works with `model`."""
        ...


@attrs.frozen
class KnownLevel:
    """The level of a model whose card says it, so that it need not be asked."""

    known: Level

    async def level(self, model: str) -> Level:
        """Return the level."""
        return self.known


class ChatGenerator(TextGenerator, StructuredGenerator):
    """Writes text and JSON with one model of one server."""

    def __init__(self, client: Client, model: str, *, card: ModelCard, levels: Levels) -> None:
        self._client = client
        self._model = model
        self._encoder = Encoder(client.preset, model, card)
        self._levels = levels

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        params = {**self._encoder.chat(prompt, Asked(options)), "stream": True}
        if self._client.preset.stream_usage:
            params["stream_options"] = {"include_usage": True}
        answer = Answer()
        try:
            chunks = await self._send(params)
            with self._client.translating(self._model):
                async with chunks:
                    async for chunk in chunks:
                        words = _take(chunk, answer)
                        if words:
                            yield TextChunk(words)
        except RefusedError as refused:
            yield TextChunk(finish=Finish.REFUSED, reason=refused.reason, usage=answer.usage)
            return
        yield answer.last_chunk(self._client.place(self._model))

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        level = await self._levels.level(self._model)
        try:
            completion = await self._send(self._encoder.chat(prompt, Asked(options, schema, level)))
        except RefusedError as refused:
            return StructuredReply("", Finish.REFUSED, reason=refused.reason)
        place = self._client.place(self._model)
        with self._client.translating(self._model):
            return read_completion(completion, place).reply(place)

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        preset = self._client.preset
        if preset.caching is Caching.NONE:
            return None
        # Models that think before they speak fail where there is no room for it.
        least = 1 if preset.max_tokens == "max_tokens" else LEAST_OUTPUT
        brief = attrs.evolve(options, max_output=least)
        completion = await self._send(self._encoder.chat(prompt, Asked(brief)))
        return chat_usage(getattr(completion, "usage", None))

    async def _send(self, params: dict[str, Any]) -> Any:  # the SDK's overloads of one method
        sdk = await self._client.sdk(self._model)
        return await self._client.send(self._model, lean(sdk.chat.completions.create), params)


def _take(chunk: ChatCompletionChunk, answer: Answer) -> str:
    """Take in a chunk and return its words."""
    answer.model = answer.model or getattr(chunk, "model", None) or ""
    answer.usage = chat_usage(getattr(chunk, "usage", None)) or answer.usage
    choices = getattr(chunk, "choices", None)
    if not choices:
        return ""
    choice = choices[0]
    answer.finish = getattr(choice, "finish_reason", None) or answer.finish
    delta = getattr(choice, "delta", None)
    if delta is None:
        return ""
    answer.refusal += getattr(delta, "refusal", None) or ""
    for number, call in enumerate(getattr(delta, "tool_calls", None) or ()):
        index = getattr(call, "index", None)
        answer.called(
            number if index is None else index,
            id=getattr(call, "id", None) or "",
            name=getattr(call.function, "name", None) or "",
            arguments=getattr(call.function, "arguments", None) or "",
        )
    return getattr(delta, "content", None) or ""
