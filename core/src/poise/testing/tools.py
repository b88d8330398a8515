"""What every tool service, extractor and tool caller promises, as suites to inherit."""

from __future__ import annotations

import json
import time
from typing import Any

import attrs
import pytest

from poise.ports.tools import Extractor, ToolCaller, ToolService
from poise.testing.turns import AGENT, SESSION, catalog_of, policy, turn_of
from poise.turn.context import TurnContext
from poise.turn.tooling import Field, OfferedTool, ToolOutcome, call_key
from poise.values.catalog import Binding
from poise.values.customers import Customer
from poise.values.events import Source
from poise.values.ids import ToolId, TurnId
from poise.values.tools import (
    ArgumentSource,
    Parameter,
    ParameterKind,
    Tool,
    ToolCall,
    ToolContext,
    ToolResult,
)

ORDER = Parameter("order_id", ParameterKind.STRING, pattern=r"ORD-\d{5}")
"""A parameter that any extractor can recognise in `order_id=ORD-12345`."""


def tool_named(name: str, *parameters: Parameter, **fields: Any) -> Tool:  # any field of `Tool`
    """Return a tool of the test agent, run by the service `functions`."""
    fields.setdefault("service", "functions")
    return Tool(ToolId(f"tool_{name}"), AGENT.id, name, parameters=parameters, **fields)


def offered(tool: Tool, *rules: str) -> OfferedTool:
    """Return `tool` as offered by policies of those titles; default: one called `rule`."""
    return OfferedTool(tool, tuple(policy(each).id for each in rules or ("rule",)))


def call_of(tool: Tool, **arguments: Any) -> ToolCall:  # any JSON
    """Return a call of `tool` in the first turn of the test session."""
    return ToolCall(call_key(SESSION, 0, tool.name, arguments, 0), tool.id, arguments)


def context_of(key: str = "key") -> ToolContext:
    """Return the context of a call of the test agent for a guest."""
    return ToolContext(
        tenant="local",
        agent=AGENT.id,
        customer=Customer.guest().id,
        session=SESSION,
        turn=TurnId("turn_test"),
        key=key,
    )


@attrs.frozen
class ToolSample:
    """A call that a service can run, and what it has to give."""

    tool: Tool
    call: ToolCall
    data: Any  # any JSON
    binding: Binding | None = None
    failing: Binding | None = None


class ToolServiceConformance:
    """What a tool service promises. A remote one fills `sample` with a call of its own."""

    @pytest.fixture
    def subject(self) -> ToolService:
        raise NotImplementedError("fill `subject` with the service to be tested")

    @pytest.fixture
    def sample(self, subject: ToolService) -> ToolSample:
        """Return the call to try: by default an author's functions."""

        def repeat(text: str, times: int = 2) -> str:
            return text * times

        def fail(text: str, times: int = 2) -> str:
            raise RuntimeError(f"no {text}")

        tool = tool_named(
            "repeat",
            Parameter("text", ParameterKind.STRING),
            Parameter("times", ParameterKind.INTEGER, required=False, default=2),
            service=subject.name,
        )
        return ToolSample(tool, call_of(tool, text="ab", times=3), "ababab", repeat, fail)

    @pytest.mark.anyio
    async def test_it_has_a_name_and_lists_its_own_tools_under_it(
        self, subject: ToolService
    ) -> None:
        listed = await subject.list_tools()

        assert subject.name, "a service has a name, since tools refer to it: set `name`"
        assert all(tool.service == subject.name for tool in listed), (
            "a listed tool names another service: set `service` to the service's own name"
        )
        names = [tool.name for tool in listed]
        assert len(names) == len(set(names)), "two listed tools have one name: models can't choose"

    @pytest.mark.anyio
    async def test_a_described_tool_is_the_same_tool(
        self, subject: ToolService, sample: ToolSample
    ) -> None:
        described = await subject.describe(sample.tool, context_of())

        assert (described.id, described.name, described.service) == (
            sample.tool.id,
            sample.tool.name,
            sample.tool.service,
        ), "describe() changed who the tool is: it may change texts, choices and defaults alone"

    @pytest.mark.anyio
    async def test_a_call_gives_a_result_of_json(
        self, subject: ToolService, sample: ToolSample
    ) -> None:
        result = await subject.call(sample.tool, sample.call, context_of(), sample.binding)

        assert isinstance(result, ToolResult), "call() returns a ToolResult: wrap plain values"
        assert result.error is None
        assert json.loads(json.dumps(result.data)) == sample.data, (
            "the result's data is not what the tool gives: check arguments and conversion"
        )

    @pytest.mark.anyio
    async def test_a_call_leaves_the_arguments_as_they_were(
        self, subject: ToolService, sample: ToolSample
    ) -> None:
        before = dict(sample.call.arguments)

        await subject.call(sample.tool, sample.call, context_of(), sample.binding)

        assert dict(sample.call.arguments) == before, "call() changed the call: copy what you alter"

    @pytest.mark.anyio
    async def test_what_a_tool_raises_passes_through(
        self, subject: ToolService, sample: ToolSample
    ) -> None:
        if sample.failing is None:
            pytest.skip("the sample has no failing binding")

        with pytest.raises(RuntimeError, match="no ab"):
            await subject.call(sample.tool, sample.call, context_of(), sample.failing)

    @pytest.mark.anyio
    async def test_nobody_knows_the_outcome_of_a_call_that_was_never_made(
        self, subject: ToolService, sample: ToolSample
    ) -> None:
        never = attrs.evolve(sample.call, key="session:0:never:made:0")

        assert await subject.reconcile(never) is None, (
            "reconcile() invented an outcome: answer None for a key that you don't know"
        )


class ExtractorConformance:
    """What an extractor promises: what is said verbatim, and nothing that is not."""

    @pytest.fixture
    def subject(self) -> Extractor:
        raise NotImplementedError("fill `subject` with the extractor to be tested")

    @pytest.mark.anyio
    async def test_it_finds_what_is_said_with_its_verbatim_source(self, subject: Extractor) -> None:
        turn = _turn("My order_id=ORD-12345 is late")

        (fact,) = await subject.extract([Field(ORDER, "track")], turn)

        assert fact.field == "order_id"
        assert fact.value == "ORD-12345"
        assert fact.offset == 0, "a fact from a message names the event's offset"
        assert fact.source, "a fact names its source"
        assert fact.source in turn.history.events[0].text, "the source is not verbatim: quote it"

    @pytest.mark.anyio
    async def test_nothing_wanted_gives_nothing(self, subject: Extractor) -> None:
        assert list(await subject.extract([], _turn("order_id=ORD-12345"))) == []

    @pytest.mark.anyio
    async def test_what_is_not_said_is_left_out(self, subject: Extractor) -> None:
        wanted = [
            Field(ORDER),
            Field(Parameter("amount", ParameterKind.NUMBER)),
            Field(Parameter("day", ParameterKind.DATE)),
            Field(Parameter("plan", ParameterKind.STRING, choices=("gold", "silver"))),
            Field(Parameter("note", ParameterKind.STRING)),
            Field(Parameter("agreed", ParameterKind.BOOLEAN)),
        ]

        facts = await subject.extract(wanted, _turn("I need some help with my order please"))

        assert list(facts) == [], "a value was guessed: none is better than a guess"

    @pytest.mark.anyio
    async def test_two_competing_readings_are_left_out(self, subject: Extractor) -> None:
        turn = _turn("order_id=ORD-11111 or order_id=ORD-22222")

        assert list(await subject.extract([Field(ORDER)], turn)) == [], (
            "one of two readings was chosen: leave both out"
        )

    @pytest.mark.anyio
    async def test_the_newest_message_decides(self, subject: Extractor) -> None:
        turn = _turn(
            "order_id=ORD-11111", (Source.AI_AGENT, "It is on its way."), "order_id=ORD-22222"
        )

        (fact,) = await subject.extract([Field(ORDER)], turn)

        assert (fact.value, fact.offset) == ("ORD-22222", 2)

    @pytest.mark.anyio
    async def test_what_the_agent_said_is_no_source(self, subject: Extractor) -> None:
        turn = _turn("hello", (Source.AI_AGENT, "Is it order_id=ORD-12345?"), "I am not sure")

        assert list(await subject.extract([Field(ORDER)], turn)) == []

    @pytest.mark.anyio
    async def test_a_variable_serves_the_parameter_of_its_name(self, subject: Extractor) -> None:
        turn = _turn("where is it?", variables={"order_id": "ORD-33333"})

        (fact,) = await subject.extract([Field(ORDER)], turn)

        assert fact.value == "ORD-33333"
        assert fact.offset is None, "a variable stands in no event"
        assert "order_id" in fact.source, "the source of a variable names it"

    @pytest.mark.anyio
    async def test_sources_are_respected(self, subject: Extractor) -> None:
        from_context = attrs.evolve(ORDER, source=ArgumentSource.CONTEXT)
        from_customer = attrs.evolve(ORDER, source=ArgumentSource.CUSTOMER)

        said = await subject.extract([Field(from_context)], _turn("order_id=ORD-12345"))
        known = await subject.extract(
            [Field(from_customer)], _turn("hello", variables={"order_id": "ORD-33333"})
        )

        assert list(said) == [], "a CONTEXT parameter was read from the customer's words"
        assert list(known) == [], "a CUSTOMER parameter was taken from a variable"

    @pytest.mark.anyio
    async def test_the_same_turn_gives_the_same_facts(self, subject: Extractor) -> None:
        turn = _turn("order_id=ORD-12345")

        first = await subject.extract([Field(ORDER)], turn)

        assert list(await subject.extract([Field(ORDER)], turn)) == list(first)

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ["", "\0\0", "{{order_id}} {}", "order_id=", "٣" * 50])
    async def test_odd_texts_give_nothing_and_no_error(self, subject: Extractor, text: str) -> None:
        assert list(await subject.extract([Field(ORDER)], _turn(text))) == []

    @pytest.mark.anyio
    async def test_a_huge_message_costs_little(self, subject: Extractor) -> None:
        turn = _turn("12 or ORD-1, 3 March, " * 50_000)
        wanted = [
            Field(ORDER),
            Field(Parameter("amount", ParameterKind.NUMBER)),
            Field(Parameter("day", ParameterKind.DATE)),
        ]
        started = time.perf_counter()

        await subject.extract(wanted, turn)

        assert time.perf_counter() - started < 2.0, (
            "1 MB took seconds: read only the head and the tail of a long message"
        )


class ToolCallerConformance:
    """What a tool caller promises: calls that can be traced, and a reason for every other tool."""

    @pytest.fixture
    def subject(self) -> ToolCaller:
        raise NotImplementedError("fill `subject` with the tool caller to be tested")

    @pytest.mark.anyio
    async def test_nothing_offered_gives_an_empty_plan(self, subject: ToolCaller) -> None:
        plan = await subject.infer([], _turn("hello"))

        assert (plan.calls, dict(plan.already), plan.insights) == ((), {}, ())

    @pytest.mark.anyio
    async def test_a_call_names_its_tool_its_rules_and_the_source_of_every_argument(
        self, subject: ToolCaller
    ) -> None:
        track = tool_named("track", ORDER)
        turn = _turn("Where is order_id=ORD-12345?")

        plan = await subject.infer([offered(track, "late orders")], turn)

        (call,) = plan.calls
        assert call.tool == track.id
        assert dict(call.arguments) == {"order_id": "ORD-12345"}
        assert set(call.sources) == set(call.arguments), "an argument has no source: trace it"
        assert call.why == (policy("late orders").id,), "`why` names the rules that offer the tool"
        assert call.key == call_key(SESSION, turn.base, "track", call.arguments, 0), (
            "the key is not the one that a restarted turn computes: use call_key"
        )

    @pytest.mark.anyio
    async def test_a_missing_argument_means_no_call_and_an_insight(
        self, subject: ToolCaller
    ) -> None:
        plan = await subject.infer([offered(tool_named("track", ORDER))], _turn("Where is it?"))

        assert plan.calls == (), "a call was made without a required argument"
        (insight,) = plan.insights
        assert insight.tool == "track"
        assert [each.name for each in insight.missing] == ["order_id"]

    @pytest.mark.anyio
    async def test_an_absent_optional_argument_holds_nothing_up(self, subject: ToolCaller) -> None:
        brand = Parameter("brand", ParameterKind.STRING, required=False)
        search = tool_named("search", ORDER, brand)

        plan = await subject.infer([offered(search)], _turn("order_id=ORD-12345"))

        assert [dict(call.arguments) for call in plan.calls] == [
            {"order_id": "ORD-12345", "brand": None}
        ]

    @pytest.mark.anyio
    async def test_the_same_turn_gives_the_same_plan(self, subject: ToolCaller) -> None:
        tools = [offered(tool_named("track", ORDER))]
        turn = _turn("order_id=ORD-12345")

        assert await subject.infer(tools, turn) == await subject.infer(tools, turn)

    @pytest.mark.anyio
    async def test_a_turn_never_makes_one_call_twice(self, subject: ToolCaller) -> None:
        tools = [offered(tool_named("track", ORDER))]
        turn = _turn("order_id=ORD-12345")
        (made,) = (await subject.infer(tools, turn)).calls
        outcome = ToolOutcome(made, "track", result=ToolResult(data="on its way"))

        plan = await subject.infer(tools, attrs.evolve(turn, results=(outcome,)))

        assert plan.calls == (), "a call of this turn was planned again"
        assert dict(plan.already) == {"track": made.key}, "`already` names the call that was made"

    @pytest.mark.anyio
    async def test_every_tool_has_one_fate(self, subject: ToolCaller) -> None:
        tools = [
            offered(tool_named("track", ORDER)),
            offered(tool_named("refund", ORDER, Parameter("reason", ParameterKind.STRING))),
        ]

        plan = await subject.infer(tools, _turn("order_id=ORD-12345"))

        called = [call.tool.removeprefix("tool_") for call in plan.calls]
        fates = [*called, *plan.already, *(insight.tool for insight in plan.insights)]
        assert sorted(fates) == ["refund", "track"], (
            "a tool has no fate, or two: it is called, or already there, or explained"
        )


def _turn(*said: str | tuple[Source, str], **fields: Any) -> TurnContext:  # any field of a turn
    return turn_of(catalog_of(), *said, **fields)
