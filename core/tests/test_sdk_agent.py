"""What an agent has besides rules: tools, wording, vocabulary, variables, domains."""

from __future__ import annotations

import types
from typing import Any

import pytest

import poise
from poise import DuplicateKeyError, InvalidValueError, Role
from poise.memory.stores import MemoryStores
from poise.sdk.agent import Agent
from poise.sdk.draft import Draft
from poise.testing.clock import FrozenClock
from poise.values import agents
from poise.values.ids import AgentId
from poise.values.scope import Scope

pytestmark = pytest.mark.anyio


@pytest.fixture
def agent() -> Agent:
    clock = FrozenClock()
    draft = Draft(agents.Agent(AgentId("agent_clerk"), "Clerk"))
    return Agent(draft, MemoryStores(clock).scope(Scope.local()), clock)


def catalog_of(agent: Agent) -> poise.CatalogSnapshot:
    return agent._draft.compile()


@poise.tool
async def find_parcel(context: poise.ToolContext, number: str) -> poise.ToolResult:
    """Find a parcel by its number."""
    return poise.ToolResult({"number": number})


# -- tools --


async def test_tool_of_two_rules_is_one_tool_with_its_function(agent: Agent) -> None:
    await agent.create_policy(title="a", then="x", tools=[find_parcel])
    await agent.create_observation("a parcel is meant", tools=[find_parcel, find_parcel])

    catalog = catalog_of(agent)
    (tool,) = catalog.tools.values()
    assert (tool.name, tool.service) == ("find_parcel", "functions")
    assert catalog.bindings[tool.id] is find_parcel.function
    assert [rule.tools for rule in catalog.rules.values()] == [(tool.id,), (tool.id,)]


async def test_plain_function_is_told_how_to_become_a_tool(agent: Agent) -> None:
    async def lookup(number: str) -> str:
        return number

    with pytest.raises(InvalidValueError, match=r"put @poise\.tool above lookup"):
        await agent.create_policy(title="a", then="x", tools=[lookup])  # type: ignore[list-item]


async def test_second_function_under_a_tools_name_is_refused(agent: Agent) -> None:
    @poise.tool(name="find_parcel", description=find_parcel.description)
    async def another(context: poise.ToolContext, number: str) -> poise.ToolResult:
        return poise.ToolResult(None)

    await agent.create_policy(title="a", then="x", tools=[find_parcel])

    with pytest.raises(DuplicateKeyError, match="tool 'find_parcel'"):
        await agent.create_policy(title="b", then="x", tools=[another])

    assert [rule.title for rule in catalog_of(agent).rules.values()] == ["a"]


async def test_tool_made_again_by_a_second_run_of_its_domain_is_the_same(agent: Agent) -> None:
    prefix = "P-"

    async def install(agent: Agent) -> None:
        @poise.tool
        async def number_of(context: poise.ToolContext, name: str) -> poise.ToolResult:
            return poise.ToolResult(prefix + name)

        await agent.create_policy(title="a", then="x", tools=[number_of])

    await install(agent)
    await install(agent)

    assert len(catalog_of(agent).tools) == 1


# -- wording --


async def test_template_given_to_a_rule_becomes_a_response(agent: Agent) -> None:
    await agent.create_policy(title="a", then="x", canned_responses=["It is at {place}."])

    (response,) = catalog_of(agent).canned_responses.values()
    assert (response.template, response.role) == ("It is at {place}.", Role.REPLY)


async def test_template_that_was_created_with_signals_is_meant_by_its_words(agent: Agent) -> None:
    created = await agent.create_canned_response("It is here.", signals=["where is it"])

    rule = await agent.create_policy(title="a", then="x", canned_responses=["It is here."])

    assert rule.rule.canned_responses == (created.id,)
    assert len(catalog_of(agent).canned_responses) == 1


async def test_one_wording_may_have_several_roles(agent: Agent) -> None:
    reply = await agent.create_canned_response("One moment.")
    preamble = await agent.create_canned_response("One moment.", role="preamble")

    assert reply.id != preamble.id
    assert preamble.role is Role.PREAMBLE


async def test_response_of_another_agent_is_refused(agent: Agent) -> None:
    clock = FrozenClock()
    draft = Draft(agents.Agent(AgentId("agent_other"), "Other"))
    other = Agent(draft, MemoryStores(clock).scope(Scope.local()), clock)
    foreign = await other.create_canned_response("Hello.")

    with pytest.raises(InvalidValueError, match="not created on this agent"):
        await agent.create_policy(title="a", then="x", canned_responses=[foreign])


# -- vocabulary and facts --


async def test_term_is_declared_once_and_kept(agent: Agent) -> None:
    first = await agent.create_term("ETA", "When it is due", ["arrival"])
    again = await agent.create_term("ETA", "When it is due", ["arrival"])

    assert first == again
    assert list(catalog_of(agent).terms.values()) == [first]


async def test_term_with_another_meaning_is_refused(agent: Agent) -> None:
    await agent.create_term("ETA", "When it is due")

    with pytest.raises(DuplicateKeyError, match=r"term 'ETA'.*description"):
        await agent.create_term("ETA", "Something else")


async def test_variable_names_its_tool_and_its_schedule(agent: Agent) -> None:
    @poise.tool
    async def open_parcels(context: poise.ToolContext) -> poise.ToolResult:
        return poise.ToolResult([])

    await agent.create_variable(
        "open_parcels", "Not delivered yet", tool=open_parcels, freshness_rules="*/15 * * * *"
    )

    catalog = catalog_of(agent)
    (variable,) = catalog.variables.values()
    assert variable.freshness == "*/15 * * * *"
    assert variable.tool in catalog.tools


async def test_tool_that_must_be_told_something_fetches_no_variable(agent: Agent) -> None:
    with pytest.raises(InvalidValueError, match="needs number"):
        await agent.create_variable("parcel", tool=find_parcel)


async def test_schedule_that_is_none_is_refused(agent: Agent) -> None:
    with pytest.raises(InvalidValueError, match="cron"):
        await agent.create_variable("plan", freshness_rules="every day")


@pytest.mark.parametrize("data", [None, 0, False, "", [], {}, {"plan": "gold"}])
async def test_value_that_was_set_is_read_even_if_it_is_empty(agent: Agent, data: Any) -> None:
    plan = await agent.create_variable("plan")

    await plan.set_value("ann", data)

    assert await plan.get_value("ann", default="unset") == data
    assert await plan.get_value("bob", default="unset") == "unset"


async def test_value_that_is_no_json_is_refused(agent: Agent) -> None:
    plan = await agent.create_variable("plan")

    with pytest.raises(InvalidValueError, match="JSON"):
        await plan.set_value("ann", object())
    with pytest.raises(InvalidValueError, match="JSON"):
        await plan.set_value("ann", float("nan"))


async def test_tag_of_one_name_is_one_tag(agent: Agent) -> None:
    first = await agent.create_tag("parcels")
    again = await agent.create_tag("parcels")

    assert first == again
    assert (await agent._stores.tags.find()).items == (first,)


# -- domains --


async def test_domains_are_modules_or_functions_with_install(agent: Agent) -> None:
    module = types.ModuleType("parcels")

    async def install(agent: Agent) -> None:
        await agent.create_term("ETA", "When it is due")

    async def more(agent: Agent) -> None:
        await agent.create_term("POD", "Proof of delivery")

    module.install = install  # type: ignore[attr-defined]

    await agent.install(module, more)

    assert [term.name for term in catalog_of(agent).terms.values()] == ["ETA", "POD"]


async def test_domain_without_install_is_refused(agent: Agent) -> None:
    with pytest.raises(InvalidValueError, match="async def install"):
        await agent.install(types.ModuleType("empty"))


# -- rolling back --


async def test_restored_draft_holds_what_it_held(agent: Agent) -> None:
    kept = await agent.create_policy(title="kept", then="x")
    draft = agent._draft
    before, mark = catalog_of(agent), draft.mark()

    gone = await agent.create_policy(title="gone", then="x", tools=[find_parcel])
    await kept.depend_on(gone)
    draft.restore(mark)

    after = catalog_of(agent)
    assert after.version == before.version
    assert not after.bindings
    await gone_can_be_declared_differently(agent)


async def gone_can_be_declared_differently(agent: Agent) -> None:
    kept = await agent.create_policy(title="kept", then="x")
    await agent.create_policy(title="gone", then="y", dependencies=[kept])
    assert len(catalog_of(agent).relations) == 1
