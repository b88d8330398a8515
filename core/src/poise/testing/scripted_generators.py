"""Generators and a moderator that answer from a script, for tests and as second implementations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import anyio
import attrs
from anyio.lowlevel import checkpoint
from pydantic import BaseModel

from poise.ports.models import Moderator, StructuredGenerator, TextGenerator
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema

L = TypeVar("L")


@attrs.frozen
class GenerationRequest:
    """What a scripted generator was asked.

    Attributes:
        prompt: What it read.
        options: As they came.
        schema: `None` for text.
    """

    prompt: Prompt
    options: GenerationOptions
    schema: Schema | None = None


TextPart: TypeAlias = str | TextChunk | Exception | anyio.Event
"""Words, a chunk as it is, an error raised there, or an event waited for there."""

TextLine: TypeAlias = str | Sequence[TextPart]
"""A whole reply, said word by word, or its parts; COMPLETE unless a chunk has another finish."""

JsonLine: TypeAlias = str | Mapping[str, Any] | BaseModel | StructuredReply | Exception
"""Text as it is, what is written as JSON, a whole reply, or an error."""

Script: TypeAlias = Sequence[L] | Callable[[GenerationRequest], L]
"""One line per request, the last one repeated; or a function that gives them."""


class ScriptedTextGenerator(TextGenerator):
    """Writes from a script.

    Args:
        script: What it says; default: `ok`.
        failures: For each call, oldest first, what it raises, or `None`; later calls succeed.
        gate: Each call waits for it before its first chunk.

    Attributes:
        requests: Every request, oldest first.
        warmed: Every prompt that was warmed, oldest first.
        closed: How many streams were closed or cancelled before they were whole.
    """

    def __init__(
        self,
        script: Script[TextLine] = ("ok",),
        failures: Iterable[Exception | None] = (),
        gate: anyio.Event | None = None,
    ) -> None:
        self.requests: list[GenerationRequest] = []
        self.warmed: list[Prompt] = []
        self.closed = 0
        self._lines = Lines(script)
        self._failures = iter(failures)
        self._gate = gate

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        request = GenerationRequest(prompt, options)
        self.requests.append(request)
        is_whole = False
        try:
            await meet_script(self._failures, self._gate)
            line = self._lines.next(request)
            async for chunk in _spoken(line, _usage_of(prompt, line)):
                is_whole = chunk.finish is not None
                yield chunk
        finally:
            self.closed += not is_whole

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        self.warmed.append(prompt)
        await meet_script(self._failures, self._gate)
        return Usage(input_tokens=_tokens(prompt.text), written_tokens=_tokens(prompt.text))


class ScriptedStructuredGenerator(StructuredGenerator):
    """Writes JSON from a script.

    Args:
        script: What it writes; default: the smallest JSON of the schema.
        failures: For each call, oldest first, what it raises, or `None`; later calls succeed.
        gate: Each call waits for it.

    Attributes:
        requests: Every request, oldest first.
    """

    def __init__(
        self,
        script: Script[JsonLine] | None = None,
        failures: Iterable[Exception | None] = (),
        gate: anyio.Event | None = None,
    ) -> None:
        self.requests: list[GenerationRequest] = []
        self._lines: Lines[JsonLine] = Lines(smallest_reply if script is None else script)
        self._failures = iter(failures)
        self._gate = gate

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        request = GenerationRequest(prompt, options, schema)
        self.requests.append(request)
        await meet_script(self._failures, self._gate)
        line = self._lines.next(request)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, StructuredReply):
            return line
        text = written(line)
        return StructuredReply(text, usage=_usage_of(prompt, text), model="scripted")


class ScriptedModerator(Moderator):
    """Flags texts that hold certain words.

    Args:
        flagged: Words to flag, whatever their case; or a function of the text.
        failures: For each call, oldest first, what it raises, or `None`; later calls succeed.
        gate: Each call waits for it.

    Attributes:
        moderated: Every batch of texts, oldest first.
    """

    def __init__(
        self,
        flagged: Collection[str] | Callable[[str], Moderation] = (),
        failures: Iterable[Exception | None] = (),
        gate: anyio.Event | None = None,
    ) -> None:
        self.moderated: list[tuple[str, ...]] = []
        self._flagged = flagged
        self._failures = iter(failures)
        self._gate = gate

    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        self.moderated.append(tuple(texts))
        await meet_script(self._failures, self._gate)
        return moderations(texts, self._flagged)


class Lines(Generic[L]):
    """Gives out a script's lines, the last one again and again."""

    def __init__(self, script: Script[L]) -> None:
        self._script = script
        self._given = 0

    def next(self, request: GenerationRequest) -> L:
        """Return the line for a request."""
        if callable(self._script):
            return self._script(request)
        line = self._script[min(self._given, len(self._script) - 1)]
        self._given += 1
        return line


def written(line: str | Mapping[str, Any] | BaseModel) -> str:
    """Return what a line of a script looks like as JSON text."""
    if isinstance(line, str):
        return line
    if isinstance(line, BaseModel):
        return line.model_dump_json()
    return json.dumps(line, ensure_ascii=False)


def smallest(schema: Schema) -> dict[str, Any]:
    """Return the smallest value that a schema allows: empty, zero, null, or the first choice."""
    found = smallest_value(schema.body)
    assert isinstance(found, dict)
    return found


def smallest_reply(request: GenerationRequest) -> JsonLine:
    """Return the smallest JSON of the schema that was asked for: a script without a script."""
    assert request.schema is not None
    return smallest(request.schema)


def moderations(
    texts: Sequence[str], flagged: Collection[str] | Callable[[str], Moderation]
) -> Sequence[Moderation]:
    """Return what a scripted moderator says of each text."""
    if callable(flagged):
        return [flagged(text) for text in texts]
    return [
        Moderation(is_hit, {"scripted": float(is_hit)})
        for text in texts
        for is_hit in (any(word.lower() in text.lower() for word in flagged),)
    ]


async def meet_script(failures: Iterable[Exception | None], gate: anyio.Event | None) -> None:
    """Wait for the gate, then fail as scripted or not."""
    await checkpoint()
    if gate is not None:
        await gate.wait()
    failure = next(iter(failures), None)
    if failure is not None:
        raise failure


def chunks_of(line: TextLine) -> AsyncIterator[TextChunk]:
    """Return the stream of a line, as a model would send it."""
    return _spoken(line, Usage(output_tokens=_said_tokens(line)))


async def _spoken(line: TextLine, usage: Usage) -> AsyncIterator[TextChunk]:
    parts: Sequence[TextPart] = _words(line) if isinstance(line, str) else line
    for part in parts:
        await checkpoint()
        if isinstance(part, Exception):
            raise part
        if isinstance(part, anyio.Event):
            await part.wait()
        else:
            chunk = TextChunk(part) if isinstance(part, str) else part
            yield chunk
            if chunk.finish is not None:
                return
    yield TextChunk(finish=Finish.COMPLETE, usage=usage, model="scripted")


def _words(text: str) -> Sequence[str]:
    words = text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:]


def _usage_of(prompt: Prompt, line: TextLine) -> Usage:
    return Usage(input_tokens=_tokens(prompt.text), output_tokens=_said_tokens(line))


def _said_tokens(line: TextLine) -> int:
    if isinstance(line, str):
        return _tokens(line)
    return sum(_tokens(part) for part in line if isinstance(part, str))


def _tokens(text: str) -> int:
    return len(text.split())


def smallest_value(node: Mapping[str, Any]) -> Any:  # any JSON value
    """Return the smallest value that a part of a schema allows, as `smallest` does."""
    kind = node.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return None
    if "enum" in node:
        return node["enum"][0]
    if kind == "object":
        return {name: smallest_value(inner) for name, inner in node.get("properties", {}).items()}
    return {"string": "", "integer": 0, "number": 0.0, "boolean": False, "array": []}[str(kind)]
