"""What breaks, breaks alone: each fault has a clear outcome, and the session lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
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
    Rule,
    Session,
    TermFinder,
    ToolCaller,
    hookimpl,
    tool,
)
from poise.errors import (
    ConfigError,
    ContractError,
    HookError,
    InvalidValueError,
    PluginLoadError,
    ProviderError,
    UnknownOfferError,
)
from poise.memory.stores import MemoryStores
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.hook_probe import HookProbe
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder
from poise.testing.scripted_discovery import ScriptedAnnotator, ScriptedDiscoverer
from poise.testing.session_laws import assert_session_laws, ledgers
from poise.turn.context import Plan
from poise.turn.models import DecisionRequest, Probability
from poise.turn.speech import Utterance, UtteranceKind
from poise.turn.tooling import ToolPlan
from poise.values.agents import DEFAULT_APOLOGY, CompositionMode
from poise.values.catalog import Annotation
from poise.values.clock import SystemClock
from poise.values.ids import RuleId

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

ODD_TEXTS = {
    "braces": "{}",
    "field": "{name}",
    "double braces": "{{…}}",
    "expression": "{{ 7 * 7 }}",
    "statement": "{% for x in y %}",
    "format": "%s {0!r:>10}",
    "attributes": "{std.__class__.__mro__}",
    "quotes": "\"'`\\",
    "line breaks": "a\r\nb\u2028c",
    "right to left": "مرحبا {} 你好",
}


async def parking_still_works(session: Session) -> None:
    """Assert that the next turn of a session answers as ever."""
    reply = await session.say("where can I park?")
    assert "behind the shop" in reply.text
    assert_session_laws(await session.events())


def degraded(reply: poise.Reply) -> Mapping[str, str]:
    """Return what failed on a turn, with its reason."""
    assert reply.ledger is not None
    return {each.part: each.reason for each in reply.ledger.degradations}


# -- at the start --


async def test_bad_rule_names_the_rule_and_the_field(open_application: Open, shop: Any) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)

        with pytest.raises(InvalidValueError, match=r"Refunds.*signals"):
            await agent.create_policy("Refunds", "Pay back", signals=["  "])

        await parking_still_works(session)


async def test_bad_template_names_the_place(open_application: Open, shop: Any) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)

        with pytest.raises(InvalidValueError, match="template"):
            await agent.create_canned_response("Dear {_secret}")

        await parking_still_works(session)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[engine\n", "poise.toml"),
        ("[engine]\nturn_dedline = 3\n", "turn_dedline"),
        ("[engine]\nturn_deadline = -1\n", "turn_deadline"),
        ('discoverer = "crystal ball"\n', "crystal ball"),
    ],
)
async def test_bad_settings_file_is_an_error_that_names_the_key(
    open_application: Open, tmp_path: Path, content: str, named: str
) -> None:
    file = tmp_path / "poise.toml"
    file.write_text(content)

    with pytest.raises((ConfigError, UnknownOfferError), match=named):
        async with open_application(config=file):
            pass


async def test_plugin_that_can_not_load_is_named_with_its_mend(open_application: Open) -> None:
    class Broken:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            raise OSError("no disk")

    with pytest.raises(PluginLoadError, match=r"Broken.*no disk.*plugins\.blocked"):
        async with open_application(None, Broken()):
            pass

    async with open_application(None, Broken(), settings={"plugins": {"blocked": ["Broken"]}}):
        pass


async def test_offer_that_can_not_be_imported_is_named(open_application: Open) -> None:
    class Offering:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            offers.add(Resolver, "absent", "poise_no_such_module:Thing")

    with pytest.raises(PluginLoadError, match="poise_no_such_module"):
        async with open_application(None, Offering(), settings={"resolver": "absent"}):
            pass


class BrokenStores(MemoryStores):
    """A storage that does not start, and says whether it was stopped."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.stopped = False

    async def start(self) -> None:
        raise OSError("no database")

    async def stop(self) -> None:
        self.stopped = True


async def test_storage_that_does_not_start_is_an_error_and_is_stopped(
    open_application: Open,
) -> None:
    """B-109."""
    stores = BrokenStores()

    with pytest.raises(OSError, match="no database"):
        async with open_application(stores=stores):
            pass

    assert stores.stopped


def _no_provider() -> object:
    raise OSError("no weights")


@pytest.mark.parametrize(
    ("port", "factory", "named"),
    [(Planner, _no_provider, "no weights"), (Planner, dict, "Planner 'failing'")],
    ids=["raises", "makes something else"],
)
async def test_factory_that_fails_is_an_error_at_the_start(
    open_application: Open, port: type, factory: Callable[[], object], named: str
) -> None:
    """B-109."""
    with pytest.raises((OSError, ContractError), match=named):
        async with open_application(None, offering(port, factory), settings={"planner": "failing"}):
            pass


async def test_error_in_the_authors_own_code_comes_out_and_closes_the_application(
    open_application: Open, shop: Any
) -> None:
    """B-109."""

    async def install(agent: poise.Agent) -> None:
        raise ZeroDivisionError("my mistake")

    app = open_application()
    with pytest.raises(ZeroDivisionError, match="my mistake"):
        async with app:
            await (await shop.open(app)).install(install)

    with pytest.raises(InvalidValueError, match="not open"):
        await app.start()


async def test_annotator_that_fails_is_an_error_and_what_served_before_goes_on(
    open_application: Open, shop: Any
) -> None:
    """B-109."""
    annotator = FailingAnnotator()
    async with open_application(ScriptedParts(annotator=annotator)) as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)
        annotator.fails = True
        await agent.create_policy("More", "Say more", signals=["more"])

        with pytest.raises(ZeroDivisionError):
            await app.start()

        annotator.fails = False
        await parking_still_works(session)


class FailingAnnotator(ScriptedAnnotator):
    fails = False

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        if self.fails:
            raise ZeroDivisionError("as told")
        return await super().annotate(rules)


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
        assert "no index" in degraded(reply)["discovery"]
        published = app.runtime.catalogs.published(agent.id)
        assert published is not None
        assert "no model file" in published.failure


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
        await parking_still_works(session)


class TooFew(ScriptedDecisionModel):
    """Answers fewer questions than it was asked."""

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        return (await super().decide(request))[:-1]


@pytest.mark.parametrize(
    "decisions",
    [
        ScriptedDecisionModel(discoverys_own, failures=[ProviderError("p", "m", "r", "down")]),
        ScriptedDecisionModel(discoverys_own, failures=[ValueError("odd")]),
        TooFew(discoverys_own),
    ],
    ids=["provider error", "any error", "too few answers"],
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
        await parking_still_works(session)


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
        await parking_still_works(session)


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
        await parking_still_works(session)


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
        await parking_still_works(session)


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
        await parking_still_works(session)


async def test_tool_caller_that_fails_calls_nothing(open_application: Open, shop: Any) -> None:
    plugin = offering(ToolCaller, FailingToolCaller)
    async with open_application(None, plugin, settings={"tool_caller": "failing"}) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert "tool caller" in degraded(reply)
        assert shop.calls == []
        await parking_still_works(session)


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
        await parking_still_works(session)


# -- hooks --

NOTED = (
    "on_acknowledging",
    "on_acknowledged",
    "on_preparing",
    "on_preparation_iteration_start",
    "on_preparation_iteration_end",
    "on_rule_selected",
    "on_model_request",
    "on_model_response",
    "on_tool_result",
    "on_generating_messages",
)
FOLDED_INTO_THE_REPLY = ("on_draft_generated", "on_message_generated")


async def _raises(_arguments: Mapping[str, Any]) -> None:
    raise ZeroDivisionError("as told")


@pytest.mark.parametrize("hook", NOTED)
async def test_hook_that_raises_is_a_degradation_that_names_the_plugin(
    open_application: Open, shop: Any, hook: str
) -> None:
    probe = HookProbe("clumsy", {hook: _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert reply.text == "You have 12 euros left."
        assert degraded(reply)[f"{hook} of clumsy"] == "as told"
        await parking_still_works(session)


@pytest.mark.parametrize("hook", ["on_messages_emitted", "on_rule_message"])
async def test_hook_that_raises_after_the_reply_takes_nothing_back(
    open_application: Open, shop: Any, hook: str
) -> None:
    async with open_application(None, HookProbe("clumsy", {hook: _raises})) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == "We are open from nine to five."
        await parking_still_works(session)


@pytest.mark.parametrize("hook", FOLDED_INTO_THE_REPLY)
async def test_hook_that_raises_over_the_reply_holds_it_back(
    open_application: Open, shop: Any, hook: str
) -> None:
    probe = HookProbe("clumsy", {hook: _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("open?")

        assert reply.text == DEFAULT_APOLOGY
        assert f"hook {hook} of plugin 'clumsy'" in degraded(reply)["turn"]
        assert len(probe.at("on_error")) == 1
        probe.answers.clear()
        await parking_still_works(session)


async def test_hook_that_raises_over_a_tool_call_refuses_it(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe("clumsy", {"on_tool_call": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("freeze my card")

        assert shop.calls == []
        assert reply.ledger is not None
        assert [(call.outcome, "clumsy" in call.detail) for call in reply.ledger.calls] == [
            ("refused", True)
        ]
        await parking_still_works(session)


async def test_hook_that_never_answers_over_a_tool_call_refuses_it(
    open_application: Open, shop: Any
) -> None:
    async def forever(_arguments: Mapping[str, Any]) -> None:
        await anyio.sleep_forever()

    probe = HookProbe("slow", {"on_tool_call": forever})
    async with open_application(None, probe, settings={"engine": {"tool_timeout": 0.02}}) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("freeze my card")

        assert shop.calls == []
        assert reply.ledger is not None
        assert [call.outcome for call in reply.ledger.calls] == ["refused"]
        await parking_still_works(session)


async def test_hook_that_raises_over_an_event_refuses_it(open_application: Open, shop: Any) -> None:
    probe = HookProbe("clumsy", {"on_event": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        with pytest.raises(HookError, match="clumsy"):
            await session.say("open?")

        assert await session.events() == ()
        probe.answers.clear()
        await parking_still_works(session)


async def test_hook_that_raises_over_an_error_changes_nothing(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe("clumsy", {"on_draft_generated": _raises, "on_error": _raises})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        assert (await session.say("open?")).text == DEFAULT_APOLOGY

        probe.answers.clear()
        await parking_still_works(session)


@pytest.mark.parametrize("hook", ["on_preparing", "on_draft_generated", "on_tool_call"])
async def test_hook_that_returns_what_it_may_not_is_named(
    open_application: Open, shop: Any, hook: str
) -> None:
    async def odd(_arguments: Mapping[str, Any]) -> str:
        return "odd"

    probe = HookProbe("clumsy", {hook: odd})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say("my balance?")

        assert reply.ledger is not None
        told = [*degraded(reply).values(), *(call.detail for call in reply.ledger.calls)]
        assert any("clumsy" in each and "returned 'odd'" in each for each in told)
        probe.answers.clear()
        await parking_still_works(session)


# -- texts --


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
async def test_empty_message_is_refused_and_nothing_is_stored(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        with pytest.raises(InvalidValueError, match="empty"):
            await session.say(text)

        assert await session.events() == ()
        await parking_still_works(session)


@pytest.mark.parametrize(
    "text",
    [
        "open " * 200_000,
        "o\0p\0e\0n",
        "open \ud800 \udfff",
        "\u202eopen\u202c",
        "👩‍👩‍👧‍👦" * 100,
        *ODD_TEXTS.values(),
    ],
    ids=["1 MB", "null bytes", "lone surrogates", "overrides", "emoji", *ODD_TEXTS],
)
async def test_customer_may_write_anything_and_it_is_kept_verbatim(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))

        reply = await session.say(text)

        assert reply.messages
        assert reply.text != DEFAULT_APOLOGY
        assert not degraded(reply)
        assert (await session.events())[0].text == text
        await parking_still_works(session)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_braces_in_a_rule_are_text(open_application: Open, shop: Any, text: str) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy(
            f"Odd {text}",
            f"Say {text}",
            when=f"the customer says {text}",
            signals=[f"odd {text}"],
            canned_responses=["Odd indeed."],
        )
        await agent.create_term(f"term {text}", f"means {text}")
        session = await app.open_session(agent)

        reply = await session.say(f"odd {text}")

        assert reply.text == "Odd indeed."
        assert not degraded(reply)
        await parking_still_works(session)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
async def test_braces_in_a_value_are_said_as_they_stand_and_never_filled(
    open_application: Open, shop: Any, text: str
) -> None:
    """B-111, its deterministic part: what a tool, a name or a variable says is data."""

    async def look_it_up() -> poise.ToolResult:
        return poise.ToolResult(data=text, fields={"found": text})

    async with open_application() as app:
        agent = await shop.open(app)
        plan = await agent.create_variable("plan")
        await agent.create_policy(
            "Odd",
            "Say it",
            signals=["odd"],
            tools=[tool(look_it_up)],
            canned_responses=["{std.customer.name}|{found}|{plan}"],
        )
        customer = await app.create_customer(f"Ann {text}", id="ann")
        await plan.set_value(customer, text)
        session = await app.open_session(agent, customer)

        reply = await session.say("odd")

        assert not degraded(reply)
        said = "".join(reply.text.split())
        expected = "".join(f"Ann {text}|{text}|{text}".split())
        assert said == expected
        await parking_still_works(session)


@pytest.mark.parametrize("text", ["{}", "{{…}}", "{unknown}", "{{ unknown }}", "a {", "} b"])
async def test_template_with_odd_braces_is_said_or_passed_over_but_never_half_filled(
    open_application: Open, shop: Any, text: str
) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Odd", "Say it", signals=["odd"], canned_responses=[f"Odd: {text}"]
        )
        session = await app.open_session(agent)

        reply = await session.say("odd")

        expected = "Hm?" if "unknown" in text else f"Odd: {text}"
        assert reply.text == expected
        await parking_still_works(session)


async def test_every_account_of_these_sessions_can_be_read_again(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        for text in ODD_TEXTS.values():
            await session.say(f"{text} open?")

        assert len(ledgers(await session.events())) == len(ODD_TEXTS)
