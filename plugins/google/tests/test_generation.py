"""What comes back: words without thoughts, calls, every reason to stop, usage, warming, stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from poise import (
    Finish,
    GenerationOptions,
    MalformedReplyError,
    Prompt,
    ProviderUnavailableError,
    Schema,
    Section,
    Stability,
    StructuredGenerator,
    TextChunk,
    TextGenerator,
    ToolSpec,
    Usage,
)
from poise.testing.clock import FrozenClock
from poise.testing.fake_server import FakeModelServer, Scripted
from poise.testing.generating import StructuredGeneratorConformance, TextGeneratorConformance
from poise_google.provider import GoogleProvider
from poise_google.settings import GoogleSettings

Payload = Callable[[str], Any]

MODEL = "gemini-3.8-flash"
STREAM = f"/v1/models/{MODEL}:streamGenerateContent"
WHOLE = f"/v1/models/{MODEL}:generateContent"
STORE = "/v1/cachedContents"
LONG = Section("identity", "You are Ada. " * 2000, Stability.CATALOG)
TURN = Section("turn", "Where is my card?", Stability.TURN)
PROMPT = Prompt.of(LONG, TURN)
SCHEMA = Schema(
    "Answer",
    {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    },
)


def connect(
    server: FakeModelServer, clock: FrozenClock | None = None, **more: Any
) -> GoogleProvider:
    settings = GoogleSettings(base_url=server.url, api_key=SecretStr("a-test-key"), **more)
    return GoogleProvider(settings, clock=clock or FrozenClock())


async def read(provider: GoogleProvider, **options: Any) -> list[TextChunk]:
    stream = provider.text_generator(MODEL).stream(PROMPT, options=GenerationOptions(**options))
    return [chunk async for chunk in stream]


class TestAsTextGenerator(TextGeneratorConformance):
    @pytest.fixture
    def subject(self, fake_model_server: FakeModelServer, payload: Payload) -> TextGenerator:
        fake_model_server.script(
            STREAM, Scripted(events=(payload("thinking_piece"), payload("answer")))
        )
        fake_model_server.script(WHOLE, Scripted(body=payload("answer")))
        return connect(fake_model_server).text_generator(MODEL)


class TestAsStructuredGenerator(StructuredGeneratorConformance):
    @pytest.fixture
    def subject(self, fake_model_server: FakeModelServer, payload: Payload) -> StructuredGenerator:
        body = payload("answer")
        text = '{"zz_evidence": "It is gone.", "mm_restated": null, "aa_verdicts": []}'
        body["candidates"][0]["content"]["parts"][0]["text"] = text
        fake_model_server.script(WHOLE, Scripted(body=body))
        return connect(fake_model_server).structured_generator(MODEL)


@pytest.mark.anyio
async def test_thoughts_are_counted_but_not_said(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script(
        STREAM, Scripted(events=(payload("thinking_piece"), payload("answer")))
    )

    chunks = await read(connect(fake_model_server))

    assert "".join(chunk.text for chunk in chunks) == "It is on its way."
    assert chunks[-1] == TextChunk(
        finish=Finish.COMPLETE,
        usage=Usage(130, 100, 0, 7, 2),
        model="gemini-3.8-flash-001",
    )


@pytest.mark.anyio
async def test_calls_have_ids_even_where_the_model_gives_none(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script(STREAM, Scripted(events=(payload("calls"),)))
    tool = ToolSpec("say_hello", "Say hello.", SCHEMA)

    last = (await read(connect(fake_model_server), tools=(tool,)))[-1]

    assert last.finish is Finish.CALLS
    assert [(call.id, call.name, call.arguments) for call in last.calls] == [
        ("fc-1", "block_card", {"card": "4711"}),
        ("call_2", "say_hello", {}),
    ]


@pytest.mark.anyio
async def test_a_blocked_prompt_is_refused_in_googles_words(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script(STREAM, Scripted(events=(payload("blocked_prompt"),)))
    fake_model_server.script(WHOLE, Scripted(body=payload("blocked_prompt")))
    provider = connect(fake_model_server)

    (last,) = await read(provider)
    reply = await provider.structured_generator(MODEL).generate(
        PROMPT, SCHEMA, options=GenerationOptions()
    )

    assert (last.finish, last.reason) == (Finish.REFUSED, "The prompt was blocked.")
    assert (reply.finish, reply.reason) == (Finish.REFUSED, "The prompt was blocked.")
    assert reply.usage == Usage(input_tokens=130)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("stopped", "finish"),
    [
        ("STOP", Finish.COMPLETE),
        ("MAX_TOKENS", Finish.TRUNCATED),
        ("CONTINUATION", Finish.TRUNCATED),
        ("SAFETY", Finish.REFUSED),
        ("RECITATION", Finish.REFUSED),
        ("BLOCKLIST", Finish.REFUSED),
        ("PROHIBITED_CONTENT", Finish.REFUSED),
        ("SPII", Finish.REFUSED),
        ("MODEL_ARMOR", Finish.REFUSED),
        ("OTHER", Finish.REFUSED),
    ],
)
async def test_every_reason_to_stop_is_an_outcome(
    fake_model_server: FakeModelServer, payload: Payload, stopped: str, finish: Finish
) -> None:
    body = payload("answer")
    body["candidates"][0]["finishReason"] = stopped
    fake_model_server.script(STREAM, Scripted(events=(body,)))

    last = (await read(connect(fake_model_server)))[-1]

    assert last.finish is finish
    assert bool(last.reason) == (finish is Finish.REFUSED)


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:NEWLY_INVENTED")
async def test_a_reason_that_is_not_known_yet_is_taken_for_a_refusal_and_named(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    body = payload("answer")
    body["candidates"][0]["finishReason"] = "NEWLY_INVENTED"
    fake_model_server.script(STREAM, Scripted(events=(body,)))

    last = (await read(connect(fake_model_server)))[-1]

    assert last.finish is Finish.REFUSED
    assert "NEWLY_INVENTED" in last.reason


@pytest.mark.anyio
@pytest.mark.parametrize("stopped", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
async def test_a_call_that_cannot_be_read_is_a_malformed_reply(
    fake_model_server: FakeModelServer, payload: Payload, stopped: str
) -> None:
    body = payload("answer")
    body["candidates"][0]["finishReason"] = stopped
    fake_model_server.script(STREAM, Scripted(events=(body,)))

    with pytest.raises(MalformedReplyError, match=stopped):
        await read(connect(fake_model_server))


@pytest.mark.anyio
async def test_a_request_is_what_the_api_expects(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script(WHOLE, Scripted(body=payload("answer")))
    options = GenerationOptions(max_output=64, temperature=0.2)

    await (
        connect(fake_model_server)
        .structured_generator(MODEL)
        .generate(PROMPT, SCHEMA, options=options)
    )

    (request,) = fake_model_server.received
    assert request.headers["x-goog-api-key"] == "a-test-key"
    assert "key" not in request.query
    assert request.json["contents"] == [{"role": "user", "parts": [{"text": "Where is my card?"}]}]
    assert request.json["systemInstruction"]["parts"] == [{"text": LONG.text}]
    assert request.json["generationConfig"] == {
        "maxOutputTokens": 64,
        "temperature": 0.2,
        "responseMimeType": "application/json",
        "responseJsonSchema": {**SCHEMA.plain(), "propertyOrdering": ["answer"]},
    }


@pytest.mark.anyio
async def test_warming_reads_the_stable_part_for_one_token_of_output(
    fake_model_server: FakeModelServer, payload: Payload
) -> None:
    fake_model_server.script(WHOLE, Scripted(body=payload("answer")))

    usage = await (
        connect(fake_model_server).text_generator(MODEL).warm(PROMPT, options=GenerationOptions())
    )

    (request,) = fake_model_server.received
    assert usage == Usage(130, 100, 0, 7, 2)
    assert request.json["systemInstruction"]["parts"] == [{"text": LONG.text}]
    assert TURN.text.encode() not in request.body
    assert request.json["generationConfig"]["maxOutputTokens"] == 1


@pytest.mark.anyio
async def test_nothing_stable_is_not_warmed(fake_model_server: FakeModelServer) -> None:
    generator = connect(fake_model_server).text_generator(MODEL)

    assert await generator.warm(Prompt.of(TURN), options=GenerationOptions()) is None
    assert not fake_model_server.received


class TestStoredBeginnings:
    """With `cache = "explicit"` the stable part is stored once and referred to."""

    @pytest.fixture(autouse=True)
    def _scripted(self, fake_model_server: FakeModelServer, payload: Payload) -> None:
        fake_model_server.script(STORE, Scripted(body=payload("stored")))
        fake_model_server.script(STREAM, Scripted(events=(payload("answer"),)))

    def paths(self, server: FakeModelServer) -> list[str]:
        return [request.path.rpartition("/")[2].rpartition(":")[2] for request in server.received]

    @pytest.mark.anyio
    async def test_it_is_stored_once_and_its_tokens_are_counted_as_written(
        self, fake_model_server: FakeModelServer
    ) -> None:
        provider = connect(fake_model_server, cache="explicit")

        first = (await read(provider))[-1]
        second = (await read(provider))[-1]

        stored, *asked = fake_model_server.received
        assert self.paths(fake_model_server) == [
            "cachedContents",
            "streamGenerateContent",
            "streamGenerateContent",
        ]
        assert stored.json["ttl"] == "600s"
        assert stored.json["systemInstruction"]["parts"] == [{"text": LONG.text}]
        assert [each.json["cachedContent"] for each in asked] == ["cachedContents/abc123"] * 2
        assert all("systemInstruction" not in each.json for each in asked)
        assert first.usage == Usage(5130, 100, 5000, 7, 2)
        assert second.usage == Usage(130, 100, 0, 7, 2)

    @pytest.mark.anyio
    async def test_it_is_stored_anew_when_it_has_expired(
        self, fake_model_server: FakeModelServer
    ) -> None:
        clock = FrozenClock()
        provider = connect(fake_model_server, clock, cache="explicit")

        await read(provider)
        clock.advance(601)
        await read(provider)

        assert self.paths(fake_model_server).count("cachedContents") == 2

    @pytest.mark.anyio
    async def test_another_beginning_or_model_is_stored_for_itself(
        self, fake_model_server: FakeModelServer
    ) -> None:
        provider = connect(fake_model_server, cache="explicit")

        await read(provider)
        await read(provider, tools=(ToolSpec("say_hello", "Say hello.", SCHEMA),))

        assert self.paths(fake_model_server).count("cachedContents") == 2

    @pytest.mark.anyio
    async def test_warming_stores_it(self, fake_model_server: FakeModelServer) -> None:
        provider = connect(fake_model_server, cache="explicit")

        usage = await provider.text_generator(MODEL).warm(PROMPT, options=GenerationOptions())
        await read(provider)

        assert usage == Usage(input_tokens=5000, written_tokens=5000)
        assert self.paths(fake_model_server) == ["cachedContents", "streamGenerateContent"]

    @pytest.mark.anyio
    async def test_a_short_one_is_not_stored(self, fake_model_server: FakeModelServer) -> None:
        provider = connect(fake_model_server, cache="explicit")
        short = Prompt.of(Section("identity", "You are Ada.", Stability.CATALOG), TURN)

        stream = provider.text_generator(MODEL).stream(short, options=GenerationOptions())
        async for _ in stream:
            pass

        assert self.paths(fake_model_server) == ["streamGenerateContent"]

    @pytest.mark.anyio
    async def test_where_storing_is_refused_requests_go_out_whole(
        self, fake_model_server: FakeModelServer, payload: Payload
    ) -> None:
        fake_model_server.script(STORE, Scripted(400, body=payload("error")))
        provider = connect(fake_model_server, cache="explicit")

        await read(provider)
        last = (await read(provider))[-1]

        assert last.finish is Finish.COMPLETE
        assert self.paths(fake_model_server).count("cachedContents") == 1
        assert "systemInstruction" in fake_model_server.received[-1].json

    @pytest.mark.anyio
    async def test_one_that_google_dropped_is_stored_anew_by_the_next_try(
        self, fake_model_server: FakeModelServer, payload: Payload
    ) -> None:
        fake_model_server.script(
            STREAM,
            Scripted(403, body=payload("error_cache_gone")),
            Scripted(events=(payload("answer"),)),
        )
        provider = connect(fake_model_server, cache="explicit")

        with pytest.raises(ProviderUnavailableError, match="stores it again"):
            await read(provider)
        last = (await read(provider))[-1]

        assert last.finish is Finish.COMPLETE
        assert self.paths(fake_model_server).count("cachedContents") == 2

    @pytest.mark.anyio
    async def test_by_default_nothing_is_stored(self, fake_model_server: FakeModelServer) -> None:
        await read(connect(fake_model_server))

        assert self.paths(fake_model_server) == ["streamGenerateContent"]
