"""What the engine counts and measures, through the API of OpenTelemetry.

The instruments are made once and do nothing until an SDK is set up. Attributes have few values,
whatever the number of sessions, customers and rules: no id, no text.
"""

from __future__ import annotations

from opentelemetry.metrics import Counter, Histogram, get_meter

from poise.engine.spans import (
    CACHED_TOKENS_METRIC,
    COST_METRIC,
    DEGRADATION_PART,
    DEGRADATIONS_METRIC,
    END,
    ERROR_TYPE,
    FALLBACKS_METRIC,
    METRICS,
    MODEL_NAME,
    OPERATION,
    OPERATION_DURATION_METRIC,
    OPERATIONS,
    PROVIDER_NAME,
    RETRIES_METRIC,
    ROUTE,
    STAGE_DURATION_METRIC,
    STAGE_NAME,
    TOKEN_TYPE,
    TOKEN_USAGE_METRIC,
    TURN_DURATION_METRIC,
    TURN_ENDS_METRIC,
    WAKE,
)
from poise.turn.generation import Usage
from poise.turn.ledger import RequestLine

_METER = get_meter("poise")
_METRICS = {metric.name: metric for metric in METRICS}


def _counter(name: str) -> Counter:
    metric = _METRICS[name]
    return _METER.create_counter(name, unit=metric.unit, description=metric.meaning)


def _histogram(name: str) -> Histogram:
    metric = _METRICS[name]
    return _METER.create_histogram(
        name,
        unit=metric.unit,
        description=metric.meaning,
        explicit_bucket_boundaries_advisory=metric.boundaries,
    )


_OPERATION_DURATION = _histogram(OPERATION_DURATION_METRIC)
_TOKEN_USAGE = _histogram(TOKEN_USAGE_METRIC)
_CACHED_TOKENS = _counter(CACHED_TOKENS_METRIC)
_COST = _counter(COST_METRIC)
_RETRIES = _counter(RETRIES_METRIC)
_FALLBACKS = _counter(FALLBACKS_METRIC)
_TURN_DURATION = _histogram(TURN_DURATION_METRIC)
_TURN_ENDS = _counter(TURN_ENDS_METRIC)
_STAGE_DURATION = _histogram(STAGE_DURATION_METRIC)
_DEGRADATIONS = _counter(DEGRADATIONS_METRIC)


def record_request(line: RequestLine, provider: str, usage: Usage | None, error: str) -> None:
    """Count one request to a model.

    Args:
        line: As the ledger has it.
        provider: The provider's name; empty for a model that is offered by itself.
        usage: What it took, where the provider says so.
        error: The name of the error's class; empty if it went well.
    """
    attributes = {
        OPERATION: OPERATIONS[line.way],
        PROVIDER_NAME: provider or "poise",
        MODEL_NAME: line.model.partition(":")[2] if provider else line.model,
        ROUTE: line.route,
    }
    failed = {**attributes, ERROR_TYPE: error} if error else attributes
    _OPERATION_DURATION.record(line.milliseconds / 1000, failed)
    if usage is not None:
        _TOKEN_USAGE.record(usage.input_tokens, {**attributes, TOKEN_TYPE: "input"})
        _TOKEN_USAGE.record(usage.output_tokens, {**attributes, TOKEN_TYPE: "output"})
        _CACHED_TOKENS.add(usage.cached_tokens, attributes)
    if line.cost is not None:
        _COST.add(line.cost, attributes)


def record_retry(provider: str, route: str) -> None:
    """Count a request that is sent again to the same model."""
    _RETRIES.add(1, {PROVIDER_NAME: provider or "poise", ROUTE: route})


def record_fallback(provider: str, route: str) -> None:
    """Count a model that is asked because the one before it failed; `provider` is its own."""
    _FALLBACKS.add(1, {PROVIDER_NAME: provider or "poise", ROUTE: route})


def record_turn(seconds: float, wake: str, end: str) -> None:
    """Count a turn, and how it ended."""
    attributes = {WAKE: wake, END: end}
    _TURN_DURATION.record(seconds, attributes)
    _TURN_ENDS.add(1, attributes)


def record_stage(seconds: float, stage: str) -> None:
    """Measure a stage of a turn."""
    _STAGE_DURATION.record(seconds, {STAGE_NAME: stage})


def record_degradation(part: str) -> None:
    """Count a part that failed.

    Its first word alone: what follows names a rule's handler, a variable, a plugin.
    """
    _DEGRADATIONS.add(1, {DEGRADATION_PART: part.partition(" ")[0]})
