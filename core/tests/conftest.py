"""What several tests of core need: anyio's backend, and a plugin that scripts a whole agent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

_PLUGIN = '''
"""Everything that an application needs, by script: one plugin, as if it were installed."""

import poise
from poise.ports.discovery import Annotator, Discoverer
from poise.ports.tools import ToolCaller
from poise.ports.composition import Composer, TermFinder
from poise.ports.matching import Matcher, Planner, Resolver
from poise.ports.stores import Stores
from poise.memory.stores import MemoryStores
from poise.testing.scripted_composition import ScriptedComposer, ScriptedTermFinder
from poise.testing.scripted_matching import NaiveResolver, ScriptedMatcher, ScriptedPlanner
from poise.turn.candidates import Sighting
from poise.turn.tooling import ToolPlan
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import Annotation
from poise.values.clock import SystemClock
from poise.values.ids import IndexId


class FlagAnnotator(Annotator):
    async def annotate(self, rules):
        return {rule.id: Annotation(rule.way_in) for rule in rules}


class WordDiscoverer(Discoverer):
    """Sights a rule when a message holds one of its signals."""

    async def prepare(self, snapshot, progress):
        progress.report("indexing rules", 0, len(snapshot.rules))
        progress.report("indexing rules", len(snapshot.rules), len(snapshot.rules))
        return IndexId("words")

    async def discover(self, turn, queries):
        found = [await self.explain(rule, turn.snapshot, queries) for rule in turn.snapshot.rules]
        return [each for each in found if each is not None and each.is_hit]

    def prune(self, turn, budget):
        return ()

    async def explain(self, rule, snapshot, queries):
        signals = snapshot.rules[rule].signals
        if not signals or not queries:
            return None
        for query in queries:
            for signal in signals:
                if signal in query.text:
                    return Sighting(rule, 0.5, 1.0, 0.5, 0.9, query, signal)
        return Sighting(rule, -0.5, 0.0, 0.5, 0.1, queries[0], signals[0])


class NoTools(ToolCaller):
    async def infer(self, tools, turn):
        return ToolPlan()


class Yes(Matcher):
    name = "yes"

    def claims(self, candidate, turn):
        return True

    async def inquire(self, candidates, turn):
        return [Verdict(each.rule.id, VerdictKind.APPLIES, "yes", 0.9) for each in candidates]


class Echo(ScriptedComposer):
    def __init__(self):
        super().__init__({"hello": "Good morning!", "escape": "a\\x1b[31mb"})


STORES = MemoryStores(SystemClock())


def stores():
    return STORES


@poise.hookimpl
def poise_provide(offers):
    here = __name__
    offers.add(Annotator, "flags", f"{here}:FlagAnnotator", default=True)
    offers.add(Discoverer, "words", f"{here}:WordDiscoverer", default=True)
    offers.add(Resolver, "naive", "poise.testing.scripted_matching:NaiveResolver", default=True)
    offers.add(Planner, "scripted", "poise.testing.scripted_matching:ScriptedPlanner", default=True)
    offers.add(Matcher, "yes", f"{here}:Yes")
    offers.add(ToolCaller, "none", f"{here}:NoTools", default=True)
    offers.add(Composer, "echo", f"{here}:Echo")
    offers.add(
        TermFinder, "slow", "poise.testing.scripted_composition:ScriptedTermFinder", default=True
    )
    offers.add(Stores, "kept", stores, default=True)
'''

_ENTRY_POINTS = """
[poise]
scripted = poise_scripted

[poise.commands]
wave = poise_scripted_commands:wave
broken = poise_scripted_commands:no_such_command
"""

_COMMANDS = """
import click

@click.command()
def wave() -> None:
    "Wave."
    click.echo("o/")
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a distribution `poise-scripted`, block all other plugins, work in an empty folder."""
    others = sorted({point.name for point in entry_points(group="poise")})
    folder = tmp_path / "site"
    metadata = folder / "poise_scripted-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: poise-scripted\nVersion: 0.1\n"
    )
    (metadata / "entry_points.txt").write_text(_ENTRY_POINTS)
    (folder / "poise_scripted.py").write_text(_PLUGIN)
    (folder / "poise_scripted_commands.py").write_text(_COMMANDS)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))  # for commands that run in a process of their own
    monkeypatch.setenv("POISE_PLUGINS__BLOCKED", ",".join(others))
    monkeypatch.setenv("POISE_MATCHERS", "yes")
    monkeypatch.setenv("POISE_COMPOSERS", "echo")
    monkeypatch.setenv("POISE_TOOL_SERVICES", "[]")
    monkeypatch.delenv("POISE_CONFIG", raising=False)
    known, path = set(sys.modules), list(sys.path)
    yield work
    sys.path[:] = path
    for name in set(sys.modules) - known:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(tmp_path)):
            del sys.modules[name]
