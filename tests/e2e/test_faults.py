"""What breaks during a turn breaks alone: a clear outcome, and the session lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import attrs
import pytest

import poise
from poise import (
    Application,
    Composer,
    EventKind,
    Matcher,
    Offers,
    Planner,
    Resolver,
    TermFinder,
    ToolCaller,
    hookimpl,
    tool,
)
from poise.errors import (
    ProviderError,
)
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder
from poise.testing.scripted_discovery import ScriptedDiscoverer
from poise.testing.session_laws import assert_session_laws
from poise.turn.context import Plan
from poise.turn.models import DecisionRequest, Probability
from poise.turn.speech import Utterance, UtteranceKind
from poise.turn.tooling import ToolPlan
from poise.values.agents import DEFAULT_APOLOGY, CompositionMode
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


def degraded(reply: poise.Reply) -> Mapping[str, str]:
    """Return what failed on a turn, with its reason."""
    assert reply.ledger is not None
    return {each.part: each.reason for each in reply.ledger.degradations}


# -- models --


async def test_embedder_that_fails_while_indexing_leaves_an_application_that_answers(
    open_application: Open, shop: Any
) -> None:
    scripted = ScriptedParts(embedder=ScriptedEmbedder(failures=[RuntimeError("no model file")]))
    async with open_application(scripted) as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Greeting",
            "Say hello",
            matcher="always",
            canned_responses=["Welcome."],
        )
        session = await app.open_session(agent)

        reply = await session.say("open?")

        assert reply.text == "Welcome."
        assert "no model file" in degraded(reply)["index"]
        published = app.runtime.catalogs.published(agent.id)
        assert published is not None
        assert "no model file" in published.failure


async def test_catalog_that_could_not_be_indexed_is_indexed_once_the_embedder_is_back(
    open_application: Open, shop: Any
) -> None:
    changed: list[anyio.Event] = [anyio.Event(), anyio.Event()]
    seen = iter(changed)

    async def on_catalog_changed(catalog: CatalogSnapshot) -> None:
        next(seen).set()

    scripted = ScriptedParts(embedder=ScriptedEmbedder(failures=[RuntimeError("not up yet")]))
    settings = {"engine": {"index_retry": 0.01}}
    async with open_application(scripted, settings=settings, hooks=[on_catalog_changed]) as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)
        with anyio.fail_after(10):
            await changed[1].wait()

        reply = await session.say("are you open?")

        assert reply.text == "We are open from nine to five."
        assert "index" not in degraded(reply)


async def test_embedder_that_fails_on_a_turn_degrades_it_and_the_next_turn_works(
    open_application: Open, shop: Any
) -> None:
    scripted = ScriptedParts(embedder=ScriptedEmbedder(failures=[None, OSError("gone")]))
    async with open_application(scripted) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == "Hm?"
        assert "gone" in degraded(reply)["discovery"]
        assert reply.ledger is not None
        assert [line.error is not None for line in reply.ledger.requests][:1] == [True]
        await shop.still_serves(session)


@pytest.mark.parametrize(
    "decisions",
    [
        ScriptedDecisionModel(discoverys_own, failures=[ProviderError("p", "m", "r", "down")]),
        ScriptedDecisionModel(discoverys_own, failures=[ValueError("odd")]),
    ],
    ids=["provider error", "any error"],
)
async def test_decision_model_that_fails_leaves_rules_undecided_and_never_says_no(
    open_application: Open, shop: Any, decisions: ScriptedDecisionModel
) -> None:
    """B-006, in spirit: every asked rule has a verdict, and none is a silent no."""
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open? balance? freeze?")

        assert reply.ledger is not None
        assert {line.fate for line in reply.ledger.lines} == {"undecided"}
        assert len(reply.ledger.lines) == 3
        assert "matching" in degraded(reply)
        assert shop.calls == []
        assert_session_laws(await session.events())


class TooFew(ScriptedDecisionModel):
    """Answers fewer questions than it was asked."""

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await super().decide(request))[:-1]


async def test_missing_verdicts_are_asked_for_again_and_what_stays_missing_is_undecided(
    open_application: Open, shop: Any
) -> None:
    """B-006."""
    decisions = TooFew(discoverys_own)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open? balance? freeze?")

        first, second = decisions.requests[:2]
        assert [each.id for each in second.questions] == [first.questions[-1].id]
        assert reply.ledger is not None
        fates = {line.subject: line.fate for line in reply.ledger.lines}
        missing = first.questions[-1].id
        assert fates.pop(missing) == "undecided"
        assert set(fates.values()) == {"matched"}
        (noted,) = (line.note for line in reply.ledger.requests if line.attempt == 2)
        assert noted == "asks again for 1 missing answers"


# -- tools --


@pytest.mark.parametrize("error", [ZeroDivisionError("no"), SystemExit(3), RuntimeError("{}")])
async def test_tool_that_raises_is_a_failed_call_and_the_agent_says_so(
    open_application: Open, shop: Any, error: BaseException
) -> None:
    async def fails() -> None:
        raise error

    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        shop.at_tool = fails

        reply = await session.say("my balance?")

        assert "couldn't do that" in reply.text
        assert reply.ledger is not None
        (call,) = reply.ledger.calls
        assert call.outcome == "failed"
        assert type(error).__name__ in call.detail
        await shop.still_serves(session)


async def test_tool_that_never_returns_is_unknown_after_its_own_timeout(
    open_application: Open, shop: Any
) -> None:
    @tool(timeout=0.02)
    async def wait_for_ever() -> None:
        await anyio.sleep_forever()

    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Wait", "Wait", signals=["wait"], tools=[wait_for_ever], canned_responses=["Done."]
        )
        session = await app.open_session(agent)

        reply = await session.say("wait for me")

        assert "Done." not in reply.text
        assert reply.ledger is not None
        assert [call.outcome for call in reply.ledger.calls] == ["unknown"]
        stages = [event.data["stage"] for event in reply.events if event.kind is EventKind.TOOL]
        assert stages == ["unknown"]
        await shop.still_serves(session)


@pytest.mark.parametrize(
    "returned",
    [object(), float("nan"), b"\xff", "x" * 9_000_000],
    ids=["object", "nan", "bytes", "9 MB"],
)
async def test_tool_that_returns_what_it_can_not_is_a_failed_call(
    open_application: Open, shop: Any, returned: object
) -> None:
    async def odd() -> Any:  # whatever the case is about
        return returned

    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy("Odd", "Call it", signals=["odd"], tools=[tool(odd)])
        session = await app.open_session(agent)

        reply = await session.say("odd")

        assert reply.ledger is not None
        assert [call.outcome for call in reply.ledger.calls] == ["failed"]
        await shop.still_serves(session)


# -- parts --


class FailingDiscoverer(ScriptedDiscoverer):
    """Fails at what a test names, on the first turn alone."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self._at = at

    async def discover(self, turn: Any, queries: Any) -> Any:
        if self._at == "discover" and turn.base == 0:
            raise LookupError("lost the index")
        if self._at == "strangers" and turn.base == 0:
            seen = await super().discover(turn, queries)
            strangers = [attrs.evolve(each, rule=RuleId("rule_stranger")) for each in seen[:1]]
            return [*strangers, *seen]
        return await super().discover(turn, queries)

    def prune(self, turn: Any, budget: Any) -> Any:
        if self._at == "prune":
            raise LookupError("can't prune")
        return super().prune(turn, budget)


@pytest.mark.parametrize("at", ["discover", "strangers"])
async def test_discoverer_that_fails_degrades_discovery_alone(
    open_application: Open, shop: Any, at: str
) -> None:
    async with open_application(ScriptedParts(discoverer=FailingDiscoverer(at))) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert "discovery" in degraded(reply)
        assert reply.messages
        await shop.still_serves(session)


async def test_discoverer_that_can_not_prune_leaves_a_working_set_that_grows(
    open_application: Open, shop: Any
) -> None:
    small = {"engine": {"working_set": 1, "working_set_after": 1}}
    parts = ScriptedParts(discoverer=FailingDiscoverer("prune"))
    async with open_application(parts, settings=small) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        await session.say("my balance?")

        reply = await session.say("where can I park?")

        assert "behind the shop" in reply.text
        assert "can't prune" in degraded(reply)["pruning"]


class Fails:
    """Raises from every method of a port, on the first turn alone."""

    def _check(self, turn: Any) -> None:
        if turn.base == 0:
            raise ZeroDivisionError("as told")


class FailingPlanner(Fails, Planner):
    async def plan(self, turn: Any) -> Any:
        self._check(turn)
        return Plan(effort=turn.effort)


class FailingTermFinder(Fails, TermFinder):
    async def find(self, turn: Any) -> Any:
        self._check(turn)
        return ()


class FailingToolCaller(Fails, ToolCaller):
    async def infer(self, tools: Any, turn: Any) -> Any:
        self._check(turn)
        return ToolPlan()


class FailingResolver(Resolver):
    def resolve(self, request: Any) -> Any:
        raise ZeroDivisionError("as told")


class FailingComposer(Fails, Composer):
    modes = frozenset(CompositionMode)

    async def compose(self, turn: Any, revision: Any = None) -> Any:
        self._check(turn)
        yield Utterance(UtteranceKind.MESSAGE, "behind the shop")


class EmptyComposer(FailingComposer):
    async def compose(self, turn: Any, revision: Any = None) -> Any:
        text = " " if turn.base == 0 else "behind the shop"
        yield Utterance(UtteranceKind.MESSAGE, text)


class FailingMatcher(Fails, Matcher):
    name = "failing"

    def __init__(self, at: str = "inquire") -> None:
        self._at = at

    def claims(self, candidate: Any, turn: Any) -> bool:
        if self._at == "claims":
            self._check(turn)
            return False
        return bool(turn.base == 0)

    async def inquire(self, candidates: Any, turn: Any) -> Any:
        if self._at == "inquire":
            self._check(turn)
        return []


def offering(port: type, factory: Callable[[], object]) -> object:
    """Return a plugin that offers `factory` as `failing`."""

    class Offering:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            offers.add(port, "failing", factory)

    return Offering()


@pytest.mark.parametrize(
    ("port", "factory", "chosen", "part"),
    [
        (Planner, FailingPlanner, {"planner": "failing"}, "planner"),
        (TermFinder, FailingTermFinder, {"term_finder": "failing"}, "term finder"),
        (Resolver, FailingResolver, {"resolver": "failing"}, "resolver"),
        (Matcher, FailingMatcher, {"matchers": ["failing", "decision_batch"]}, "matcher failing"),
        (
            Matcher,
            lambda: FailingMatcher("conclude"),
            {"matchers": ["failing", "decision_batch"]},
            "matcher failing",
        ),
        (
            Matcher,
            lambda: FailingMatcher("claims"),
            {"matchers": ["failing", "decision_batch"]},
            "matcher failing",
        ),
    ],
    ids=["planner", "term finder", "resolver", "matcher", "matcher's verdicts", "matcher's claims"],
)
async def test_part_that_fails_is_a_degradation_and_the_turn_goes_on(
    open_application: Open,
    shop: Any,
    port: type,
    factory: Callable[[], object],
    chosen: dict[str, Any],
    part: str,
) -> None:
    async with open_application(None, offering(port, factory), settings=chosen) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert part in degraded(reply)
        assert reply.messages
        assert reply.text != DEFAULT_APOLOGY
        await shop.still_serves(session)


async def test_tool_caller_that_fails_calls_nothing(open_application: Open, shop: Any) -> None:
    plugin = offering(ToolCaller, FailingToolCaller)
    async with open_application(None, plugin, settings={"tool_caller": "failing"}) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert "tool caller" in degraded(reply)
        assert shop.calls == []
        await shop.still_serves(session)


@pytest.mark.parametrize("composer", [FailingComposer, EmptyComposer])
async def test_composer_that_fails_is_answered_for_with_the_apology(
    open_application: Open, shop: Any, composer: Callable[[], object]
) -> None:
    plugin = offering(Composer, composer)
    async with open_application(None, plugin, settings={"composers": ["failing"]}) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == DEFAULT_APOLOGY
        assert "turn" in degraded(reply)
        error = next(event for event in reply.events if event.data.get("status") == "error")
        assert error.data["detail"]
        await shop.still_serves(session)
