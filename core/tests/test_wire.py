"""The wire suite holds for a small provider that speaks HTTP by hand, without any SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio
import numpy as np
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from poise.errors import (
    AuthenticationError,
    ContextTooLongError,
    InvalidRequestError,
    OverQuotaError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RateLimitedError,
    UnknownModelError,
)
from poise.ports.models import (
    DecisionModel,
    Embedder,
    ModelProvider,
    Moderator,
    StructuredGenerator,
    TextGenerator,
)
from poise.testing.fake_server import Received, Scripted, ServerEvent
from poise.testing.wire import Connect, ProviderWireConformance, Wire
from poise.turn.generation import (
    Finish,
    GenerationOptions,
    ModelCall,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import Capability, DecisionRequest, Probability
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema

ERRORS: Mapping[int, type[ProviderError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: OverQuotaError,
    403: AuthenticationError,
    404: UnknownModelError,
    408: ProviderTimeoutError,
    413: ContextTooLongError,
    429: RateLimitedError,
}
GONE = (OSError, anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError)


class ToyProvider(ModelProvider):
    """A vendor whose wire is as plain as can be; reads answers line by line off a socket."""

    name = "toy"

    def __init__(self, base_url: str, key: str | None) -> None:
        self._place = urlsplit(base_url)
        self._key = key

    def models(self, capability: Capability) -> Sequence[str]:
        return ("tiny",)

    def embedder(self, model: str) -> Embedder:
        return ToyEmbedder(self, model)

    def decision_model(self, model: str) -> DecisionModel:
        return ToyDecisionModel(self, model)

    def text_generator(self, model: str) -> TextGenerator:
        return ToyTextGenerator(self, model)

    def structured_generator(self, model: str) -> StructuredGenerator:
        return ToyStructuredGenerator(self, model)

    def moderator(self, model: str) -> Moderator:
        return ToyModerator(self, model)

    def error(self, kind: type[ProviderError], model: str, reason: str, **more: Any) -> Any:
        return kind(self.name, model, "", reason.replace(self._key or "\0", "***"), **more)

    async def ask(self, path: str, model: str, said: Any) -> Any:
        async with self.opened(path, model, said) as lines:
            text = "".join([line + "\n" async for line in lines])
        return self.read(text, model)

    def read(self, text: str, model: str) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except ValueError as exc:
            raise self.error(
                ProviderUnavailableError, model, f"answered {text[:50]!r}; ask again"
            ) from exc
        if not isinstance(found, dict) or not found:
            raise self.error(ProviderUnavailableError, model, f"answered {text[:50]!r}; ask again")
        return found

    @asynccontextmanager
    async def opened(self, path: str, model: str, said: Any) -> AsyncIterator[AsyncIterator[str]]:
        if self._key is None:
            raise self.error(AuthenticationError, model, "there is no key; set TOY_KEY")
        at = f"{self._place.hostname}:{self._place.port}"
        body = json.dumps({"model": model, **said}).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {at}\r\nX-Key: {self._key}\r\n"
        try:
            connected = await anyio.connect_tcp(self._place.hostname or "", self._place.port or 0)
            async with connected as stream:
                await stream.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                received = BufferedByteReceiveStream(stream)
                raw = (await received.receive_until(b"\r\n\r\n", 65_536)).decode("latin-1")
                status, headers = _head(raw)
                lines = _lines(_pieces(received, headers))
                if status != 200:
                    text = "".join([line async for line in lines])
                    raise self.failed(status, headers, model, text)
                yield lines
        except GONE as exc:
            raise self.error(
                ProviderUnavailableError, model, f"no whole answer from {at}; check base_url"
            ) from exc

    def failed(self, status: int, headers: Mapping[str, str], model: str, text: str) -> Any:
        kind = ERRORS.get(status, ProviderUnavailableError)
        try:
            told = json.loads(text)
        except ValueError:
            told = {}
        reason = f"status {status}: {told.get('why', text[:50]) if told else text[:50]}; "
        reason += "check TOY_KEY" if kind is AuthenticationError else "see the vendor's console"
        if kind is RateLimitedError:
            return self.error(kind, model, reason, retry_after=_seconds(headers))
        if kind is ContextTooLongError and isinstance(told, dict) and "sent" in told:
            return self.error(kind, model, reason, sent=told["sent"], limit=told["limit"])
        return self.error(kind, model, reason)


class ToyModel:
    def __init__(self, provider: ToyProvider, model: str) -> None:
        self.provider = provider
        self.model = model
        self.identity = f"toy-{model}"


class ToyTextGenerator(ToyModel, TextGenerator):
    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        async with self.provider.opened("/write", self.model, _said(prompt, options)) as lines:
            async for line in lines:
                if not line.startswith("data: "):
                    continue
                event = self.provider.read(line.removeprefix("data: "), self.model)
                if "error" in event:
                    raise self.provider.error(
                        ProviderUnavailableError, self.model, f"{event['error']}; try again"
                    )
                if "finish" in event:
                    yield TextChunk(
                        finish=Finish(event["finish"]),
                        usage=Usage(**event["usage"]),
                        reason=event.get("reason", ""),
                        calls=tuple(ModelCall(**call) for call in event.get("calls", ())),
                    )
                    return
                if "words" not in event:
                    break
                yield TextChunk(event["words"])
        raise self.provider.error(ProviderUnavailableError, self.model, "no end; try again")


class ToyStructuredGenerator(ToyModel, StructuredGenerator):
    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        said = {**_said(prompt, options), "schema": schema.plain()}
        found = await self.provider.ask("/fill", self.model, said)
        return StructuredReply(
            found["text"], Finish(found["finish"]), Usage(**found["usage"]), found["reason"]
        )


class ToyEmbedder(ToyModel, Embedder):
    dimensions = 8

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        rows[:, 0] = 1.0
        kept = [place for place, text in enumerate(texts) if text.strip()]
        asked = {"texts": [texts[place] for place in kept]}
        found = (await self.provider.ask("/embed", self.model, asked))["rows"]
        for place, row in zip(kept, found, strict=True):
            rows[place] = np.asarray(row) / np.linalg.norm(row)
        return rows


class ToyDecisionModel(ToyModel, DecisionModel):
    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        asked = {"questions": [question.text for question in request.questions]}
        found = (await self.provider.ask("/decide", self.model, asked))["values"]
        return [
            Probability(question.id, value)
            for question, value in zip(request.questions, found, strict=True)
        ]


class ToyModerator(ToyModel, Moderator):
    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        found = await self.provider.ask("/moderate", self.model, {"texts": list(texts)})
        return [Moderation(each) for each in found["flags"]]


class ToyWire(Wire):
    models: ClassVar = dict.fromkeys(Capability, "tiny")
    paths: ClassVar = {
        Capability.TEXT: "/write",
        Capability.STRUCTURED: "/fill",
        Capability.EMBED: "/embed",
        Capability.DECIDE: "/decide",
        Capability.MODERATE: "/mod*",
    }
    key_variable = "TOY_KEY"
    sdk = "toy_sdk"

    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        end = {"finish": "complete", "usage": _counted(usage)}
        return Scripted(events=[*({"words": each} for each in words), end])

    def structured(self, text: str, usage: Usage) -> Scripted:
        return _filled(text, Finish.COMPLETE, usage)

    def refusal(self, reason: str, capability: Capability) -> Scripted:
        return _ended(capability, Finish.REFUSED, reason=reason)

    def truncated(self, text: str, capability: Capability) -> Scripted:
        return _ended(capability, Finish.TRUNCATED, text)

    def error(self, status: int, message: str) -> Scripted:
        return Scripted(status, body={"why": message})

    def too_long(self, sent: int, limit: int) -> Scripted | None:
        return Scripted(413, body={"why": "too long", "sent": sent, "limit": limit})

    def over_quota(self) -> Scripted | None:
        return self.error(402, "pay first")

    def stream_error(self, words: Sequence[str], message: str) -> Scripted | None:
        return Scripted(events=[*({"words": each} for each in words), {"error": message}])

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted | None:
        wished = [
            {"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in calls
        ]
        return Scripted(
            events=[ServerEvent({"finish": "calls", "usage": _counted(usage), "calls": wished})]
        )

    def embeddings(
        self, request: Received, vector: Callable[[str], Sequence[float]], *, usage: Usage
    ) -> Scripted:
        return Scripted(body={"rows": [list(vector(text)) for text in request.json["texts"]]})

    def decisions(self, request: Received, values: Sequence[float]) -> Scripted:
        return Scripted(body={"values": list(values)})

    def moderations(self, request: Received, flagged: Callable[[str], bool]) -> Scripted:
        return Scripted(body={"flags": [flagged(text) for text in request.json["texts"]]})

    def read_prompt(self, body: Any) -> str | None:
        return "\n\n".join(body["blocks"])


class TestToyProvider(ProviderWireConformance):
    @pytest.fixture
    def wire(self) -> Wire:
        return ToyWire()

    @pytest.fixture
    def provider(self) -> Connect:
        return ToyProvider


def _said(prompt: Prompt, options: GenerationOptions) -> dict[str, Any]:
    return {
        "blocks": [text for _, text in prompt.blocks if text],
        "tools": [tool.parameters.plain() for tool in options.tools],
        "cache_key": options.cache_key,
    }


def _counted(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in Wire.reports}


def _filled(text: str, finish: Finish, usage: Usage, reason: str = "") -> Scripted:
    return Scripted(
        body={"text": text, "finish": finish.value, "usage": _counted(usage), "reason": reason}
    )


def _ended(capability: Capability, finish: Finish, text: str = "", reason: str = "") -> Scripted:
    if capability is Capability.STRUCTURED:
        return _filled(text, finish, Usage(), reason)
    end = {"finish": finish.value, "usage": _counted(Usage()), "reason": reason}
    return Scripted(events=[{"words": text}, end])


def _head(raw: str) -> tuple[int, Mapping[str, str]]:
    first, *rest = raw.split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest if ": " in line)
    return int(first.split()[1]), headers


def _seconds(headers: Mapping[str, str]) -> float | None:
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None


async def _pieces(
    received: BufferedByteReceiveStream, headers: Mapping[str, str]
) -> AsyncIterator[bytes]:
    if "content-length" in headers:
        left = int(headers["content-length"])
        while left:
            piece = await received.receive(min(left, 65_536))
            left -= len(piece)
            yield piece
        return
    while size := int(await received.receive_until(b"\r\n", 100), 16):
        yield await received.receive_exactly(size)
        await received.receive_exactly(2)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[str]:
    kept: list[bytes] = []
    async for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for line in whole:
            yield (b"".join(kept) + line).decode()
            kept = []
        kept.append(rest)
    if any(kept):
        yield b"".join(kept).decode()
