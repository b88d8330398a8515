"""The example bank judged by three vendors' models: one line of settings, and the same account."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import poise
from poise import TurnContext, VerdictKind
from poise.memory.stores import MemoryStores
from poise.testing.fake_server import FakeModelServer, Received, Scripted
from poise.testing.written import asked_in, filled_in
from poise.values.clock import SystemClock
from poise_example_bank.fake import FakeBank
from poise_example_bank.playing import Played, play_all

pytestmark = pytest.mark.anyio

Verdicts = dict[tuple[tuple[str, ...], str], str]
"""By the messages that are judged and the rule: yes, no or unclear."""

WORDS = {
    VerdictKind.APPLIES: "yes",
    VerdictKind.DOES_NOT: "no",
    VerdictKind.ALREADY_APPLIED: "no",
}
FOCUS = re.compile(r"new messages \(quoted data\):\n((?:- .*\n?)+)")

MODELS = {
    "openai": "openai:gpt-5.1",
    "anthropic": "anthropic:any-model",
    "google": "google:any-model",
}


class Listener:
    """Hears what the embedded model decides, so that the fakes can decide the same."""

    def __init__(self) -> None:
        self.verdicts: Verdicts = {}

    @poise.hookimpl
    async def on_preparation_iteration_end(self, turn: TurnContext) -> None:
        for verdict in turn.verdicts:
            if "/embedded:" in verdict.judged_by:
                self.verdicts[turn.new_messages, verdict.rule] = WORDS.get(verdict.kind, "unclear")


def settings(url: str) -> Mapping[str, Any]:
    key = "canary-of-nobody"
    return {
        "stores": "memory",
        "annotator": "flags",
        "openai": {"api_key": key, "base_url": f"{url}/v1", "api": "chat"},
        "anthropic": {"api_key": key, "base_url": url},
        "google": {"api_key": key, "base_url": url},
    }


async def played(models: Mapping[str, str], url: str, listener: object = None) -> Sequence[Played]:
    async with poise.Application(
        settings=settings(url),
        models=models,
        stores=MemoryStores(SystemClock()),
        hooks=() if listener is None else (listener,),
    ) as app:
        return await play_all(app, FakeBank())


def texts_in(body: Any) -> str:
    """Return every text in a request's body, one after the other."""
    if isinstance(body, str):
        return body
    if isinstance(body, Mapping):
        return "\n".join(texts_in(each) for each in body.values())
    return "\n".join(texts_in(each) for each in body) if isinstance(body, list) else ""


def answered(request: Received, verdicts: Verdicts) -> str:
    """Return the JSON that a model would write: the verdicts of whoever was heard before."""
    said = texts_in(request.json)
    focus = FOCUS.search(said)
    messages = tuple(json.loads(line[2:]) for line in focus[1].splitlines()) if focus else ()
    return json.dumps(
        filled_in(
            schema_in(request.json, said),
            said,
            lambda rule: verdicts.get((messages, rule), "unclear"),
        )
    )


def schema_in(body: Any, said: str) -> Mapping[str, Any]:
    """Return the schema of the answer: where the vendor's API has it, else from the prompt."""
    waiting, lists = [body], set(asked_in(said))
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            if lists and lists <= set(each.get("properties", ())):
                return each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    shape: Mapping[str, Any] = json.JSONDecoder().raw_decode(
        said, said.index("{", said.index("Answer with one JSON object"))
    )[0]
    return shape


def chat(text: str) -> Mapping[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "any-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14},
    }


def message(text: str) -> Mapping[str, Any]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "any-model",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 5},
    }


def content(text: str) -> Mapping[str, Any]:
    said = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    return {
        "candidates": [said],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5},
    }


def scripted(server: FakeModelServer, verdicts: Verdicts) -> None:
    for path, form in (
        ("/v1/chat/completions", chat),
        ("/v1/messages", message),
        ("*:generateContent", content),
    ):
        server.script(
            path, lambda request, form=form: Scripted(body=form(answered(request, verdicts)))
        )


def account(turns: Sequence[Played]) -> Sequence[Any]:
    """Return what decided and what was said, without who judged, how long it took, and ids."""
    return [
        {
            "said": each.record.replies,
            "lines": [
                (line.name, line.fate, line.cause, line.query, line.signal, line.iteration)
                for line in each.record.ledger.lines
            ],
            "calls": [
                (call.tool, dict(call.arguments), call.outcome) for call in each.record.ledger.calls
            ],
            "composition": each.record.ledger.composition,
            "degraded": each.record.ledger.degradations,
            "requests": [
                (line.route, line.way, line.items, line.fresh, line.output, line.attempt)
                for line in each.record.ledger.requests
                if line.route == "matching.verdict"
            ],
        }
        for each in turns
    ]


async def test_the_bank_comes_to_the_same_account_on_every_vendor(
    fake_model_server: FakeModelServer,
) -> None:
    listener = Listener()
    embedded = await played({}, fake_model_server.url, listener)
    scripted(fake_model_server, listener.verdicts)

    accounts = {
        vendor: account(await played({"*": model}, fake_model_server.url))
        for vendor, model in MODELS.items()
    }

    assert accounts["openai"] == accounts["anthropic"] == accounts["google"]
    assert [turn["said"] for turn in accounts["openai"]] == [
        each.record.replies for each in embedded
    ]
    assert all(
        request[1] == "structured" for turn in accounts["openai"] for request in turn["requests"]
    )
    assert sum(len(turn["requests"]) for turn in accounts["openai"]) > 10


async def test_the_bank_runs_on_a_server_that_has_nothing_but_words(
    fake_model_server: FakeModelServer,
) -> None:
    """B-086: no JSON schema, no JSON mode, no tools, no log-probabilities, no streamed usage."""
    listener = Listener()
    embedded = await played({}, fake_model_server.url, listener)

    def answer(request: Received) -> Scripted:
        body = request.json
        refused = body.keys() & {"response_format", "tools", "logprobs", "stream_options"}
        if refused:
            told = f"unknown parameter: {min(refused)}"
            return Scripted(400, body={"error": {"message": told, "param": min(refused)}})
        if body.get("stream"):
            chunk = {"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}
            about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
            return Scripted(events=[{**about, "choices": [chunk]}, "[DONE]"])
        written = answered(request, listener.verdicts)
        return Scripted(body=chat(f"Here you are:\n```json\n{written}\n```"))

    fake_model_server.script("/v1/chat/completions", answer)

    turns = await played({"*": "openai:somebodys-model"}, fake_model_server.url)

    assert [each.record.replies for each in turns] == [each.record.replies for each in embedded]
    requests = [line for each in turns for line in each.record.ledger.requests]
    judged = [line for line in requests if line.route == "matching.verdict"]
    assert {line.way for line in judged if not line.error} == {"structured"}
    assert sum(bool(line.error) for line in judged) <= 1, "what a server lacks is found out once"
