"""Relations beyond rules as an author declares them: ranks, guards, doubt, tools."""

from __future__ import annotations

import pytest

import poise
from poise import InvalidValueError, WayIn
from poise.memory.stores import MemoryStores
from poise.sdk.agent import Agent
from poise.sdk.draft import Draft
from poise.sdk.tags import any_of
from poise.testing.clock import FrozenClock
from poise.values import agents
from poise.values.ids import AgentId, RuleId
from poise.values.relationships import RelationKind
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
async def pay_back(amount: int) -> None:
    """Pay money back."""


@poise.tool
async def look_up_stock() -> int:
    """Count what is left."""
    return 3


@poise.tool
async def search_shop(words: str) -> str:
    """Search the shop."""
    return words


async def test_a_guard_without_signals_comes_in_by_its_tool_and_the_tool_is_declared(
    agent: Agent,
) -> None:
    guard = await agent.create_policy("Old purchase", "Refuse", guards=[pay_back])

    catalog = catalog_of(agent)
    (tool,) = catalog.tools.values()
    assert tool.name == "pay_back"
    assert catalog.guarded == {tool.id: (guard.id,)}
    assert catalog.rules[guard.id].way_in is WayIn.TOOL
    assert catalog.bypass == ()
    assert guard.id in catalog.consequential


async def test_a_guard_with_signals_is_found_by_them_too(agent: Agent) -> None:
    guard = await agent.create_policy(
        "Old purchase", "Refuse", guards=[pay_back], signals=["bought ages ago"]
    )

    assert catalog_of(agent).rules[guard.id].way_in is WayIn.SIGNALS


async def test_a_switched_off_guard_guards_nothing(agent: Agent) -> None:
    await agent.create_policy("Old purchase", "Refuse", guards=[pay_back], enabled=False)

    assert catalog_of(agent).guarded == {}


async def test_a_rank_makes_a_match_matter(agent: Agent) -> None:
    ranked = await agent.create_policy("Refund", "Do it", rank="offers", priority=3)

    catalog = catalog_of(agent)
    assert (catalog.rules[ranked.id].rank, catalog.rules[ranked.id].priority) == ("offers", 3)
    assert ranked.id in catalog.consequential


async def test_an_empty_rank_is_refused(agent: Agent) -> None:
    with pytest.raises(InvalidValueError, match="rank"):
        await agent.create_policy("Refund", "Do it", rank=" ")


async def test_a_rule_to_be_judged_again_names_the_tool(agent: Agent) -> None:
    rule = await agent.create_guideline("it is sold out", "Offer another")

    await rule.reevaluate_after(look_up_stock)
    await rule.reevaluate_after(look_up_stock)

    catalog = catalog_of(agent)
    (relation,) = catalog.relations
    assert relation.kind is RelationKind.REEVALUATION
    assert (relation.source, relation.target) == (rule.id, next(iter(catalog.tools)))
    assert catalog.outgoing[rule.id] == (relation,)


@pytest.mark.parametrize("tools", [(), (print,)])
async def test_what_is_no_tool_changes_no_verdict(agent: Agent, tools: tuple[object, ...]) -> None:
    rule = await agent.create_guideline("it is sold out", "Offer another")

    with pytest.raises(InvalidValueError, match="tool"):
        await rule.reevaluate_after(*tools)  # type: ignore[arg-type]

    assert catalog_of(agent).relations == ()


async def test_an_observation_says_what_may_be_confused_and_brings_it_along(agent: Agent) -> None:
    doubt = await agent.create_observation("it is unclear which card is meant")
    block = await agent.create_policy("Block", "Block it")
    replace = await agent.create_policy("Replace", "Send a new one", tags=["cards"])

    await doubt.disambiguate([block, any_of("cards")])

    catalog = catalog_of(agent)
    assert catalog.in_doubt(doubt.id) == (block.id, replace.id)
    assert catalog.with_needs([doubt.id]) == (doubt.id, block.id, replace.id)
    assert doubt.id in catalog.consequential


async def test_one_thing_alone_can_not_be_confused(agent: Agent) -> None:
    doubt = await agent.create_observation("it is unclear which card is meant")
    block = await agent.create_policy("Block", "Block it")

    with pytest.raises(InvalidValueError, match="two or more"):
        await doubt.disambiguate([block])


async def test_tools_that_overlap_do_so_in_pairs(agent: Agent) -> None:
    await agent.overlap(look_up_stock, search_shop, pay_back)

    catalog = catalog_of(agent)
    assert len(catalog.tools) == 3
    assert [each.kind for each in catalog.relations] == [RelationKind.OVERLAP] * 3
    assert all(not catalog.incoming.get(RuleId(str(tool))) for tool in catalog.tools)


async def test_a_tool_alone_overlaps_with_nothing(agent: Agent) -> None:
    with pytest.raises(InvalidValueError, match="two tools"):
        await agent.overlap(look_up_stock, look_up_stock)
