from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs
import pytest
from pydantic import SecretStr

from poise.hooks.cards import Cards
from poise.ports.models import ModelProvider
from poise.testing.fake_server import Received, Scripted, ServerEvent
from poise.testing.wire import Connect, ProviderWireConformance, Wire
from poise.turn.generation import ModelCall, Usage
from poise.turn.models import Capability
from poise_openai import OpenAIProvider, OpenAISettings


class ResponsesWire(Wire):
    """The vendor's own endpoints."""

    models: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "gpt-6-luna",
        Capability.STRUCTURED: "gpt-6-luna",
        Capability.EMBED: "text-embedding-3-small",
        Capability.MODERATE: "omni-moderation-latest",
    }
    paths: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "/v1/responses",
        Capability.STRUCTURED: "/v1/responses",
        Capability.EMBED: "/v1/embeddings",
        Capability.MODERATE: "/v1/moderations",
    }
    sdk = "openai"

    def __init__(self, recorded: Callable[[str], Any]) -> None:
        self._recorded = recorded

    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        whole = self._response([_message({"type": "output_text", "text": "".join(words)})], usage)
        deltas = [_delta("response.output_text.delta", each) for each in words]
        return self._events(*deltas, _ending("response.completed", whole))

    def structured(self, text: str, usage: Usage) -> Scripted:
        return Scripted(
            body=self._response([_message({"type": "output_text", "text": text})], usage)
        )

    def refusal(self, reason: str, capability: Capability) -> Scripted:
        whole = self._response([_message({"type": "refusal", "refusal": reason})], Usage())
        if capability is Capability.STRUCTURED:
            return Scripted(body=whole)
        return self._events(
            _delta("response.refusal.delta", reason), _ending("response.completed", whole)
        )

    def truncated(self, text: str, capability: Capability) -> Scripted:
        whole = self._response([_message({"type": "output_text", "text": text})], Usage())
        whole |= {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        }
        if capability is Capability.STRUCTURED:
            return Scripted(body=whole)
        return self._events(
            _delta("response.output_text.delta", text), _ending("response.incomplete", whole)
        )

    def error(self, status: int, message: str) -> Scripted:
        return self._failed(status, message, "error_of_some_type", None)

    def too_long(self, sent: int, limit: int) -> Scripted:
        return self._failed(
            400,
            f"Your input exceeds the context window of this model: your messages resulted in "
            f"{sent:,} tokens, and its context window is {limit:,} tokens.",
            "invalid_request_error",
            "context_length_exceeded",
        )

    def over_quota(self) -> Scripted:
        return self._failed(
            429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"
        )

    def stream_error(self, words: Sequence[str], message: str) -> Scripted:
        error = {"type": "error", "code": "server_error", "message": message, "param": None}
        whole = self.stream(words, Usage())
        told = ServerEvent({**error, "sequence_number": 9}, "error")
        return attrs.evolve(whole, events=(*(whole.events or ())[:-1], told))

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted:
        items = [
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "call_id": call.id,
                "name": call.name,
                "arguments": json.dumps(dict(call.arguments), ensure_ascii=False),
                "status": "completed",
            }
            for number, call in enumerate(calls)
        ]
        return self._events(_ending("response.completed", self._response(items, usage)))

    def embeddings(
        self, request: Received, vector: Callable[[str], Sequence[float]], *, usage: Usage
    ) -> Scripted:
        rows = [
            {"object": "embedding", "index": index, "embedding": list(vector(text))}
            for index, text in enumerate(request.json["input"])
        ]
        return Scripted(body={**self._recorded("embeddings"), "data": rows})

    def moderations(self, request: Received, flagged: Callable[[str], bool]) -> Scripted:
        body = self._recorded("moderations")
        (one,) = body["results"]
        judged = [{**one, "flagged": flagged(text)} for text in request.json["input"]]
        return Scripted(body={**body, "results": judged})

    def read_prompt(self, body: Any) -> str:
        return "".join(
            part["text"]
            for message in body["input"]
            for part in [*message["content"], {"text": "\n\n"}]
        )

    def _response(self, output: list[Any], usage: Usage) -> dict[str, Any]:
        body: dict[str, Any] = self._recorded("response")
        body["output"] = output
        body["usage"] |= {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.written_tokens,
            },
            "output_tokens": usage.output_tokens,
        }
        return body

    def _events(self, *events: ServerEvent) -> Scripted:
        started = {**self._recorded("response"), "status": "in_progress", "output": []}
        first = _ending("response.created", {**started, "usage": None})
        return Scripted(events=(first, *events))

    def _failed(self, status: int, message: str, kind: str, code: str | None) -> Scripted:
        body = self._recorded("error")
        body["error"] |= {"message": message, "type": kind, "code": code}
        return Scripted(status, body=body)


def _message(part: dict[str, Any]) -> dict[str, Any]:
    whole: dict[str, Any] = (
        {"annotations": [], "logprobs": []} if part["type"] == "output_text" else {}
    )
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{**part, **whole}],
    }


def _delta(kind: str, text: str) -> ServerEvent:
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0, "sequence_number": 4}
    return ServerEvent({"type": kind, "delta": text, "logprobs": [], **place}, kind)


def _ending(kind: str, response: dict[str, Any]) -> ServerEvent:
    return ServerEvent({"type": kind, "response": response, "sequence_number": 7}, kind)


class TestResponsesWire(ProviderWireConformance):
    @pytest.fixture
    def wire(self, recorded: Callable[[str], Any]) -> Wire:
        return ResponsesWire(recorded)

    @pytest.fixture
    def provider(self) -> Connect:
        def connect(base_url: str, key: str | None) -> ModelProvider:
            settings = OpenAISettings.model_validate(
                {
                    "base_url": f"{base_url}/v1",
                    "api_key": None if key is None else SecretStr(key),
                    "api": "responses",
                }
            )
            cards = Cards()
            cards.add_file("poise_openai")
            return OpenAIProvider(settings, cards)

        return connect
