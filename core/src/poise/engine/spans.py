"""Spans: their names and attributes in one place, and how one is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import Span, StatusCode, get_tracer

TRACER = get_tracer("poise")
"""The tracer of the engine; does nothing until an SDK is set up."""

TURN = "poise.turn"
STAGE = "poise.stage."
MODEL = "poise.model"
TOOL = "poise.tool"

SESSION_ID = "poise.session.id"
TURN_ID = "poise.turn.id"
AGENT_ID = "poise.agent.id"
WAKE = "poise.turn.wake"
END = "poise.turn.end"
ROUTE = "poise.route"
MODEL_NAME = "gen_ai.request.model"
OPERATION = "gen_ai.operation.name"
ITEMS = "poise.model.items"
TOOL_NAME = "poise.tool.name"
TOOL_KEY = "poise.tool.key"
TOOL_OUTCOME = "poise.tool.outcome"


@contextmanager
def span(name: str, attributes: Mapping[str, str | int] | None = None) -> Iterator[Span]:
    """Run a block in a span. An exception leaves its type there, never its words.

    What an exception says may quote a customer, and traces go to more people than conversations.
    """
    with TRACER.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as exc:
            current.set_status(StatusCode.ERROR, type(exc).__name__)
            raise
