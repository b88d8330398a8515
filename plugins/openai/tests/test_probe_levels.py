"""What a server claims of JSON and what it does: the probe tells them apart."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from pydantic import SecretStr

from poise.errors import AuthenticationError, ProviderError
from poise.ports.models import StructuredGenerator
from poise.testing.fake_server import FakeModelServer, Received, Scripted
from poise.turn.generation import GenerationOptions
from poise.turn.prompts import Prompt, Section, Stability
from poise.turn.schemas import Schema
from poise_openai import CompatibleProvider, OpenAISettings, ServerSettings, load_presets
from poise_openai.client import Client
from poise_openai.preset import Level
from poise_openai.probe import Probe

pytestmark = pytest.mark.anyio

PATH = "/v1/chat/completions"
CLAIMED = ("json_schema", "json_object", "tool")
FITTING = {"quorp": "drabbo", "plim": True}
ASKED = Schema(
    "Verdict",
    {
        "type": "object",
        "properties": {"applies": {"type": "boolean"}},
        "required": ["applies"],
        "additionalProperties": False,
    },
)


class Server:
    """A model that writes prose by itself, on a server that enforces what it is told here to.

    Ways beyond that it takes and does not heed, or refuses, or fails over.
    """

    def __init__(self, recorded: Any, *enforced: str, otherwise: str = "heedless") -> None:
        self._recorded = recorded
        self._enforced = enforced
        self._otherwise = otherwise

    def __call__(self, request: Received) -> Scripted:
        body = request.json
        way = self._way(body)
        if way != "prompt" and way not in self._enforced and self._otherwise != "heedless":
            status = {"refused": 400, "broken": 500, "down": 503}[self._otherwise]
            return Scripted(status, body={"error": {"message": "response format?", "code": None}})
        reply = self._recorded("chat_completion")
        message = reply["choices"][0]["message"]
        message["content"] = "The largest ocean is the Pacific."
        if way != "prompt" and way in self._enforced:
            written = json.dumps(self._value(body, way))
            if way == "tool":
                call = {"name": "answer", "arguments": written}
                message["content"] = None
                message["tool_calls"] = [{"id": "c", "type": "function", "function": call}]
            else:
                message["content"] = written
        elif "JSON schema" in body["messages"][-1]["content"]:
            message["content"] = 'Sure! Here it is:\n```json\n{"applies": true}\n```'
        return Scripted(body=reply)

    def _way(self, body: Any) -> str:
        if "tools" in body:
            return "tool"
        return str(body.get("response_format", {}).get("type", "prompt"))

    def _value(self, body: Any, way: str) -> Any:
        if way == "json_object":
            return {"something": "else"}  # an object of some kind is all that it promises
        shape = (
            body["tools"][0]["function"]["parameters"]
            if way == "tool"
            else body["response_format"]["json_schema"]["schema"]
        )
        return FITTING if "quorp" in shape["properties"] else {"applies": True}


@pytest.fixture
def generator(fake_model_server: FakeModelServer) -> StructuredGenerator:
    settings = ServerSettings(base_url=fake_model_server.url)
    return CompatibleProvider(load_presets()["vllm"], settings).structured_generator("m")


def probe_of(server: FakeModelServer) -> Probe:
    return Probe(Client(load_presets()["vllm"], ServerSettings(base_url=server.url)))


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [each for each in caplog.records if each.name == "poise_openai.probe"]


# -- which way to JSON --


@pytest.mark.parametrize("otherwise", ["heedless", "refused", "broken"])
@pytest.mark.parametrize("best", [*CLAIMED, "prompt"])
async def test_the_best_way_that_is_really_enforced_is_found(
    fake_model_server: FakeModelServer,
    recorded: Any,
    caplog: pytest.LogCaptureFixture,
    best: str,
    otherwise: str,
) -> None:
    """B-087."""
    fake_model_server.script(PATH, Server(recorded, best, otherwise=otherwise))

    level = await probe_of(fake_model_server).level("m")

    assert level is Level(best)
    disproved = [
        each for each in CLAIMED if best == "prompt" or each in CLAIMED[: CLAIMED.index(best)]
    ]
    found = warnings(caplog)
    assert len(found) == bool(disproved)
    for record in found:
        assert record.levelno == logging.WARNING
        assert list(vars(record)["disproved"]) == disproved
        assert vars(record)["used"] == best
        assert ("not enforced" in str(vars(record)["disproved"])) == (otherwise == "heedless")


@pytest.mark.parametrize("best", [*CLAIMED, "prompt"])
async def test_generation_goes_by_what_was_found(
    fake_model_server: FakeModelServer, recorded: Any, generator: Any, best: str
) -> None:
    """B-087: the same answer at every level, once the router has read it out."""
    server = Server(recorded, best)
    fake_model_server.script(PATH, server)
    prompt = Prompt.of(Section("task", "Does it apply?", Stability.TURN))

    await generator.generate(prompt, ASKED, options=GenerationOptions())
    asked_before = len(fake_model_server.received)
    reply = await generator.generate(prompt, ASKED, options=GenerationOptions())

    assert len(fake_model_server.received) == asked_before + 1
    assert server._way(fake_model_server.received[-1].json) == best
    if best in ("json_schema", "tool"):
        assert json.loads(reply.text) == {"applies": True}
    elif best == "prompt":
        assert '{"applies": true}' in reply.text


@pytest.mark.parametrize(
    "answer",
    [
        '{"quorp": "other", "plim": true}',
        '{"quorp": "veltin", "plim": "yes"}',
        '{"quorp": "veltin"}',
        '{"quorp": "veltin", "plim": true, "more": 1}',
        '["veltin", true]',
        '```json\n{"quorp": "veltin", "plim": true}\n```',
        "",
    ],
)
async def test_an_answer_beside_the_schema_disproves_it(
    fake_model_server: FakeModelServer, recorded: Any, answer: str
) -> None:
    def reply(request: Received) -> Scripted:
        body = recorded("chat_completion")
        body["choices"][0]["message"]["content"] = answer
        return Scripted(body=body)

    fake_model_server.script(PATH, reply)

    assert await probe_of(fake_model_server).level("m") is not Level.JSON_SCHEMA


async def test_a_model_that_thinks_until_there_is_no_room_disproves_nothing(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    body = recorded("chat_completion")
    body["choices"][0] |= {"finish_reason": "length", "message": {"content": ""}}
    fake_model_server.script(PATH, Scripted(body=body))

    assert await probe_of(fake_model_server).level("m") is Level.JSON_SCHEMA


async def test_the_vendor_is_believed_without_asking() -> None:
    probe = Probe(Client(load_presets()["openai"], OpenAISettings()))

    assert await probe.level("a-model-of-tomorrow") is Level.JSON_SCHEMA
    assert await probe.findings("a-model-of-tomorrow") == {"json": "json_schema, as its maker says"}


async def test_what_a_card_says_is_not_asked(
    served: Any, fake_model_server: FakeModelServer, recorded: Any
) -> None:
    fake_model_server.script(PATH, Server(recorded))
    generator = served.provider(level="json_object").structured_generator("m")
    prompt = Prompt.of(Section("task", "Does it apply?", Stability.TURN))

    await generator.generate(prompt, ASKED, options=GenerationOptions())

    (body,) = served.sent
    assert body["response_format"] == {"type": "json_object"}


async def test_only_ways_that_the_preset_names_are_tried(
    fake_model_server: FakeModelServer, recorded: Any
) -> None:
    fake_model_server.script(PATH, Server(recorded, "json_schema", "json_object"))
    settings = ServerSettings(base_url=f"{fake_model_server.url}/v1", api_key=SecretStr("k"))

    level = await Probe(Client(load_presets()["deepseek"], settings)).level("m")

    assert level is Level.JSON_OBJECT
    assert len(fake_model_server.received) == 1


# -- trouble --


@pytest.mark.parametrize("status", [429, 502, 503, 529])
async def test_trouble_is_raised_and_disproves_nothing(
    fake_model_server: FakeModelServer, recorded: Any, status: int
) -> None:
    probe = probe_of(fake_model_server)
    fake_model_server.script(PATH, Scripted(status))
    with pytest.raises(ProviderError):
        await probe.level("m")
    fake_model_server.script(PATH, Server(recorded, "json_schema"))

    assert await probe.level("m") is Level.JSON_SCHEMA


async def test_a_wrong_key_is_said_to_be_one(fake_model_server: FakeModelServer) -> None:
    fake_model_server.script(PATH, Scripted(401))

    with pytest.raises(AuthenticationError):
        await probe_of(fake_model_server).level("m")
