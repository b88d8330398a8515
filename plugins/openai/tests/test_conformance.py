from __future__ import annotations

from typing import Any

import pytest

from poise.testing.fake_server import Received, Scripted, ServerEvent
from poise.testing.generating import (
    ModeratorConformance,
    StructuredGeneratorConformance,
    TextGeneratorConformance,
)

JSON = '{"zz_evidence": "It is lost.", "mm_restated": null, "aa_verdicts": []}'


@pytest.fixture
def chat(served: Any, recorded: Any) -> Any:
    """Answer chat completions as a server that knows everything would."""

    def answer(request: Received) -> Scripted:
        body = request.json
        assert all(message["content"] for message in body["messages"])
        forced = body.get("tool_choice")
        if not body.get("stream"):
            reply = recorded("chat_completion")
            message = reply["choices"][0]["message"]
            message["content"] = JSON
            if forced == {"type": "function", "function": {"name": "answer"}}:
                function = {"name": "answer", "arguments": JSON}
                call = {"id": "c", "type": "function", "function": function}
                message |= {"content": None, "tool_calls": [call]}
            return Scripted(body=reply)
        chunk, end = recorded("chat_chunk"), recorded("chat_chunk")
        delta: dict[str, Any] = {"content": "Your card is on its way."}
        if forced not in (None, "auto", "none"):
            function = {"name": "say_hello", "arguments": "{}"}
            delta = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
        chunk["choices"][0]["delta"] = delta
        end["choices"][0]["finish_reason"] = "stop"
        return Scripted(events=(chunk, end, "[DONE]"))

    served.server.script("/v1/chat/completions", answer)
    return served


@pytest.fixture
def responses(served: Any, recorded: Any) -> Any:
    """Answer responses as the vendor would."""

    def answer(request: Received) -> Scripted:
        body = request.json
        reply = recorded("response")
        if not body.get("stream"):
            reply["output"][1]["content"][0]["text"] = JSON
            return Scripted(body=reply)
        kind = "response.output_text.delta"
        delta: dict[str, Any] = {"type": kind, "delta": "Hello", "logprobs": []}
        if body.get("tool_choice") not in (None, "auto", "none"):
            call = {"type": "function_call", "call_id": "c", "name": "say_hello", "arguments": "{}"}
            reply["output"] = [call]
            delta["delta"] = ""
        return Scripted(
            events=(
                ServerEvent(delta, kind),
                ServerEvent({"type": "response.completed", "response": reply}),
            )
        )

    served.server.script("/v1/responses", answer)
    return served


class TestChatText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, chat: Any) -> Any:
        return chat.provider().text_generator("m")


class TestResponsesText(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, responses: Any) -> Any:
        return responses.provider("openai", api="responses").text_generator("m")


class TestChatJson(StructuredGeneratorConformance):
    @pytest.fixture(params=["json_schema", "json_object", "tool", "prompt"])
    def subject(self, chat: Any, request: pytest.FixtureRequest) -> Any:
        return chat.provider(level=request.param).structured_generator("m")


class TestResponsesJson(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, responses: Any) -> Any:
        provider = responses.provider("openai", api="responses", quirks={"cache": "explicit"})
        return provider.structured_generator("m")


class TestModerator(ModeratorConformance):
    @pytest.fixture
    def subject(self, served: Any, recorded: Any) -> Any:
        def answer(request: Received) -> Scripted:
            body = recorded("moderations")
            (one,) = body["results"]
            results = [{**one, "flagged": len(text) % 2 == 0} for text in request.json["input"]]
            return Scripted(body={**body, "results": results})

        served.server.script("/v1/moderations", answer)
        return served.provider("openai").moderator("x-moderation")
