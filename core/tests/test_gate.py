"""The gate: what it refuses, what it runs, and what it makes of whatever a tool does."""

from __future__ import annotations

import anyio
import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.engine.gate import ToolGate
from poise.testing.clock import FrozenClock
from poise.testing.scripted_tools import ScriptedToolService
from poise.testing.tools import call_of, offered, tool_named
from poise.testing.turns import catalog_of, turn_of
from poise.turn.control import Bail
from poise.turn.state import RecordedCall, SessionState
from poise.turn.tooling import call_key
from poise.values.customers import Customer
from poise.values.ids import CustomerId, SessionId, ToolId
from poise.values.tools import Parameter, ParameterKind, ToolCall, ToolResult

pytestmark = pytest.mark.anyio

PRESIDENT = tool_named("get_president", Parameter("country", ParameterKind.STRING))
SEARCH = tool_named(
    "search",
    Parameter("q", ParameterKind.STRING),
    Parameter("brand", ParameterKind.STRING, required=False),
)
TRANSFER = tool_named("transfer", Parameter("amount", ParameterKind.NUMBER), consequential=True)


async def agreed(call, turn):
    return None


def gate_of(service, authorize=agreed, **settings):
    return ToolGate({service.name: service}, authorize=authorize, clock=FrozenClock(), **settings)


def turn_offering(*tools, declared=(), **fields):
    snapshot = catalog_of(tools=[*tools, *declared], bindings=fields.pop("bindings", None))
    return turn_of(snapshot, "hello", offered=tuple(offered(each) for each in tools), **fields)


def recorded(tool, stage, **fields):
    return RecordedCall(tool.name, stage, 3, **fields)


# -- what is refused --


async def test_unknown_tool_is_refused_and_named():
    """B-043: a call of a tool that does not exist is an answer, not an exception."""
    service = ScriptedToolService()
    call = ToolCall("key", ToolId("get_president"), {})

    outcome = await gate_of(service).call(call, turn_offering())

    assert outcome.refusal == "there is no tool 'get_president' in this agent's catalog"
    assert outcome.tool == "get_president"
    assert service.calls == []


async def test_tool_that_no_active_rule_offers_is_refused():
    """B-044: a real tool out of its place is refused, with an outcome that can be recorded."""
    service = ScriptedToolService({"search": lambda call, context: "found"})
    turn = turn_offering(PRESIDENT, declared=[SEARCH])

    outcome = await gate_of(service).call(call_of(SEARCH, q="tea"), turn)

    assert outcome.refusal == "tool 'search' is not offered now: no active rule has it"
    assert outcome.call.key == call_of(SEARCH, q="tea").key
    assert service.calls == []


async def test_argument_outside_the_schema_is_refused():
    service = ScriptedToolService({"search": lambda call, context: "found"})

    outcome = await gate_of(service).call(call_of(SEARCH, q=5), turn_offering(SEARCH))

    assert outcome.refusal == "tool 'search': q must be a text, not 5"
    assert service.calls == []


async def test_choices_are_those_of_the_tool_as_described_for_this_customer():
    described = attrs.evolve(
        SEARCH, parameters=(attrs.evolve(SEARCH.parameters[0], choices=("tea",)),)
    )
    turn = attrs.evolve(turn_offering(SEARCH), offered=(offered(described),))

    outcome = await gate_of(ScriptedToolService()).call(call_of(SEARCH, q="beer"), turn)

    assert outcome.refusal == "tool 'search': q must be one of tea, not 'beer'"


async def test_tool_of_a_service_that_is_not_there_is_refused():
    remote = tool_named("remote", service="mcp")

    outcome = await gate_of(ScriptedToolService()).call(call_of(remote), turn_offering(remote))

    assert "'mcp', which this application does not have; it has: functions" in outcome.refusal


async def test_absent_optional_argument_runs_with_none():
    """B-034."""
    service = ScriptedToolService({"search": lambda call, context: dict(call.arguments)})

    outcome = await gate_of(service).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))

    assert outcome.succeeded
    assert outcome.result.data == {"q": "tea", "brand": None}


# -- authorisation --


async def test_hook_refuses_with_its_reason():
    async def refuse(call, turn):
        return Bail("after hours")

    service = ScriptedToolService({"search": lambda call, context: "found"})

    outcome = await gate_of(service, refuse).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))

    assert outcome.refusal == "after hours"
    assert service.calls == []


async def test_failing_hook_refuses():
    async def fail(call, turn):
        raise RuntimeError("no such policy server")

    outcome = await gate_of(ScriptedToolService(), fail).call(
        call_of(SEARCH, q="tea"), turn_offering(SEARCH)
    )

    assert outcome.refusal == "could not be authorised: no such policy server"


async def test_replaced_call_is_what_runs():
    async def replace(call, turn):
        return attrs.evolve(call, arguments={"q": "green tea"})

    service = ScriptedToolService({"search": lambda call, context: call.arguments["q"]})

    outcome = await gate_of(service, replace).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))

    assert outcome.result.data == "green tea"
    assert outcome.call.arguments["q"] == "green tea"


@pytest.mark.parametrize("change", [{"arguments": {"q": 1}}, {"tool": ToolId("tool_other")}])
async def test_replaced_call_passes_the_gate_again(change):
    async def replace(call, turn):
        return attrs.evolve(call, **change)

    service = ScriptedToolService({"search": lambda call, context: "found"})

    outcome = await gate_of(service, replace).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))

    assert outcome.refusal
    assert service.calls == []


# -- what the log knows --


async def test_finished_call_is_answered_from_the_log():
    service = ScriptedToolService({"transfer": lambda call, context: "done twice"})
    call = call_of(TRANSFER, amount=5)
    state = SessionState(calls={call.key: recorded(TRANSFER, "finished", data={"id": 7})})

    outcome = await gate_of(service).call(call, turn_offering(TRANSFER, state=state))

    assert (outcome.reused, outcome.result.data, outcome.offset) == (True, {"id": 7}, 3)
    assert service.calls == []


async def test_finished_failure_is_answered_from_the_log():
    call = call_of(TRANSFER, amount=5)
    state = SessionState(calls={call.key: recorded(TRANSFER, "finished", error="no funds")})

    outcome = await gate_of(ScriptedToolService()).call(call, turn_offering(TRANSFER, state=state))

    assert (outcome.reused, outcome.result, outcome.error) == (True, None, "no funds")


@pytest.mark.parametrize("stage", ["started", "unknown"])
async def test_lost_outcome_of_a_change_is_not_tried_again(stage):
    service = ScriptedToolService({"transfer": lambda call, context: "done twice"})
    call = call_of(TRANSFER, amount=5)
    state = SessionState(calls={call.key: recorded(TRANSFER, stage)})

    outcome = await gate_of(service).call(call, turn_offering(TRANSFER, state=state))

    assert outcome.is_unknown
    assert "not tried again" in outcome.error
    assert service.calls == []


async def test_lost_outcome_is_taken_from_the_service_that_knows_it():
    call = call_of(TRANSFER, amount=5)
    service = ScriptedToolService(outcomes={call.key: ToolResult(data={"id": 7})})
    state = SessionState(calls={call.key: recorded(TRANSFER, "unknown")})

    outcome = await gate_of(service).call(call, turn_offering(TRANSFER, state=state))

    assert outcome.result.data == {"id": 7}
    assert service.calls == []


async def test_lost_look_up_is_made_again():
    service = ScriptedToolService({"search": lambda call, context: "found"})
    call = call_of(SEARCH, q="tea")
    state = SessionState(calls={call.key: recorded(SEARCH, "unknown")})

    outcome = await gate_of(service).call(call, turn_offering(SEARCH, state=state))

    assert outcome.result.data == "found"


# -- what a tool does --


@pytest.mark.parametrize("error", [RuntimeError("bank is closed"), SystemExit("bank is closed")])
async def test_exception_becomes_an_error_that_names_the_tool(error):
    def fail(call, context):
        raise error

    outcome = await gate_of(ScriptedToolService({"search": fail})).call(
        call_of(SEARCH, q="tea"), turn_offering(SEARCH)
    )

    assert outcome.error == f"tool 'search' raised {type(error).__name__}: bank is closed"
    assert not outcome.is_unknown


async def test_tool_that_never_returns_has_an_unknown_outcome_after_its_deadline():
    slow = attrs.evolve(SEARCH, timeout=0.01)
    service = ScriptedToolService({"search": lambda call, context: anyio.sleep_forever()})

    outcome = await gate_of(service).call(call_of(slow, q="tea"), turn_offering(slow))

    assert outcome.error == "tool 'search': unknown outcome after 0.01 s"
    assert outcome.is_unknown


async def test_started_call_outlives_the_cancelled_turn():
    started = anyio.Event()
    let_go = anyio.Event()
    outcomes = []

    async def wait(call, context):
        started.set()
        await let_go.wait()
        return "done"

    service = ScriptedToolService({"search": wait})
    gate = gate_of(service)
    turn = turn_offering(SEARCH)

    async def run():
        outcomes.append(await gate.call(call_of(SEARCH, q="tea"), turn))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await started.wait()
        group.cancel_scope.cancel()
        let_go.set()

    assert [outcome.result.data for outcome in outcomes] == ["done"]


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        ({1, 2}, "set has no JSON form"),
        (object(), "object has no JSON form"),
        (float("nan"), "not JSON compliant"),
        ({"a": b"x"}, "bytes has no JSON form"),
    ],
)
async def test_result_that_is_not_json_is_an_error_that_names_the_type(returned, named):
    service = ScriptedToolService({"search": lambda call, context: returned})

    outcome = await gate_of(service).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))

    assert outcome.result is None
    assert "tool 'search' returned what is not JSON: its data" in outcome.error
    assert named in outcome.error


async def test_result_beyond_the_limit_is_an_error_that_says_so():
    """B-040: what a tool may return is capped, and the cap can be set."""
    service = ScriptedToolService({"search": lambda call, context: "x" * 2_000_000})
    turn = turn_offering(SEARCH)

    refused = await gate_of(service, result_limit=1_000_000).call(call_of(SEARCH, q="tea"), turn)
    allowed = await gate_of(service, result_limit=3_000_000).call(call_of(SEARCH, q="tea"), turn)

    assert "2,000,006 characters of JSON, more than the limit of 1,000,000" in refused.error
    assert len(allowed.result.data) == 2_000_000


async def test_result_is_apart_from_what_the_tool_keeps():
    kept = {"balance": 5, "by_day": {1: (2, 3)}}
    service = ScriptedToolService({"search": lambda call, context: kept})

    outcome = await gate_of(service).call(call_of(SEARCH, q="tea"), turn_offering(SEARCH))
    kept["balance"] = 0

    assert outcome.result.data == {"balance": 5, "by_day": {"1": [2, 3]}}


async def test_tool_is_told_who_calls_with_which_key():
    service = ScriptedToolService({"search": lambda call, context: "found"})
    customer = Customer(CustomerId("c1"), "Ada", metadata={"tier": "gold"})
    turn = turn_offering(SEARCH, customer=customer, variables={"plan": "pro"})
    call = call_of(SEARCH, q="tea")

    await gate_of(service).call(call, turn)

    ((_, context),) = service.calls
    assert (context.customer, context.turn, context.session) == ("c1", turn.id, turn.session.id)
    assert (context.key, context.tenant) == (call.key, "local")
    assert (dict(context.variables), dict(context.customer_metadata)) == (
        {"plan": "pro"},
        {"tier": "gold"},
    )


async def test_bound_function_is_found_by_the_tools_id():
    turn = turn_offering(SEARCH, bindings={SEARCH.id: lambda q, brand: f"{q} of {brand}"})

    outcome = await gate_of(ScriptedToolService()).call(call_of(SEARCH, q="tea"), turn)

    assert outcome.result.data == "tea of None"


async def test_variable_is_fetched_without_an_offer_and_without_a_key():
    plan = tool_named("fetch_plan")
    service = ScriptedToolService({"fetch_plan": lambda call, context: "gold"})

    async def refuse(call, turn):
        return Bail()

    outcome = await gate_of(service, refuse).fetch(call_of(plan), turn_offering(declared=[plan]))

    assert outcome.result.data == "gold"
    assert service.calls[0][1].key == ""


# -- keys --


@given(
    arguments=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=5)
)
def test_key_does_not_depend_on_the_order_of_arguments(arguments):
    turned = dict(reversed(arguments.items()))
    session = SessionId("s")

    assert call_key(session, 3, "pay", arguments, 0) == call_key(session, 3, "pay", turned, 0)


def test_key_tells_calls_apart():
    session = SessionId("s")
    keys = {
        call_key(session, 3, "pay", {"a": 1}, 0),
        call_key(session, 4, "pay", {"a": 1}, 0),
        call_key(session, 3, "ask", {"a": 1}, 0),
        call_key(session, 3, "pay", {"a": 2}, 0),
        call_key(session, 3, "pay", {"a": 1}, 1),
        call_key(SessionId("t"), 3, "pay", {"a": 1}, 0),
    }

    assert len(keys) == 6
    assert call_key(session, 3, "pay", {"a": 1}, 0).startswith("s:3:pay:")
