from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from poise.errors import (
    InvalidRequestError,
    MalformedReplyError,
    ProviderUnavailableError,
    RateLimitedError,
)
from poise.testing.fake_server import Received, Scripted, ServerEvent
from poise.testing.generation_requests import SCHEMA, TOOLS, layered
from poise.turn.generation import Finish, GenerationOptions, Reasoning, TextChunk

PROMPT = layered("Where is my card?")
PLAIN = GenerationOptions()
CHAT = "/v1/chat/completions"


@pytest.fixture
def completion(recorded: Any) -> Any:
    def made(**message: Any) -> Scripted:
        body = recorded("chat_completion")
        body["choices"][0]["message"] |= message
        return Scripted(body=body)

    return made


@pytest.fixture
def chunks(recorded: Any) -> Any:
    def made(*deltas: dict[str, Any], finish: str | None = "stop", **last: Any) -> Scripted:
        events = []
        for delta in deltas:
            chunk = recorded("chat_chunk")
            chunk["choices"][0]["delta"] = delta
            events.append(chunk)
        end = recorded("chat_chunk")
        end["choices"][0]["finish_reason"] = finish
        return Scripted(events=(*events, {**end, **last}, "[DONE]"))

    return made


def refusing(body: dict[str, Any], then: Scripted) -> Any:
    """Refuse every parameter named in `body`, by name, until it is gone."""

    def answer(request: Received) -> Scripted:
        for name, message in body.items():
            if f'"{name}"' in json.dumps(request.json):
                error = {"message": message, "type": "invalid_request_error", "param": None}
                return Scripted(400, body={"error": error})
        return then

    return answer


async def read(served: Any, preset: str = "together", **said: Any) -> list[TextChunk]:
    options = said.pop("options", PLAIN)
    generator = served.provider(preset, **said).text_generator("m")
    return [chunk async for chunk in generator.stream(PROMPT, options=options)]


@pytest.mark.anyio
async def test_a_refused_parameter_is_dropped_once_and_remembered(
    served: Any, completion: Any
) -> None:
    message = "Unsupported value: 'temperature' does not support 0.2 with this model."
    served.server.script(CHAT, refusing({"temperature": message}, completion(content="{}")))
    generator = served.provider().structured_generator("m")
    options = GenerationOptions(temperature=0.2, max_output=100)

    for _ in range(2):
        reply = await generator.generate(PROMPT, SCHEMA, options=options)
        assert reply.text == "{}"

    assert ["temperature" in body for body in served.sent] == [True, False, False]
    assert all(body["max_tokens"] == 100 for body in served.sent)


@pytest.mark.anyio
async def test_a_limit_on_output_goes_by_the_name_that_the_model_takes(
    served: Any, completion: Any
) -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    served.server.script(CHAT, refusing({"max_tokens": message}, completion(content="{}")))
    generator = served.provider().structured_generator("m")

    await generator.generate(PROMPT, SCHEMA, options=GenerationOptions(max_output=9))

    assert served.sent[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in served.sent[1]


@pytest.mark.anyio
async def test_several_refused_parameters_are_dropped_one_by_one(
    served: Any, completion: Any
) -> None:
    refused = {
        "reasoning_effort": "Unrecognized request argument supplied: reasoning_effort",
        "temperature": "temperature: Extra inputs are not permitted",
        "strict": "unknown field `strict`, expected one of `name`, `schema`",
    }
    served.server.script(CHAT, refusing(refused, completion(content="{}")))
    generator = served.provider().structured_generator("m")
    options = GenerationOptions(temperature=1.0, reasoning=Reasoning.LOW)

    await generator.generate(PROMPT, SCHEMA, options=options)

    assert len(served.sent) == 4
    assert not any(f'"{name}"' in json.dumps(served.sent[-1]) for name in refused)


@pytest.mark.anyio
async def test_what_one_model_refuses_another_is_still_asked(served: Any, completion: Any) -> None:
    def answer(request: Received) -> Any:
        picky = refusing({"temperature": "temperature is not supported"}, completion(content="{}"))
        return picky(request) if request.json["model"] == "m1" else completion(content="{}")

    served.server.script(CHAT, answer)
    provider = served.provider()

    for model in ("m1", "m2"):
        generator = provider.structured_generator(model)
        await generator.generate(PROMPT, SCHEMA, options=GenerationOptions(temperature=0.5))

    assert [(body["model"], "temperature" in body) for body in served.sent] == [
        ("m1", True),
        ("m1", False),
        ("m2", True),
    ]


@pytest.mark.anyio
async def test_a_request_that_is_wrong_itself_is_not_sent_again(served: Any) -> None:
    error = {"message": "Invalid schema for response_format 'Verdicts'", "param": None}
    served.server.script(CHAT, Scripted(400, body={"error": error}))
    generator = served.provider().structured_generator("m")

    with pytest.raises(InvalidRequestError, match="Invalid schema"):
        await generator.generate(PROMPT, SCHEMA, options=GenerationOptions(temperature=0.5))

    assert len(served.sent) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("level", ["json_schema", "json_object", "tool", "prompt"])
async def test_the_same_json_comes_back_at_every_level(
    served: Any, completion: Any, level: str
) -> None:
    written = '{"zz_evidence": "x", "mm_restated": null, "aa_verdicts": []}'
    call = {"id": "c", "type": "function", "function": {"name": "answer", "arguments": written}}
    told = {"content": None, "tool_calls": [call]} if level == "tool" else {"content": written}
    served.server.script(CHAT, completion(**told))

    generator = served.provider(level=level).structured_generator("m")
    reply = await generator.generate(PROMPT, SCHEMA, options=PLAIN)

    assert (reply.text, reply.finish) == (written, Finish.COMPLETE)
    assert reply.model == "acme-large-2026-09"


@pytest.mark.anyio
async def test_a_prompt_that_a_policy_blocks_is_refused_not_failed(served: Any) -> None:
    error = {
        "message": "The response was filtered.",
        "code": "content_filter",
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
    served.server.script(CHAT, Scripted(400, body={"error": error}))
    generator = served.provider().structured_generator("m")

    reply = await generator.generate(PROMPT, SCHEMA, options=PLAIN)
    *_, last = await read(served)

    assert (reply.finish, last.finish) == (Finish.REFUSED, Finish.REFUSED)
    assert reply.reason == last.reason == "The response was filtered."


@pytest.mark.anyio
async def test_words_held_back_by_a_filter_are_a_refusal(served: Any, chunks: Any) -> None:
    served.server.script(CHAT, chunks({"content": "I "}, finish="content_filter"))

    *_, last = await read(served)

    assert last.finish is Finish.REFUSED
    assert "filter" in last.reason


@pytest.mark.anyio
async def test_a_server_that_is_not_asked_for_counts_may_still_tell_them(
    served: Any, chunks: Any
) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13}
    served.server.script(CHAT, chunks({"content": "hi"}, usage=usage))

    *_, last = await read(served, "mistral")

    assert "stream_options" not in served.sent[0]
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (11, 2)


@pytest.mark.anyio
async def test_a_server_that_counts_cache_hits_elsewhere_is_understood(
    served: Any, chunks: Any
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 2, "prompt_cache_hit_tokens": 64}
    served.server.script(CHAT, chunks({"content": "hi"}, usage=usage))

    *_, last = await read(served, "deepseek")

    assert last.usage is not None
    assert last.usage.cached_tokens == 64


@pytest.mark.anyio
async def test_calls_without_ids_or_indexes_get_some(served: Any, chunks: Any) -> None:
    calls = [
        {"function": {"name": name, "arguments": "{}"}, "type": "function"}
        for name in ("say_hello", "block_card")
    ]
    served.server.script(CHAT, chunks({"tool_calls": calls}))

    *_, last = await read(served, options=GenerationOptions(tools=TOOLS))

    assert last.finish is Finish.CALLS
    assert [(call.id, call.name) for call in last.calls] == [
        ("call_0", "say_hello"),
        ("call_1", "block_card"),
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("arguments", ['{"card": "47', "[1]", "null"])
async def test_half_a_call_is_no_call(served: Any, chunks: Any, arguments: str) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "block_card", "arguments": arguments}}
    served.server.script(CHAT, chunks({"tool_calls": [call]}, finish="tool_calls"))

    with pytest.raises(MalformedReplyError, match="block_card"):
        await read(served, options=GenerationOptions(tools=TOOLS))


@pytest.mark.anyio
async def test_a_truncated_call_is_a_truncation(served: Any, chunks: Any) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "block_card", "arguments": '{"ca'}}
    served.server.script(CHAT, chunks({"tool_calls": [call]}, finish="length"))

    *_, last = await read(served, options=GenerationOptions(tools=TOOLS))

    assert (last.finish, last.calls) == (Finish.TRUNCATED, ())


@pytest.mark.anyio
async def test_a_failure_sent_with_the_status_of_a_success_is_that_failure(served: Any) -> None:
    body = {"error": {"message": "Rate limit exceeded", "code": "rate_limit_exceeded"}}
    served.server.script(CHAT, Scripted(body=body))
    generator = served.provider().structured_generator("m")

    with pytest.raises(RateLimitedError):
        await generator.generate(PROMPT, SCHEMA, options=PLAIN)


@pytest.mark.anyio
async def test_a_finish_that_means_failure_is_one(served: Any, chunks: Any) -> None:
    served.server.script(CHAT, chunks({"content": "hi"}, finish="error"))

    with pytest.raises(ProviderUnavailableError):
        await read(served)


# -- warming --


@pytest.mark.anyio
async def test_warming_asks_for_as_little_as_can_be_asked_for(served: Any, completion: Any) -> None:
    served.server.script(CHAT, completion(content="H"))
    generator = served.provider("vllm").text_generator("m")

    usage = await generator.warm(PROMPT, options=GenerationOptions(cache_key="a"))

    assert served.sent[0]["max_tokens"] == 1
    assert usage is not None
    assert usage.input_tokens == 19


@pytest.mark.anyio
async def test_nothing_is_sent_to_warm_what_keeps_nothing(served: Any) -> None:
    generator = served.provider("mistral").text_generator("m")

    assert await generator.warm(PROMPT, options=PLAIN) is None
    assert served.sent == []


@pytest.mark.anyio
async def test_the_vendor_is_warmed_without_generating_where_that_is_taken(
    served: Any, recorded: Any
) -> None:
    served.server.script("/v1/responses", Scripted(body=recorded("response")))
    provider = served.provider("openai", api="responses", quirks={"cache": "explicit"})

    usage = await provider.text_generator("m").warm(PROMPT, options=PLAIN)

    assert served.sent[0]["prompt_cache_options"] == {"mode": "explicit", "prewarm": True}
    assert usage is not None
    assert usage.input_tokens == 36


# -- the vendor's own endpoint --


@pytest.mark.anyio
async def test_a_response_that_failed_is_a_typed_error(served: Any, recorded: Any) -> None:
    failed = recorded("response")
    failed |= {
        "status": "failed",
        "output": [],
        "error": {"code": "rate_limit_exceeded", "message": "slow down"},
    }
    event = ServerEvent({"type": "response.failed", "response": failed, "sequence_number": 1})
    served.server.script("/v1/responses", Scripted(events=(event,)))

    with pytest.raises(RateLimitedError, match="slow down"):
        await read(served, "openai", api="responses")


@pytest.mark.anyio
async def test_tokens_written_to_the_cache_and_spent_on_thinking_are_told(
    served: Any, recorded: Any
) -> None:
    body = recorded("response")
    body["usage"] |= {
        "input_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 20},
        "output_tokens_details": {"reasoning_tokens": 64},
    }
    served.server.script("/v1/responses", Scripted(body=body))
    provider = served.provider("openai", api="responses")

    reply = await provider.structured_generator("m").generate(PROMPT, SCHEMA, options=PLAIN)

    assert reply.usage is not None
    assert attrs.astuple(reply.usage) == (36, 10, 20, 87, 64)


@pytest.mark.anyio
async def test_a_response_that_leaves_out_what_it_streamed_keeps_its_calls(
    served: Any, recorded: Any
) -> None:
    item = {"type": "function_call", "call_id": "c", "name": "say_hello", "arguments": "{}"}
    done = {"type": "response.output_item.done", "item": item, "output_index": 0}
    ended = {"type": "response.completed", "response": {**recorded("response"), "output": []}}
    served.server.script("/v1/responses", Scripted(events=(done, ended)))

    *_, last = await read(served, "openai", api="responses", options=GenerationOptions(tools=TOOLS))

    assert [call.name for call in last.calls] == ["say_hello"]
