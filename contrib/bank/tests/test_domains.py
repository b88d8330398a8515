"""Each domain by itself and the whole catalog: what is declared, without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest

import poise
import poise_compose.plugin
import poise_matching.plugin
import poise_relations.plugin
import poise_tools.plugin
from poise.testing.applications import ScriptedParts
from poise.values.catalog import CatalogSnapshot
from poise.values.relationships import RelationKind
from poise.values.rules import RuleKind, WayIn
from poise_example_bank.domains import cards, complaints, fees, general, identity, topups, transfers
from poise_example_bank.domains.fees.tools import standard_plan
from poise_example_bank.fake import FakeBank
from poise_example_bank.main import build
from poise_example_bank.services import Bank

pytestmark = pytest.mark.anyio
Install = Callable[[poise.Agent], Awaitable[None]]

DOMAINS: dict[str, Callable[[Bank], Install]] = {
    "cards": lambda bank: partial(cards.install, bank=bank),
    "transfers": lambda bank: partial(transfers.install, bank=bank),
    "fees": lambda bank: partial(fees.install, bank=bank),
    "complaints": lambda bank: partial(complaints.install, bank=bank),
    "topups": lambda bank: topups.install,
    "identity": lambda bank: identity.install,
    "general": lambda bank: general.install,
}
TOPICAL = sorted(DOMAINS.keys() - {"general"})


@pytest.fixture
async def app(settings_of_nobody: None) -> AsyncIterator[poise.Application]:
    plugins = [
        ScriptedParts(),
        poise_compose.plugin,
        poise_matching.plugin,
        poise_relations.plugin,
        poise_tools.plugin,
    ]
    async with poise.Application(stores="memory", plugins=plugins, installed=False) as opened:
        yield opened


async def snapshot_of(app: poise.Application, agent: poise.Agent) -> CatalogSnapshot:
    await app.start()
    snapshot = app.runtime.catalogs.current(agent.id)
    assert snapshot is not None
    return snapshot


@pytest.fixture
async def catalog(app: poise.Application, bank: FakeBank) -> CatalogSnapshot:
    return await snapshot_of(app, await build(app, bank))


@pytest.mark.parametrize("domain", sorted(DOMAINS))
async def test_installing_twice_changes_nothing(
    app: poise.Application, bank: FakeBank, domain: str
) -> None:
    agent = await app.create_agent("Alone")
    install = DOMAINS[domain](bank)
    await install(agent)
    once = await snapshot_of(app, agent)

    await install(agent)

    assert (await snapshot_of(app, agent)).version == once.version


@pytest.mark.parametrize("domain", TOPICAL)
async def test_policies_hang_off_the_topic_of_their_domain(
    app: poise.Application, bank: FakeBank, domain: str
) -> None:
    agent = await app.create_agent("Alone")
    await DOMAINS[domain](bank)(agent)

    snapshot = await snapshot_of(app, agent)

    topic = next(rule for rule in snapshot.rules.values() if rule.name.startswith("About"))
    spoken = {
        rule.id
        for rule in snapshot.rules.values()
        if rule.kind is RuleKind.POLICY and rule.way_in is WayIn.SIGNALS
    }
    assert topic.kind is RuleKind.OBSERVATION
    assert set(snapshot.dependents_of(topic.id)) == spoken


async def test_building_twice_gives_the_same_catalog(
    app: poise.Application, bank: FakeBank
) -> None:
    agent = await build(app, bank)
    once = await snapshot_of(app, agent)

    assert await build(app, bank) is agent
    assert (await snapshot_of(app, agent)).version == once.version


async def test_catalog_is_as_large_as_a_real_one_begins(catalog: CatalogSnapshot) -> None:
    kinds = Counter(rule.kind for rule in catalog.rules.values())

    assert kinds[RuleKind.POLICY] >= 60
    assert kinds[RuleKind.OBSERVATION] >= 6
    assert catalog.terms
    assert [each.freshness for each in catalog.variables.values()] == ["*/15 * * * *"]


async def test_every_policy_has_an_approved_answer(catalog: CatalogSnapshot) -> None:
    assert [
        rule.name
        for rule in catalog.rules.values()
        if rule.kind is RuleKind.POLICY and not rule.canned_responses
    ] == []


async def test_every_policy_that_customers_bring_up_has_enough_signals(
    catalog: CatalogSnapshot,
) -> None:
    few = {
        rule.name: len(rule.signals)
        for rule in catalog.rules.values()
        if rule.kind is RuleKind.POLICY
        and rule.way_in is WayIn.SIGNALS
        and not 6 <= len(rule.signals) <= 10
    }

    assert few == {}


async def test_no_phrase_stands_for_two_rules(catalog: CatalogSnapshot) -> None:
    phrases = Counter(
        signal.casefold() for rule in catalog.rules.values() for signal in rule.signals
    )

    assert [phrase for phrase, count in phrases.items() if count > 1] == []


async def test_no_rule_says_of_a_phrase_that_it_should_and_should_not(
    catalog: CatalogSnapshot,
) -> None:
    for rule in catalog.rules.values():
        assert set(rule.signals).isdisjoint(rule.anti_signals), rule.name


async def test_rules_are_related_in_every_way(catalog: CatalogSnapshot) -> None:
    names = {rule.id: rule.name for rule in catalog.rules.values()}
    related = {
        (relation.kind, names[source], names[target])
        for relation in catalog.relations
        for source in catalog.members(relation.source)
        for target in catalog.members(relation.target)
        if relation.kind is not RelationKind.DEPENDENCY
    }

    assert related == {
        (RelationKind.PRIORITY, "Stolen card", "Lost card"),
        (RelationKind.PRIORITY, "Take a complaint", "Offer the Plus plan"),
        (RelationKind.EXCLUSION, "Take a complaint", "Small talk"),
        (RelationKind.ENTAILMENT, "Stolen card", "Report a theft"),
    }


async def test_few_rules_cost_something_on_every_turn(catalog: CatalogSnapshot) -> None:
    assert [catalog.rules[each].name for each in catalog.bypass] == ["On the Standard plan"]


class OnAnotherPlan(FakeBank):
    async def plan(self, customer: str) -> str:
        return "Plus"


@pytest.mark.parametrize(("bank_of", "sells"), [(FakeBank, True), (OnAnotherPlan, False)])
async def test_plus_is_offered_to_those_who_do_not_have_it(
    app: poise.Application, bank_of: type[FakeBank], sells: bool
) -> None:
    session = await app.open_session(await build(app, bank_of()))

    reply = await session.say("too many fees")

    assert ("Harbour Plus" in reply.text) is sells


async def test_plan_is_asked_of_the_bank(bank: FakeBank) -> None:
    matcher = standard_plan(bank)

    assert matcher.__name__ == "is_on_standard_plan"
