"""The suite that every provider runs, over the Gemini API's own forms."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from poise import Capability, ModelCall, ModelProvider, Usage
from poise.testing.fake_server import Received, Scripted
from poise.testing.wire import Connect, ProviderWireConformance, Wire
from poise_google.provider import GoogleProvider, VertexProvider
from poise_google.settings import GoogleSettings, VertexSettings

Payload = Callable[[str], Any]


class GeminiWire(Wire):
    """Answers of the Gemini API, from the payloads of `wire/`."""

    models: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "gemini-3.8-flash",
        Capability.STRUCTURED: "gemini-3.8-flash",
        Capability.DECIDE: "gemini-decision-1",
        Capability.EMBED: "gemini-embedding-2",
    }
    paths: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "*:streamGenerateContent",
        Capability.STRUCTURED: "*:generateContent",
        Capability.DECIDE: "*/decisions",
        Capability.EMBED: "*:batchEmbedContents",
    }
    key_variable: ClassVar[str] = "GEMINI_API_KEY"
    sdk: ClassVar[str] = "google.genai"
    # The SDK drops the message of a refused answer, except on Vertex AI.
    tells_reason: ClassVar[bool] = False

    def __init__(self, payload: Payload) -> None:
        self._payload = payload

    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        pieces = [self._payload("thinking_piece"), *(self._piece(each) for each in words)]
        return Scripted(events=(*pieces, self._end(usage)))

    def structured(self, text: str, usage: Usage) -> Scripted:
        body = self._end(usage)
        body["candidates"][0]["content"]["parts"] = [{"text": text}]
        return Scripted(body=body)

    def refusal(self, reason: str, capability: Capability) -> Scripted:
        body = self._payload("refused")
        body["candidates"][0]["finishMessage"] = reason
        return _as(capability, body)

    def truncated(self, text: str, capability: Capability) -> Scripted:
        body = self._payload("answer")
        body["candidates"][0]["content"]["parts"] = [{"text": text}]
        body["candidates"][0]["finishReason"] = "MAX_TOKENS"
        return _as(capability, body)

    def error(self, status: int, message: str) -> Scripted:
        body = self._payload("error")
        body["error"].update(code=status, message=message)
        return Scripted(status, body=body)

    def too_long(self, sent: int, limit: int) -> Scripted | None:
        return self.error(
            400,
            f"The input token count ({sent}) exceeds the maximum number of tokens allowed "
            f"({limit}).",
        )

    def over_quota(self) -> Scripted | None:
        return Scripted(429, body=self._payload("error_quota_day"))

    def stream_error(self, words: Sequence[str], message: str) -> Scripted | None:
        pieces = [self._piece(each) for each in words]
        return Scripted(events=(*pieces, self.error(503, message).body))

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted | None:
        body = self._end(usage)
        body["candidates"][0]["content"]["parts"] = [
            {"functionCall": {"id": call.id, "name": call.name, "args": dict(call.arguments)}}
            for call in calls
        ]
        return Scripted(events=(body,))

    def embeddings(
        self, request: Received, vector: Callable[[str], Sequence[float]], *, usage: Usage
    ) -> Scripted:
        body = self._payload("embeddings")
        body["embeddings"] = [
            {"values": list(vector(each["content"]["parts"][0]["text"]))}
            for each in request.json["requests"]
        ]
        body["usageMetadata"] = {"promptTokenCount": usage.input_tokens}
        return Scripted(body=body)

    def decisions(self, request: Received, values: Sequence[float]) -> Scripted:
        body = self._payload("decisions")
        body["answers"] = {
            key: {"type": "noul", "noul": value, "confidence": max(value, 1 - value)}
            for key, value in zip(request.json["questions"], values, strict=True)
        }
        return Scripted(body=body)

    def read_prompt(self, body: Any) -> str | None:
        system = body["systemInstruction"]["parts"][0]["text"]
        return f"{system}\n\n{body['contents'][0]['parts'][0]['text']}"

    def _piece(self, words: str) -> Any:
        piece = self._payload("piece")
        piece["candidates"][0]["content"]["parts"][0]["text"] = words
        return piece

    def _end(self, usage: Usage) -> Any:
        body = copy.deepcopy(self._payload("answer"))
        body["candidates"][0]["content"]["parts"] = [{"text": ""}]
        body["usageMetadata"].update(
            promptTokenCount=usage.input_tokens,
            cachedContentTokenCount=usage.cached_tokens,
            candidatesTokenCount=usage.output_tokens - usage.reasoning_tokens,
            thoughtsTokenCount=usage.reasoning_tokens,
        )
        return body


class VertexWire(GeminiWire):
    """The same on Vertex AI, where there are no decisions."""

    models: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "gemini-3.8-flash",
        Capability.STRUCTURED: "gemini-3.8-flash",
    }
    # Without a key credentials are looked for, which other tests are about.
    key_variable: ClassVar[str] = ""
    tells_reason: ClassVar[bool] = True


def _as(capability: Capability, body: Any) -> Scripted:
    return Scripted(events=(body,)) if capability is Capability.TEXT else Scripted(body=body)


class TestGemini(ProviderWireConformance):
    @pytest.fixture
    def wire(self, payload: Payload) -> Wire:
        return GeminiWire(payload)

    @pytest.fixture
    def provider(self) -> Connect:
        def connect(base_url: str, key: str | None) -> ModelProvider:
            secret = None if key is None else SecretStr(key)
            return GoogleProvider(GoogleSettings(base_url=base_url, api_key=secret))

        return connect


class TestVertexByKey(ProviderWireConformance):
    @pytest.fixture
    def wire(self, payload: Payload) -> Wire:
        return VertexWire(payload)

    @pytest.fixture
    def provider(self) -> Connect:
        def connect(base_url: str, key: str | None) -> ModelProvider:
            secret = None if key is None else SecretStr(key)
            return VertexProvider(VertexSettings(base_url=base_url, api_key=secret))

        return connect
