"""The suites of the ports and of the wire, over a local server that speaks the vendor's API."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest
from pydantic import SecretStr

from poise import (
    Capability,
    ModelCall,
    ModelProvider,
    StructuredGenerator,
    TextGenerator,
    Usage,
)
from poise.testing.embedding import ModelProviderConformance
from poise.testing.fake_server import FakeModelServer, Received, Scripted, ServerEvent
from poise.testing.generating import StructuredGeneratorConformance, TextGeneratorConformance
from poise.testing.wire import Connect, ProviderWireConformance, Wire
from poise_anthropic.generator import AnthropicGenerator
from poise_anthropic.provider import AnthropicProvider
from poise_anthropic.settings import AnthropicSettings

MODEL = "claude-haiku-5-5"


class MessagesWire(Wire):
    """How the Messages API answers."""

    models: ClassVar = {Capability.TEXT: MODEL, Capability.STRUCTURED: MODEL}
    paths: ClassVar = {Capability.TEXT: "/v1/messages", Capability.STRUCTURED: "/v1/messages"}
    key_variable = "ANTHROPIC_API_KEY"
    sdk = "anthropic"
    reports = frozenset(
        {"input_tokens", "cached_tokens", "written_tokens", "output_tokens", "reasoning_tokens"}
    )

    def __init__(self, message: Mapping[str, Any]) -> None:
        self._message = message

    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        return self._streamed(_text_block(0, words), "end_turn", usage)

    def structured(self, text: str, usage: Usage) -> Scripted:
        return self._whole([{"type": "text", "text": text}], "end_turn", usage)

    def refusal(self, reason: str, capability: Capability) -> Scripted:
        details = {"type": "refusal", "category": None, "explanation": reason}
        if capability is Capability.TEXT:
            return self._streamed(_text_block(0, ("I",)), "refusal", Usage(), details)
        return self._whole([], "refusal", Usage(), details)

    def truncated(self, text: str, capability: Capability) -> Scripted:
        if capability is Capability.TEXT:
            return self._streamed(_text_block(0, (text,)), "max_tokens", Usage())
        return self._whole([{"type": "text", "text": text}], "max_tokens", Usage())

    def error(self, status: int, message: str) -> Scripted:
        kinds = {
            401: "authentication_error",
            402: "billing_error",
            403: "permission_error",
            404: "not_found_error",
            413: "request_too_large",
            429: "rate_limit_error",
            529: "overloaded_error",
        }
        kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
        return Scripted(status, body=_error(kind, message))

    def too_long(self, sent: int, limit: int) -> Scripted:
        told = f"prompt is too long: {sent} tokens > {limit} maximum"
        return Scripted(400, body=_error("invalid_request_error", told))

    def over_quota(self) -> Scripted:
        told = "Your credit balance is too low to access the API."
        return Scripted(400, body=_error("invalid_request_error", told))

    def stream_error(self, words: Sequence[str], message: str) -> Scripted:
        whole = self._streamed(_text_block(0, words), "end_turn", Usage()).events or ()
        error = ServerEvent(_error("overloaded_error", message), "error")
        return Scripted(events=[*whole[:-3], error])

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted:
        events = _text_block(0, ("I see to it.",))
        for index, call in enumerate(calls, start=1):
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            text = json.dumps(dict(call.arguments))
            half = len(text) // 2
            deltas = [
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ("", text[:half], text[half:])
                if call.arguments or not piece
            ]
            events += _block(index, block, deltas)
        return self._streamed(events, "tool_use", usage)

    def read_prompt(self, body: Any) -> str:
        system = [block["text"] for block in body.get("system", [])]
        said = [block["text"] for message in body["messages"] for block in message["content"]]
        return "\n\n".join([*system, *said])

    def _whole(self, content: list[Any], stop: str, usage: Usage, details: Any = None) -> Scripted:
        told = {"content": content, "stop_reason": stop, "stop_details": details}
        return Scripted(body={**self._message, **told, "usage": _counts(usage)})

    def _streamed(
        self, blocks: list[ServerEvent], stop: str, usage: Usage, details: Any = None
    ) -> Scripted:
        counts = _counts(usage)
        outputs = {name: counts.pop(name) for name in ("output_tokens", "output_tokens_details")}
        start: dict[str, Any] = {
            "content": [],
            "stop_reason": None,
            "usage": {**counts, "output_tokens": 1},
        }
        delta = {"stop_reason": stop, "stop_sequence": None, "stop_details": details}
        return Scripted(
            events=[
                _named("message_start", message={**self._message, **start}),
                _named("ping"),
                *blocks,
                _named("message_delta", delta=delta, usage=outputs),
                _named("message_stop"),
            ]
        )


def _named(kind: str, **data: Any) -> ServerEvent:
    return ServerEvent({"type": kind, **data}, kind)


def _text_block(index: int, words: Sequence[str]) -> list[ServerEvent]:
    deltas = [{"type": "text_delta", "text": each} for each in words]
    return _block(index, {"type": "text", "text": ""}, deltas)


def _block(index: int, block: Any, deltas: Sequence[Any]) -> list[ServerEvent]:
    return [
        _named("content_block_start", index=index, content_block=block),
        *(_named("content_block_delta", index=index, delta=delta) for delta in deltas),
        _named("content_block_stop", index=index),
    ]


def _counts(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.written_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _connected(base_url: str, key: str | None) -> AnthropicProvider:
    if key is None:
        # Only the vendor insists on a key; a server of one's own is asked without.
        return AnthropicProvider(AnthropicSettings())
    return AnthropicProvider(AnthropicSettings(base_url=base_url, api_key=SecretStr(key)))


class TestWire(ProviderWireConformance):
    @pytest.fixture
    def wire(self, payload: Callable[[str], Any]) -> Wire:
        return MessagesWire(payload("message.json"))

    @pytest.fixture
    def provider(self) -> Connect:
        def connect(base_url: str, key: str | None) -> ModelProvider:
            return _connected(base_url, key)

        return connect


@pytest.fixture
async def generator(
    fake_model_server: FakeModelServer,
    payload: Callable[[str], Any],
    recorded: Callable[[str], Scripted],
) -> AsyncIterator[AnthropicGenerator]:
    wire = MessagesWire(payload("message.json"))

    def answer(request: Received) -> Scripted:
        said = request.json
        if said.get("stream"):
            return wire.stream(("Hello ", "there."), Usage(10, output_tokens=3))
        if "output_config" not in said:
            return recorded("warmed.json")
        schema = said["output_config"]["format"]["schema"]
        return wire.structured(json.dumps(_instance(schema)), Usage(10, output_tokens=3))

    fake_model_server.script("/v1/messages", answer)
    made = _connected(fake_model_server.url, "a-key-of-no-account")
    found = made.text_generator(MODEL)
    assert isinstance(found, AnthropicGenerator)
    yield found
    await made.aclose()


def _instance(schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _instance(schema["anyOf"][0])
    if schema["type"] == "object":
        return {name: _instance(inner) for name, inner in schema["properties"].items()}
    return {"string": "said", "integer": 1, "number": 0.5, "boolean": True, "null": None}.get(
        schema["type"], []
    )


class TestText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, generator: TextGenerator) -> TextGenerator:
        return generator


class TestStructured(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, generator: AnthropicGenerator) -> StructuredGenerator:
        return generator


class TestProvider(ModelProviderConformance):
    @pytest.fixture
    def subject(self) -> ModelProvider:
        return AnthropicProvider(AnthropicSettings())
