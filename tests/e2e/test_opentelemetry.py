"""Traces of whole turns: one span per turn, stage, model request and tool call, and no words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from poise import Application
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.hook_probe import HookProbe
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import ledgers

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

SECRET = "hunter2"
STAGES = {"acknowledge", "load", "plan", "discover", "match", "resolve", "tools", "compose", "emit"}


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    # The API takes one provider per process, once; its proxy tracers find it afterwards.
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[Callable[[], Sequence[ReadableSpan]]]:
    exporter.clear()
    yield exporter.get_finished_spans
    exporter.clear()


Spans = Callable[[], Sequence[ReadableSpan]]


def named(spans: Sequence[ReadableSpan], name: str) -> Sequence[ReadableSpan]:
    return [span for span in spans if span.name == name]


def of_models(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
    return [span for span in spans if "gen_ai.operation.name" in (span.attributes or {})]


async def test_turn_stages_requests_and_calls_are_spans_below_the_turn(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    """B-126."""
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        reply = await session.say("freeze my card")
        await app.runtime.dispatcher.idle(session.id)

    (turn,) = named(spans(), "poise.turn")
    assert turn.attributes is not None
    assert turn.attributes["poise.turn.id"] == reply.turn
    assert turn.attributes["poise.session.id"] == session.id
    assert turn.attributes["poise.turn.end"] == "sent"
    assert turn.context is not None
    of_turn = [each for each in spans() if _trace(each) == turn.context.trace_id]
    stages = {each.name for each in of_turn if each.name.startswith("poise.stage.")}
    assert stages == {f"poise.stage.{stage}" for stage in STAGES}
    assert reply.ledger is not None
    assert len(of_models(of_turn)) == len(reply.ledger.requests)
    assert len(named(of_turn, "poise.tool")) == len(reply.ledger.calls) == 1
    parents = {each.parent.span_id for each in of_turn if each.parent is not None}
    known = {each.context.span_id for each in of_turn if each.context is not None}
    assert parents <= known


def _trace(span: ReadableSpan) -> int | None:
    return span.context.trace_id if span.context else None


async def test_counts_reconcile_and_names_do_not_multiply(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    """B-126: fifty mixed turns over many sessions."""
    texts = ("open?", "freeze my card", "my balance?", "xyzzy", "where can I park?")
    scripted = ScriptedParts()
    async with open_application(scripted) as app:
        agent = await shop.open(app)
        lines = 0
        for number in range(10):
            session = await app.open_session(agent)
            for text in texts:
                await session.say(f"{text} {number}")
            await app.runtime.dispatcher.idle(session.id)
            lines += sum(len(each.requests) for each in ledgers(await session.events()))

    counted = Counter(span.name for span in spans())
    asked = sum(counted[name] for name in ("embeddings words", "decide script"))
    seen = len(scripted.embedder.embedded) + len(scripted.decisions.requests)
    indexing = 1
    assert counted["poise.turn"] == 50
    assert asked == len(of_models(spans())) == seen
    assert lines == seen - indexing
    assert counted["poise.tool"] == len(shop.calls)
    assert len(counted) <= len(STAGES) + 4


async def test_attributes_of_models_and_tools_say_which_and_how_it_ended(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        await session.say("my balance?")
        await app.runtime.dispatcher.idle(session.id)

    (call,) = named(spans(), "poise.tool")
    assert call.attributes is not None
    assert call.attributes["poise.tool.name"] == "look_up_balance"
    assert call.attributes["poise.tool.outcome"] == "finished"
    asked = [
        (each.attributes["gen_ai.operation.name"], each.attributes["gen_ai.request.model"])
        for each in of_models(spans())
        if each.attributes is not None
    ]
    assert ("decide", "script") in asked
    assert ("embeddings", "words") in asked


async def test_hooks_are_spans_that_name_the_plugin(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    async with open_application(None, HookProbe("desk")) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)

    hooks = [each for each in spans() if each.name.startswith("poise.hook.")]
    assert {"poise.hook.on_preparing", "poise.hook.on_message_generated"} <= {
        each.name for each in hooks
    }
    assert {dict(each.attributes or {})["poise.plugin"] for each in hooks} == {"desk"}


async def _quotes(arguments: Mapping[str, Any]) -> None:
    raise ValueError(f"what is {SECRET}?")


async def test_no_words_of_a_customer_reach_a_span_whatever_fails(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    """B-126, and what the style guide says of customers' words."""
    failing = ScriptedDecisionModel(
        discoverys_own, failures=[None, ValueError(f"can't judge {SECRET}")]
    )

    async def fails() -> None:
        raise ValueError(f"no such card: {SECRET}")

    shop.at_tool = fails
    async with open_application(ScriptedParts(decisions=failing)) as app:
        session = await app.open_session(await shop.open(app))
        await session.say(f"freeze my card {SECRET}")
        await session.say(f"open {SECRET}")
        await app.runtime.dispatcher.idle(session.id)
    for hook in ("on_preparing", "on_draft_generated", "on_tool_call"):
        async with open_application(None, HookProbe(SECRET[:3], {hook: _quotes})) as app:
            session = await app.open_session(await shop.open(app))
            await session.say(f"freeze my card {SECRET}")
            await app.runtime.dispatcher.idle(session.id)

    assert len(named(spans(), "poise.turn")) == 5
    for span in spans():
        told = [span.name, span.status.description, *(span.attributes or {}).values()]
        told += [str(dict(event.attributes or {})) for event in span.events]
        assert SECRET not in " ".join(map(str, told)), f"span {span.name} quotes the customer"


async def test_failed_turn_and_its_failed_parts_are_marked(
    open_application: Open, shop: Any, spans: Spans
) -> None:
    async with open_application(None, HookProbe("clumsy", {"on_draft_generated": _quotes})) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)

    (turn,) = named(spans(), "poise.turn")
    (hook,) = named(spans(), "poise.hook.on_draft_generated")
    assert turn.status.status_code is StatusCode.ERROR
    assert (hook.status.status_code, hook.status.description) == (StatusCode.ERROR, "ValueError")
    assert dict(turn.attributes or {})["poise.turn.end"] == "failed"
