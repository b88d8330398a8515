import json
from collections.abc import Callable
from typing import Any

import pytest

from poise import (
    AuthenticationError,
    Cards,
    Finish,
    GenerationOptions,
    InvalidRequestError,
    MalformedReplyError,
    ModelCall,
    ModelCard,
    OverQuotaError,
    Prompt,
    ProviderUnavailableError,
    Section,
    Stability,
    TextChunk,
    ToolSpec,
    UnknownModelError,
    Usage,
)
from poise.testing.fake_server import FakeModelServer, Scripted, ServerEvent
from poise.testing.generation_requests import SCHEMA
from poise_anthropic.provider import AnthropicProvider

MODEL = "claude-haiku-5-5"
PROMPT = Prompt.of(
    Section("agent", "You are Bo.", Stability.CATALOG),
    Section("message", "Where is my card?", Stability.TURN),
)
PLAIN = GenerationOptions()

Make = Callable[..., AnthropicProvider]
Recorded = Callable[[str], Scripted]


async def written(
    provider: AnthropicProvider, options: GenerationOptions = PLAIN, model: str = MODEL
) -> list[TextChunk]:
    stream = provider.text_generator(model).stream(PROMPT, options=options)
    return [chunk async for chunk in stream]


async def asked(provider: AnthropicProvider, model: str = MODEL) -> str:
    generator = provider.structured_generator(model)
    return (await generator.generate(PROMPT, SCHEMA, options=PLAIN)).text


def refused(recorded: Recorded, name: str, status: int = 400) -> Scripted:
    return Scripted(status, body=recorded(f"errors/{name}.json").body)


@pytest.mark.anyio
async def test_a_stream_gives_words_usage_and_build_and_keeps_thinking_to_itself(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script("/v1/messages", recorded("stream.sse"))

    chunks = await written(make())

    assert chunks == [
        TextChunk("Your card "),
        TextChunk("is on its way."),
        TextChunk(
            finish=Finish.COMPLETE,
            usage=Usage(
                165, cached_tokens=100, written_tokens=40, output_tokens=12, reasoning_tokens=5
            ),
            model=MODEL,
        ),
    ]


@pytest.mark.anyio
async def test_a_call_comes_back_under_the_tools_own_name(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script("/v1/messages", recorded("calls.sse"))
    tools = (ToolSpec("bank.block_card", "Blocks a card.", SCHEMA),)

    chunks = await written(make(), GenerationOptions(tools=tools))

    assert chunks[0].text == "I block it."
    assert chunks[-1].finish is Finish.CALLS
    assert chunks[-1].calls == (
        ModelCall("toolu_01T1x1fJ34qAmk2tNTrN7Up6", "bank.block_card", {"card": "4711"}),
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("stop_sequence", Finish.COMPLETE),
        ("max_tokens", Finish.TRUNCATED),
        ("model_context_window_exceeded", Finish.TRUNCATED),
        ("pause_turn", Finish.TRUNCATED),
        ("refusal", Finish.REFUSED),
        ("a_reason_of_tomorrow", Finish.COMPLETE),
    ],
)
async def test_every_stop_reason_is_a_finish(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer, *, stop: str, finish: Finish
) -> None:
    said = recorded("message.json")
    body = {**said.body, "stop_reason": stop}
    events = [
        _swapped(event, '"end_turn"', f'"{stop}"') for event in recorded("stream.sse").events or ()
    ]
    fake_model_server.script("/v1/messages", Scripted(events=events), Scripted(body=body))
    provider = make()

    chunks = await written(provider)
    reply = await provider.structured_generator(MODEL).generate(PROMPT, SCHEMA, options=PLAIN)

    assert chunks[-1].finish is finish
    assert reply.finish is finish


@pytest.mark.anyio
async def test_arguments_that_are_no_json_are_an_error_that_names_the_call(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    events = [_swapped(event, '11\\"}', "11") for event in recorded("calls.sse").events or ()]
    fake_model_server.script("/v1/messages", Scripted(events=events))
    tools = (ToolSpec("bank.block_card", "Blocks a card.", SCHEMA),)

    with pytest.raises(MalformedReplyError, match=r"bank\.block_card"):
        await written(make(), GenerationOptions(tools=tools))


@pytest.mark.anyio
async def test_an_overload_in_the_middle_of_a_stream_is_worth_a_retry(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer, payload: Any
) -> None:
    whole = recorded("stream.sse").events or ()
    error = ServerEvent(payload("errors/overloaded.json"), "error")
    fake_model_server.script("/v1/messages", Scripted(events=[*whole[:8], error]))
    stream = make().text_generator(MODEL).stream(PROMPT, options=PLAIN)

    first = await anext(stream)
    with pytest.raises(ProviderUnavailableError, match="Overloaded") as caught:
        await anext(stream)

    assert first.text == "Your card "
    assert caught.value.is_retryable


@pytest.mark.anyio
async def test_a_server_without_output_formats_is_asked_by_a_tool_from_then_on(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script(
        "/v1/messages", refused(recorded, "no_format"), recorded("tool_reply.json")
    )
    provider = make()

    texts = [await asked(provider), await asked(provider)]

    sent = [request.json for request in fake_model_server.received]
    assert ["output_config" in body for body in sent] == [True, False, False]
    assert sent[1]["tools"][0]["strict"] is True
    assert sent[1]["tool_choice"] == {
        "type": "tool",
        "name": SCHEMA.name,
        "disable_parallel_tool_use": True,
    }
    assert sent[1] == sent[2]
    assert [list(json.loads(text)) for text in texts] == [list(SCHEMA.body["properties"])] * 2


@pytest.mark.anyio
async def test_a_server_without_strict_tools_is_asked_by_a_plain_one(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script(
        "/v1/messages",
        refused(recorded, "no_format"),
        refused(recorded, "no_strict"),
        recorded("tool_reply.json"),
    )
    provider = make()

    await asked(provider)
    await asked(provider)

    sent = [request.json for request in fake_model_server.received]
    assert len(sent) == 4
    assert "strict" not in sent[2]["tools"][0]
    assert sent[2] == sent[3]


@pytest.mark.anyio
async def test_a_schema_that_is_too_complex_is_loosened_alone(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script(
        "/v1/messages",
        refused(recorded, "too_complex"),
        recorded("tool_reply.json"),
        recorded("tool_reply.json"),
        recorded("message.json"),
    )
    generator = make().structured_generator(MODEL)
    other = type(SCHEMA)("Other", SCHEMA.body)

    for schema in (SCHEMA, SCHEMA, other):
        await generator.generate(PROMPT, schema, options=PLAIN)

    sent = [request.json for request in fake_model_server.received]
    assert ["tools" in body for body in sent] == [False, True, True, False]
    assert "strict" not in sent[1]["tools"][0]


@pytest.mark.anyio
async def test_another_refusal_of_the_request_is_no_reason_to_ask_differently(
    make: Make, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script(
        "/v1/messages", Scripted(400, body={"error": {"message": "messages: roles are odd"}})
    )

    with pytest.raises(InvalidRequestError, match="roles are odd"):
        await asked(make())

    assert len(fake_model_server.received) == 1


@pytest.mark.anyio
async def test_a_card_says_by_what_a_model_is_asked_for_json(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    cards = Cards("anthropic")
    cards.add(ModelCard("anthropic", "mine", quirks={"structured": "tool", "strict_tools": False}))
    fake_model_server.script("/v1/messages", recorded("tool_reply.json"))

    await asked(make(cards), "mine")

    (sent,) = [request.json for request in fake_model_server.received]
    assert "output_config" not in sent
    assert "strict" not in sent["tools"][0]


@pytest.mark.anyio
async def test_words_in_place_of_a_call_are_handed_over(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    cards = Cards("anthropic")
    cards.add(ModelCard("anthropic", "mine", quirks={"structured": "tool"}))
    fake_model_server.script("/v1/messages", recorded("message.json"))

    assert await asked(make(cards), "mine") == "Your card is on its way."


@pytest.mark.anyio
async def test_warming_writes_the_cache_and_says_what_it_took(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script("/v1/messages", recorded("warmed.json"))

    took = await make().text_generator(MODEL).warm(PROMPT, options=PLAIN)

    (sent,) = [request.json for request in fake_model_server.received]
    assert took == Usage(2051, written_tokens=2048)
    assert sent["max_tokens"] == 1, "only the vendor itself is known to write nothing"
    assert [block["text"] for block in sent["system"]] == ["You are Bo."]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "found"),
    [('{"word": "marmalade"}', "is kept to"), ('{"word": "red"}', "structured = 'words'")],
)
async def test_a_probe_says_whether_a_server_keeps_to_schemas_and_asks_once(
    make: Make,
    recorded: Recorded,
    fake_model_server: FakeModelServer,
    *,
    text: str,
    found: str,
) -> None:
    body = {**recorded("message.json").body, "content": [{"type": "text", "text": text}]}
    fake_model_server.script("/v1/messages", Scripted(body=body))
    provider = make()

    told = [await provider.probe("mine") for _ in range(2)]

    assert found in told[0]["JSON"]
    assert told[0] == told[1]
    assert len(fake_model_server.received) == 1


@pytest.mark.anyio
async def test_tokens_are_counted_by_the_vendor(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script("/v1/messages/count_tokens", recorded("count_tokens.json"))

    assert await make().count_tokens(MODEL, PROMPT) == 2095


@pytest.mark.anyio
async def test_a_server_that_does_not_count_is_asked_once(
    make: Make, fake_model_server: FakeModelServer
) -> None:
    provider = make()

    counts = [await provider.count_tokens(MODEL, PROMPT) for _ in range(2)]

    assert counts == [None, None]
    assert len(fake_model_server.received) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "name", "kind"),
    [
        (400, "no_credit", OverQuotaError),
        (404, "no_model", UnknownModelError),
        (529, "overloaded", ProviderUnavailableError),
    ],
)
async def test_refusals_are_typed(
    make: Make,
    recorded: Recorded,
    fake_model_server: FakeModelServer,
    *,
    status: int,
    name: str,
    kind: type[Exception],
) -> None:
    fake_model_server.script("/v1/messages", refused(recorded, name, status))

    with pytest.raises(kind):
        await written(make(), model="claude-unheard-of")


@pytest.mark.anyio
async def test_a_server_of_ones_own_is_asked_without_a_key_and_with_its_headers(
    make: Make,
    recorded: Recorded,
    fake_model_server: FakeModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for-the-vendor-alone")
    fake_model_server.script("/v1/messages", recorded("stream.sse"))
    url = f"{fake_model_server.url}/v1/"

    await written(make(base_url=url, api_key=None, headers={"X-Team": "cards"}))

    (request,) = fake_model_server.received
    assert request.headers["x-team"] == "cards"
    assert "for-the-vendor-alone" not in str(request.headers)


@pytest.mark.anyio
async def test_a_bearer_token_serves_in_place_of_a_key(
    make: Make, recorded: Recorded, fake_model_server: FakeModelServer
) -> None:
    fake_model_server.script("/v1/messages", recorded("stream.sse"))

    await written(make(api_key=None, auth_token="tok-en"))

    assert fake_model_server.received[0].headers["authorization"] == "Bearer tok-en"


@pytest.mark.anyio
async def test_a_header_with_a_secret_is_quoted_by_no_error(
    make: Make, fake_model_server: FakeModelServer
) -> None:
    echo = {"error": {"type": "authentication_error", "message": "bad X-Gate: s3cret-gate"}}
    fake_model_server.script("/v1/messages", Scripted(401, body=echo))
    provider = make(headers={"X-Gate": "s3cret-gate"})

    with pytest.raises(AuthenticationError) as caught:
        await written(provider)

    assert "s3cret" not in f"{caught.value!r} {caught.value}"
    assert caught.value.__cause__ is None


def _swapped(event: Any, old: str, new: str) -> Any:
    data = event.data if isinstance(event.data, str) else json.dumps(event.data)
    return type(event)(data.replace(old, new), event.name)
