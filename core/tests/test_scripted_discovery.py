"""The scripted discoverer and annotator keep the promises of their ports."""

from __future__ import annotations

import pytest

from poise.ports.discovery import Annotator, Discoverer
from poise.testing.discovery import AnnotatorConformance, DiscovererConformance
from poise.testing.models import ScriptedModels
from poise.testing.scripted_discovery import ScriptedAnnotator, ScriptedDiscoverer
from poise.testing.turns import catalog_of, policy, turn_of
from poise.turn.queries import Query, QueryKind


class Silent:
    def report(self, phase: str, done: int, total: int) -> None: ...


class TestScriptedDiscoverer(DiscovererConformance):
    @pytest.fixture
    def subject(self) -> Discoverer:
        return ScriptedDiscoverer()


class TestScriptedDiscovererWithModels(DiscovererConformance):
    @pytest.fixture
    def subject(self) -> Discoverer:
        return ScriptedDiscoverer(models=ScriptedModels())


class TestScriptedAnnotator(AnnotatorConformance):
    @pytest.fixture
    def subject(self) -> Annotator:
        return ScriptedAnnotator()


@pytest.mark.anyio
async def test_script_decides_whatever_the_words() -> None:
    snapshot = catalog_of([policy("parking", signals=["park"]), policy("hours", signals=["open"])])
    discoverer = ScriptedDiscoverer({"magic": ["hours"]})
    index = await discoverer.prepare(snapshot, Silent())
    turn = turn_of(snapshot, "hi", index=index)

    seen = await discoverer.discover(turn, [Query(QueryKind.MESSAGE, "magic park", 0)])

    assert [snapshot.rules[each.rule].name for each in seen if each.is_hit] == ["hours"]


@pytest.mark.anyio
async def test_near_miss_is_not_sighted() -> None:
    rule = policy("lost", signals=["card"], anti_signals=["card declined"])
    snapshot = catalog_of([rule])
    queries = [Query(QueryKind.MESSAGE, "my card was declined", 0)]

    told = await ScriptedDiscoverer().explain(rule.id, snapshot, queries)

    assert told is not None
    assert not told.is_hit
