"""Metrics of whole turns: they reconcile with the ledger, and have few series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from poise import Application, ProviderUnavailableError
from poise.engine.spans import METRICS
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.session_laws import ledgers

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]
Points = Mapping[str, list[Any]]


class Meter:
    """What was measured since it was last read, by metric."""

    def __init__(self, reader: InMemoryMetricReader) -> None:
        self._reader = reader

    def points(self) -> Points:
        found: dict[str, list[Any]] = {}
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    found.setdefault(metric.name, []).extend(metric.data.data_points)
        return found

    def total(self, name: str, **attributes: str) -> float:
        """Return a counter's value, or how often a histogram was recorded."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}
        return sum(
            getattr(point, "count", None) or getattr(point, "value", 0)
            for point in self.points().get(name, ())
            if wanted.items() <= dict(point.attributes).items()
        )


@pytest.fixture(scope="module")
def reader() -> InMemoryMetricReader:
    # The API takes one provider per process, once; its proxy instruments find it afterwards.
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    return reader


@pytest.fixture
def meter(reader: InMemoryMetricReader) -> Meter:
    return Meter(reader)


async def test_counts_reconcile_with_the_ledger_and_with_the_provider(
    open_application: Open, shop: Any, meter: Meter
) -> None:
    """B-126."""
    scripted = ScriptedParts()
    duration, ends = "gen_ai.client.operation.duration", "poise.turn.ends"
    decided_before = meter.total(duration, poise__route="matching.verdict")
    turns_before = meter.total(ends, poise__turn__end="sent")
    stages_before = meter.total("poise.stage.duration", poise__stage="match")
    async with open_application(scripted) as app:
        agent = await shop.open(app)
        logged = []
        for number in range(10):
            session = await app.open_session(agent)
            for text in ("open?", "my balance?", "where can I park?", "hello", "freeze it")[
                : 1 + number % 5
            ]:
                await session.say(text)
            await app.runtime.dispatcher.idle(session.id)
            logged += ledgers(await session.events())

    requests = [line for each in logged for line in each.requests]
    decided = [line for line in requests if line.route == "matching.verdict"]
    assert len(decided) == len(scripted.decisions.requests) > 5
    assert meter.total(duration, poise__route="matching.verdict") - decided_before == len(decided)
    assert meter.total(ends, poise__turn__end="sent") - turns_before == len(logged)
    matched = meter.total("poise.stage.duration", poise__stage="match") - stages_before
    assert matched >= len(logged)


async def test_the_number_of_series_does_not_grow_with_sessions(
    open_application: Open, shop: Any, meter: Meter
) -> None:
    """B-126."""
    sizes = []
    async with open_application() as app:
        agent = await shop.open(app)
        for sessions in (2, 20):
            for _ in range(sessions):
                session = await app.open_session(agent)
                await session.say("open?")
                await app.runtime.dispatcher.idle(session.id)
            sizes.append({name: len(points) for name, points in meter.points().items()})

    assert sizes[0] == sizes[1]


async def test_what_is_measured_is_what_the_page_lists(
    open_application: Open, shop: Any, meter: Meter
) -> None:
    down = ProviderUnavailableError("scripted", "script", "", "down")
    decisions = ScriptedDecisionModel(discoverys_own, failures=[down, ValueError("odd")])
    settings = {"engine": {"retry_wait": 0.001}}
    async with open_application(ScriptedParts(decisions=decisions), settings=settings) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)

    listed = {metric.name: set(metric.attributes) for metric in METRICS}
    for name, points in meter.points().items():
        for point in points:
            assert set(point.attributes) <= listed[name], name
    assert meter.total("poise.model.retries", poise__route="matching.verdict") >= 1
    assert meter.total("poise.degradations", poise__degradation__part="matching") >= 1
