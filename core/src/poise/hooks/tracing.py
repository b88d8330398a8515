"""How a span is opened, for the engine and for hooks alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry.trace import Span, StatusCode, get_tracer

TRACER = get_tracer("poise")
"""Poise's tracer; does nothing until an SDK is set up."""


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
