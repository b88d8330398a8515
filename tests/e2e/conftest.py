"""What whole applications need in tests: anyio's backend, and models and discovery by script."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

import poise_compose.plugin
import poise_matching.plugin
import poise_relations.plugin
import poise_tools.plugin
from poise import (
    Agent,
    Annotator,
    Application,
    Discoverer,
    ModelProvider,
    Offers,
    Progress,
    ToolResult,
    hookimpl,
    tool,
)
from poise.testing import applications
from poise.testing.providers import ScriptedDecisionModel, ScriptedProvider
from poise.turn.candidates import Budget, Sighting
from poise.turn.context import TurnContext
from poise.turn.queries import Query
from poise.values.catalog import Annotation, CatalogSnapshot
from poise.values.ids import IndexId, RuleId
from poise.values.rules import Rule


class FlagAnnotator(Annotator):
    """Says what the author's flags say."""

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        return {rule.id: Annotation(rule.way_in) for rule in rules}


class VerbatimDiscoverer(Discoverer):
    """Sights a rule when a text holds one of its signals, or shares half its words with it."""

    async def prepare(self, snapshot: CatalogSnapshot, progress: Progress) -> IndexId:
        progress.report("reading rules", len(snapshot.rules), len(snapshot.rules))
        return IndexId(snapshot.version)

    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        wanted = [each.rule.id for each in turn.candidates]
        wanted += [rule for rule in turn.snapshot.rules if _hit(rule, turn.snapshot, queries)]
        for rule in wanted:
            wanted += [each for each in turn.snapshot.needed_by(rule) if each not in wanted]
        return [_sighting(rule, turn.snapshot, queries) for rule in dict.fromkeys(wanted)]

    def prune(self, turn: TurnContext, budget: Budget) -> Sequence[RuleId]:
        return ()

    async def explain(
        self, rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
    ) -> Sighting | None:
        return _sighting(rule, snapshot, queries)


def _hit(
    rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
) -> tuple[Query, str] | None:
    known = snapshot.rules[rule]
    if not known.signals:
        about = _words(f"{known.title} {known.when} {known.content}")
        for query in queries:
            said = _words(query.text)
            if said and len(said & about) * 2 >= len(said):
                return query, known.name
    for query in queries:
        for signal in known.signals:
            if signal.lower() in query.text.lower():
                return query, signal
    return None


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def _sighting(rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]) -> Sighting:
    hit = _hit(rule, snapshot, queries)
    if hit is None:
        return Sighting(rule, margin=-0.5, score=0.0, threshold=0.5, probability=0.1)
    return Sighting(
        rule, margin=0.5, score=1.0, threshold=0.5, probability=0.9, query=hit[0], signal=hit[1]
    )


class ScriptedParts:
    """A plugin of models and discovery that answer the same in every run."""

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(Annotator, "flags", FlagAnnotator, default=True)
        offers.add(Discoverer, "verbatim", VerbatimDiscoverer, default=True)
        offers.add(
            ModelProvider,
            "scripted",
            # Discovery's own probability is the verdict.
            lambda: ScriptedProvider(
                decisions=ScriptedDecisionModel(lambda question, _request: question.prior)
            ),
            default=True,
        )


class Shop:
    """A small shop whose clerk answers from four policies, two of them with a tool.

    Attributes:
        calls: The tools that ran, oldest first.
        at_tool: Awaited inside each tool, if set.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.at_tool: Callable[[], Awaitable[Any]] | None = None

    async def open(self, app: Application, **said: Any) -> Agent:
        """Declare the clerk and everything it knows."""
        agent = await app.create_agent(
            "Clerk", **{"composition_mode": "canned_strict", "no_match": "Hm?", **said}
        )

        async def look_up_balance() -> ToolResult:
            await self._run("look_up_balance")
            return ToolResult(data="a balance", fields={"amount": "12"})

        async def freeze_card() -> str:
            await self._run("freeze_card")
            return "frozen"

        await agent.create_policy(
            "Opening hours",
            "Say when the shop is open",
            signals=["open"],
            canned_responses=["We are open from nine to five."],
        )
        await agent.create_policy(
            "Parking",
            "Say where to park",
            signals=["park"],
            canned_responses=["You can park behind the shop."],
        )
        await agent.create_policy(
            "Balance",
            "Say what is left",
            signals=["balance"],
            tools=[tool(look_up_balance)],
            canned_responses=["You have {amount} euros left."],
        )
        await agent.create_policy(
            "Lost card",
            "Freeze the card",
            signals=["freeze"],
            tools=[tool(consequential=True)(freeze_card)],
            canned_responses=["Your card is frozen."],
        )
        return agent

    async def _run(self, name: str) -> None:
        self.calls.append(name)
        if self.at_tool is not None:
            await self.at_tool()


@pytest.fixture(autouse=True)
def engine_never_raises(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever happens within a turn ends in the session's log, not in an error of the engine."""
    yield
    raised = [each for each in caplog.get_records("call") if each.name == "poise.memory.dispatcher"]
    assert not raised, f"the engine raised: {[each.exc_info for each in raised]}"


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def parts() -> list[object]:
    """Plugins that make a whole application, none of them with a real model."""
    return [
        ScriptedParts(),
        poise_compose.plugin,
        poise_matching.plugin,
        poise_relations.plugin,
        poise_tools.plugin,
    ]


@pytest.fixture
def installed(parts: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `parts` the plugins that are installed, and the storage one that forgets."""
    holder = SimpleNamespace(**{f"part_{index}": each for index, each in enumerate(parts)})
    monkeypatch.setitem(sys.modules, "poise_installed_parts", holder)
    points = [EntryPoint(name, f"poise_installed_parts:{name}", "poise") for name in vars(holder)]
    monkeypatch.setattr("poise.app.plugins.entry_points", lambda group: points)
    monkeypatch.setenv("POISE_STORES", "memory")
    monkeypatch.setenv("POISE_CONFIG", "")


@pytest.fixture
def open_application() -> Callable[..., Application]:
    """Return a function that makes an application of scripted parts, plugins and settings."""
    ours = [
        poise_compose.plugin,
        poise_matching.plugin,
        poise_relations.plugin,
        poise_tools.plugin,
    ]

    def make(
        scripted: applications.ScriptedParts | None = None, *plugins: object, **said: Any
    ) -> Application:
        given = {"stores": "memory", "installed": False, **said}
        return Application(
            plugins=[scripted or applications.ScriptedParts(), *ours, *plugins], **given
        )

    return make
