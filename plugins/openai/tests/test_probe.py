"""What a server can do is found out once, kept, and asked of it no more."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from poise.errors import ProviderUnavailableError
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.stores import ArtifactStore
from poise.testing.fake_server import FakeModelServer, Received, Scripted
from poise_openai import CompatibleProvider, ServerSettings, load_presets
from poise_openai.client import Client
from poise_openai.preset import Level
from poise_openai.probe import Probe

pytestmark = pytest.mark.anyio

PATH = "/v1/chat/completions"


@pytest.fixture
def connect(fake_model_server: FakeModelServer) -> Any:
    """Return a function that makes a provider, as a new process would."""

    def make(store: ArtifactStore | None = None) -> CompatibleProvider:
        settings = ServerSettings(base_url=fake_model_server.url)
        return CompatibleProvider(load_presets()["vllm"], settings, artifacts=store)

    return make


def probe_of(server: FakeModelServer, store: ArtifactStore | None = None) -> Probe:
    client = Client(load_presets()["vllm"], ServerSettings(base_url=server.url))
    return Probe(client, store)


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [each for each in caplog.records if each.name == "poise_openai.probe"]


def all_of(recorded: Any, most: int = 20, *, counts: bool = True) -> Any:
    """Answer whatever the probe asks, as a server would that can do everything."""

    def answer(request: Received) -> Scripted:
        body = request.json
        if body.get("stream"):
            chunk = recorded("chat_chunk")
            chunk["choices"][0]["finish_reason"] = "stop"
            usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
            end = {**chunk, "choices": [], "usage": usage}
            return Scripted(events=(chunk, *((end,) if counts else ()), "[DONE]"))
        if "logprobs" not in body:
            reply = recorded("chat_completion")
            reply["choices"][0]["message"]["content"] = '{"quorp": "drabbo", "plim": true}'
            return Scripted(body=reply)
        if body["top_logprobs"] > most:
            return Scripted(400, body={"error": {"message": f"top_logprobs must be <= {most}"}})
        return Scripted(body=recorded("chat_logprobs"))

    return answer


# -- keeping --


async def test_what_was_found_outlives_the_process(
    fake_model_server: FakeModelServer, recorded: Any, connect: Any
) -> None:
    store = MemoryArtifactStore()
    fake_model_server.script(PATH, all_of(recorded))
    first = await connect(store).probe("m")
    asked = len(fake_model_server.received)

    again = await connect(store).probe("m")

    assert (
        first
        == again
        == {
            "json": "json_schema",
            "logprobs": "20 alternatives",
            "usage of streams": "told",
        }
    )
    assert len(fake_model_server.received) == asked


async def test_another_model_or_address_is_asked_anew(
    fake_model_server: FakeModelServer, recorded: Any, connect: Any
) -> None:
    store = MemoryArtifactStore()
    fake_model_server.script("*", all_of(recorded))
    await probe_of(fake_model_server, store).level("m")

    await probe_of(fake_model_server, store).level("other")
    elsewhere = ServerSettings(base_url=f"{fake_model_server.url}/other/v1")
    await Probe(Client(load_presets()["vllm"], elsewhere), store).level("m")

    assert len(fake_model_server.received) == 3


async def test_each_thing_is_found_out_when_it_is_needed(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    store = MemoryArtifactStore()
    fake_model_server.script(PATH, all_of(recorded))
    await probe_of(fake_model_server, store).level("m")
    assert len(fake_model_server.received) == 1

    second = probe_of(fake_model_server, store)
    assert await second.level("m") is Level.JSON_SCHEMA
    assert await second.alternatives("m") == 20

    assert len(fake_model_server.received) == 2


async def test_who_comes_meanwhile_waits_for_the_one_who_asks(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    fake_model_server.script(PATH, all_of(recorded))
    probe = probe_of(fake_model_server)
    found: list[Level] = []

    async def ask() -> None:
        found.append(await probe.level("m"))

    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(ask)

    assert found == [Level.JSON_SCHEMA] * 10
    assert len(fake_model_server.received) == 1


@pytest.mark.parametrize(
    "kept", [b"", b"{", b"[]", b'{"level": "telepathy"}', b'{"alternatives": "many"}', b"\xff"]
)
async def test_findings_that_can_not_be_read_are_found_out_again(
    fake_model_server: FakeModelServer, recorded: Any, kept: bytes
) -> None:
    class Worn(MemoryArtifactStore):
        async def load(self, key: str) -> bytes | None:
            return kept

    fake_model_server.script(PATH, all_of(recorded))

    assert await probe_of(fake_model_server, Worn()).level("m") is Level.JSON_SCHEMA
    assert len(fake_model_server.received) == 1


async def test_a_store_that_fails_costs_no_answer(
    fake_model_server: FakeModelServer, recorded: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(ArtifactStore):
        async def load(self, key: str) -> bytes | None:
            raise OSError("disk is gone")

        async def save(self, key: str, data: bytes) -> None:
            raise OSError("disk is full")

    fake_model_server.script(PATH, all_of(recorded))

    assert await probe_of(fake_model_server, Full()).level("m") is Level.JSON_SCHEMA
    assert len(warnings(caplog)) == 2


# -- log-probabilities and token counts --


@pytest.mark.parametrize(("most", "expected"), [(20, 20), (5, 5), (0, 0)])
async def test_as_many_alternatives_are_asked_for_as_the_server_gives(
    fake_model_server: FakeModelServer, recorded: Any, most: int, expected: int
) -> None:
    fake_model_server.script(PATH, all_of(recorded, most))

    assert await probe_of(fake_model_server).alternatives("m") == expected


@pytest.mark.parametrize("payload", ["chat_completion", "chat_logprobs"])
async def test_a_model_that_begins_with_neither_can_not_decide_so(
    fake_model_server: FakeModelServer,
    recorded: Any,
    caplog: pytest.LogCaptureFixture,
    payload: str,
) -> None:
    reply = recorded(payload)
    if payload == "chat_logprobs":
        thinking = {"token": "<think>", "logprob": 0.0, "bytes": None}
        content = [{**thinking, "top_logprobs": [thinking]}]
        reply["choices"][0]["logprobs"]["content"] = content
    fake_model_server.script(PATH, Scripted(body=reply))

    assert await probe_of(fake_model_server).alternatives("m") == 0

    (warned,) = warnings(caplog)
    assert "decisions are asked for in words" in warned.message
    assert len(fake_model_server.received) == 1


async def test_a_server_that_is_down_is_not_one_without_log_probabilities(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    probe = probe_of(fake_model_server)
    fake_model_server.script(PATH, Scripted(503))
    with pytest.raises(ProviderUnavailableError):
        await probe.alternatives("m")
    fake_model_server.script(PATH, all_of(recorded))

    assert await probe.alternatives("m") == 20


async def test_a_stream_without_token_counts_is_noticed(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    fake_model_server.script(PATH, all_of(recorded, counts=False))

    findings = await probe_of(fake_model_server).findings("m")

    assert findings["usage of streams"] == "not told"


async def test_a_server_that_refuses_to_stream_tells_no_counts(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    whole = all_of(recorded)

    def answer(request: Received) -> Scripted:
        no = Scripted(400, body={"error": {"message": "it does not stream"}})
        return no if request.json.get("stream") else whole(request)

    fake_model_server.script(PATH, answer)

    assert not await probe_of(fake_model_server).counts_streams("m")
