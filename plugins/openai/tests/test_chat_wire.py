from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs
import pytest
from pydantic import SecretStr

from poise.hooks.cards import Cards
from poise.ports.models import ModelProvider
from poise.testing.fake_server import Received, Scripted
from poise.testing.wire import Connect, ProviderWireConformance, Wire
from poise.turn.cards import ModelCard
from poise.turn.generation import ModelCall, Usage
from poise.turn.models import Capability
from poise_openai import CompatibleProvider, ServerSettings, load_presets


class ChatWire(Wire):
    """Chat Completions, as compatible servers send it."""

    models: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "acme-large",
        Capability.STRUCTURED: "acme-large",
        Capability.EMBED: "acme-embed",
    }
    paths: ClassVar[Mapping[Capability, str]] = {
        Capability.TEXT: "/v1/chat/completions",
        Capability.STRUCTURED: "/v1/chat/completions",
        Capability.EMBED: "/v1/embeddings",
    }
    key_variable = "TOGETHER_API_KEY"
    sdk = "openai"

    def __init__(self, recorded: Callable[[str], Any]) -> None:
        self._recorded = recorded

    def stream(self, words: Sequence[str], usage: Usage) -> Scripted:
        return self._events(
            self._chunk({"role": "assistant", "content": ""}),
            *(self._chunk({"content": each}) for each in words),
            self._chunk({}, finish="stop"),
            self._counts(usage),
        )

    def structured(self, text: str, usage: Usage) -> Scripted:
        return self._whole({"content": text}, "stop", usage)

    def refusal(self, reason: str, capability: Capability) -> Scripted:
        if capability is Capability.STRUCTURED:
            return self._whole({"content": None, "refusal": reason}, "stop", Usage())
        return self._events(
            self._chunk({"role": "assistant", "content": "", "refusal": None}),
            *(self._chunk({"refusal": part + " "}) for part in reason.split(" ")[:-1]),
            self._chunk({"refusal": reason.split(" ")[-1]}),
            self._chunk({}, finish="stop"),
            self._counts(Usage()),
        )

    def truncated(self, text: str, capability: Capability) -> Scripted:
        if capability is Capability.STRUCTURED:
            return self._whole({"content": text}, "length", Usage())
        return self._events(self._chunk({"content": text}), self._chunk({}, finish="length"))

    def error(self, status: int, message: str) -> Scripted:
        return self._failed(status, message, "error_of_some_type", None)

    def too_long(self, sent: int, limit: int) -> Scripted:
        return self._failed(
            400,
            f"This model's maximum context length is {limit} tokens. However, your messages "
            f"resulted in {sent} tokens. Please reduce the length of the messages.",
            "invalid_request_error",
            "context_length_exceeded",
        )

    def over_quota(self) -> Scripted:
        return self._failed(
            429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota"
        )

    def stream_error(self, words: Sequence[str], message: str) -> Scripted:
        whole = self.stream(words, Usage())
        error = {"error": {"message": message, "type": "server_error", "code": None}}
        return attrs.evolve(whole, events=(*(whole.events or ())[:-3], json.dumps(error)))

    def calls(self, calls: Sequence[ModelCall], usage: Usage) -> Scripted:
        chunks = [self._chunk({"role": "assistant", "content": None})]
        for index, call in enumerate(calls):
            start = {"index": index, "id": call.id, "type": "function"}
            named = {**start, "function": {"name": call.name, "arguments": ""}}
            chunks.append(self._chunk({"tool_calls": [named]}))
            written = json.dumps(dict(call.arguments), ensure_ascii=False)
            for piece in (written[:3], written[3:]):
                part = {"index": index, "function": {"arguments": piece}}
                chunks.append(self._chunk({"tool_calls": [part]}))
        return self._events(*chunks, self._chunk({}, finish="tool_calls"), self._counts(usage))

    def embeddings(
        self, request: Received, vector: Callable[[str], Sequence[float]], *, usage: Usage
    ) -> Scripted:
        rows = [
            {"object": "embedding", "index": index, "embedding": list(vector(text))}
            for index, text in enumerate(request.json["input"])
        ]
        body = self._recorded("embeddings")
        # Servers may answer in any order: the index says which is which.
        return Scripted(body={**body, "data": rows[::-1]})

    def read_prompt(self, body: Any) -> str:
        return "\n\n".join(message["content"] for message in body["messages"])

    def _whole(self, message: dict[str, Any], finish: str, usage: Usage) -> Scripted:
        body = self._recorded("chat_completion")
        body["choices"][0]["message"] |= message
        body["choices"][0]["finish_reason"] = finish
        return Scripted(body={**body, "usage": _usage(usage)})

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        chunk: dict[str, Any] = copy.deepcopy(self._recorded("chat_chunk"))
        chunk["choices"][0] |= {"delta": delta, "finish_reason": finish}
        return chunk

    def _counts(self, usage: Usage) -> dict[str, Any]:
        return {**self._recorded("chat_chunk"), "choices": [], "usage": _usage(usage)}

    def _events(self, *chunks: dict[str, Any]) -> Scripted:
        return Scripted(events=(*chunks, "[DONE]"))

    def _failed(self, status: int, message: str, kind: str, code: str | None) -> Scripted:
        body = self._recorded("error")
        body["error"] |= {"message": message, "type": kind, "code": code}
        return Scripted(status, body=body)


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


class TestChatWire(ProviderWireConformance):
    @pytest.fixture
    def wire(self, recorded: Callable[[str], Any]) -> Wire:
        return ChatWire(recorded)

    @pytest.fixture
    def provider(self) -> Connect:
        def connect(base_url: str, key: str | None) -> ModelProvider:
            settings = ServerSettings(
                base_url=f"{base_url}/v1", api_key=None if key is None else SecretStr(key)
            )
            cards = Cards()
            cards.add(ModelCard("together", "acme-large", quirks={"json": "json_schema"}))
            cards.add(ModelCard("together", "acme-embed", dimensions=8))
            return CompatibleProvider(load_presets()["together"], settings, cards)

        return connect
