"""A key that is in the settings is nowhere else: no log, span, metric, event, error or output."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import poise.hooks.tracing
from poise import Application
from poise.cli.main import main
from poise.engine import sending
from poise.testing.fake_server import FakeModelServer, Received, Scripted

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

CANARY = "sk-canary-5f0c1e-do-not-sing"
MODELS = {
    "openai": "openai:any-model",
    "anthropic": "anthropic:any-model",
    "google": "google:any-model",
}


def echoing(request: Received) -> Scripted:
    """Refuse the key as careless servers do: with the key, and all headers, in the message."""
    message = f"Incorrect API key provided: {CANARY}; headers: {dict(request.headers)}"
    return Scripted(401, body={"error": {"message": message, "type": "invalid", "code": 401}})


FAULTS = {
    "echoed": echoing,
    "down": Scripted(500, body={"error": {"message": "down"}}),
    "garbage": Scripted(200, body="<html>not a model</html>"),
}


def settings(url: str) -> dict[str, Any]:
    return {
        "engine": {"retries": 0},
        "openai": {"api_key": CANARY, "base_url": f"{url}/v1", "api": "chat"},
        "anthropic": {"api_key": CANARY, "base_url": url},
        "google": {"api_key": CANARY, "base_url": url},
    }


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("poise")
    monkeypatch.setattr(poise.hooks.tracing, "TRACER", tracer)
    monkeypatch.setattr(sending, "TRACER", tracer)
    return exporter


def everything_logged(caplog: pytest.LogCaptureFixture) -> str:
    texts = []
    for record in caplog.records:
        texts.append(record.getMessage())
        texts.append(repr({**record.__dict__, "exc_info": None}))
        if record.exc_info and record.exc_info[1] is not None:
            texts.append("".join(traceback.format_exception(record.exc_info[1])))
    return "\n".join(texts)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("vendor", MODELS)
async def test_a_failing_provider_never_sings(
    fake_model_server: FakeModelServer,
    traced: InMemorySpanExporter,
    caplog: pytest.LogCaptureFixture,
    *,
    shop: Any,
    vendor: str,
    fault: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    # What the wire library says of its own server is not ours to hide.
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    fake_model_server.script("*", FAULTS[fault])

    async with Application(
        settings=settings(fake_model_server.url),
        models={"*": MODELS[vendor], "embed": "embedded:use"},
        stores="memory",
    ) as app:
        session = await app.open_session(await shop.open(app))
        reply = await session.say("when are you open?")
        await app.runtime.dispatcher.idle(session.id)
        events = await session.events()
        shown = repr(app.runtime.config) + json.dumps(
            [str(row) for row in app.runtime.config.describe()]
        )

    assert fake_model_server.received, "the vendor was asked"
    assert any(CANARY in repr(each.headers) for each in fake_model_server.received)
    assert reply.ledger is not None
    assert any(line.error for line in reply.ledger.requests)
    said = "\n".join(repr(event.data) for event in events)
    spans = "\n".join(span.to_json() for span in traced.get_finished_spans())
    assert traced.get_finished_spans()
    for where, text in {
        "events and ledger": said,
        "logs": everything_logged(caplog),
        "spans": spans,
        "settings": shown,
    }.items():
        assert CANARY not in text, f"the key is in {where}"


@pytest.mark.parametrize(
    "command",
    [
        ["config", "show", "--json"],
        ["config", "show", "--origin"],
        ["models", "--json"],
        ["models", "check", "compact", "--json"],
        ["plugins", "--json"],
    ],
    ids=" ".join,
)
def test_no_command_shows_a_key(
    command: list[str],
    fake_model_server: FakeModelServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
) -> None:
    fake_model_server.script("*", echoing)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{fake_model_server.url}/v1")
    monkeypatch.setenv("POISE_ANTHROPIC__API_KEY", CANARY)
    monkeypatch.setenv("POISE_MODELS", '{"*": "openai:any-model", "embed": "embedded:use"}')

    result = CliRunner().invoke(main, command)

    assert result.output.strip()
    assert CANARY not in result.output
    assert CANARY not in repr(result.exception)
