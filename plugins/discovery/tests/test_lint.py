"""What is doubtful about a catalog for discovery: at once, and on a closer look."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.hooks.findings import Examination, Finding, Severity
from poise.ports.discovery import Discoverer
from poise.testing.models import ScriptedModels
from poise.testing.scripted_discovery import ScriptedDiscoverer
from poise.testing.turns import catalog_of, journey, observation, policy
from poise.values.ids import GroupId, ToolId
from poise.values.relationships import Relation, RelationKind, any_of
from poise.values.rules import Rule, WayIn
from poise.values.tools import Tool
from poise_discovery import plugin
from poise_discovery.examining import ALIKE, near_pairs

TEN = [f"phrase {at}" for at in range(10)]


def quick(rules: Sequence[Rule], relations: Sequence[Relation] = (), **more: object) -> list[str]:
    found = plugin.poise_lint(catalog_of(rules, relations, **more))
    return [f"{each.check} {each.subject}" for each in found]


async def examined(
    rules: Sequence[Rule],
    relations: Sequence[Relation] = (),
    *,
    discoverer: Discoverer | None = None,
    models: ScriptedModels | None = None,
) -> Sequence[Finding]:
    catalog = catalog_of(rules, relations)
    return await plugin.poise_examine(
        Examination(catalog, discoverer or ScriptedDiscoverer(), models or ScriptedModels())
    )


def told(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    return [(each.check, each.subject) for each in findings]


# -- what nothing brings up --


@pytest.mark.parametrize(
    "kind",
    [
        RelationKind.DEPENDENCY,
        RelationKind.DEPENDENCY_ANY,
        RelationKind.ENTAILMENT,
        RelationKind.DISAMBIGUATION,
    ],
)
def test_rule_that_comes_up_with_another_is_reached(kind: RelationKind) -> None:
    leads, led = policy("leads", signals=TEN), policy("led", way_in=WayIn.DEPENDENCY)

    assert quick([leads, led]) == [f"discovery.unreachable {led.id}"]
    assert quick([leads, led], [Relation(kind, leads.id, led.id)]) == []


def test_rule_that_only_an_unreachable_rule_leads_to_is_unreachable_too() -> None:
    lost, led = (policy(each, way_in=WayIn.DEPENDENCY) for each in ("lost", "led"))
    off = policy("off", signals=TEN, enabled=False)
    relations = [
        Relation(RelationKind.ENTAILMENT, lost.id, led.id),
        Relation(RelationKind.ENTAILMENT, off.id, led.id),
    ]

    assert quick([lost, led, off], relations) == [
        f"discovery.unreachable {lost.id}",
        f"discovery.unreachable {led.id}",
    ]


def test_rule_that_a_journey_leads_to_is_reached() -> None:
    start, led = policy("start", signals=TEN), policy("led", way_in=WayIn.DEPENDENCY)
    trip = journey("trip", triggers=[start.id])
    implies = Relation(RelationKind.ENTAILMENT, trip.id, led.id)

    assert quick([start, led], [implies], journeys=[trip]) == []


def test_guards_and_what_every_turn_considers_are_reached() -> None:
    tool = Tool(ToolId("tool_pay"), policy("x").agent, "pay", "functions")
    rules = [
        policy("guard", way_in=WayIn.TOOL, guards=[tool.id]),
        policy("reply", way_in=WayIn.REPLY),
        policy("code", matcher="checks"),
        policy("judged", way_in=WayIn.DEPENDENCY, always_judged=True),
    ]

    assert quick(rules, tools=[tool]) == []


# -- conditions that are hard to tell apart --

LOST = "the customer has lost one of the many cards that they have with us since last year"
GONE = f"{LOST} or so"  # one word in sixteen is another


@pytest.mark.anyio
async def test_policies_with_nearly_one_condition_and_different_actions_overlap() -> None:
    first = policy("freeze", when=LOST, signals=["lost"])
    second = policy("ignore", when=GONE, signals=["gone"])

    findings = await examined([first, second])

    assert told(findings) == [("discovery.overlap", second.id)]
    assert findings[0].severity is Severity.WARNING
    assert "'freeze'" in findings[0].message


@pytest.mark.anyio
async def test_other_rules_with_nearly_one_condition_are_near_duplicates() -> None:
    first = observation("card", when=LOST, signals=["lost"])
    second = observation("cards", when=GONE, signals=["gone"])
    same = policy("same", when=GONE, signals=["away"])

    findings = await examined([first, second, same])

    assert told(findings) == [
        ("discovery.near_duplicate", second.id),
        ("discovery.near_duplicate", same.id),
    ]


@pytest.mark.anyio
async def test_rules_that_the_author_has_told_apart_may_be_alike() -> None:
    first, second = policy("a", when=LOST, signals=["x"]), policy("b", when=GONE, signals=["y"])
    outranks = Relation(RelationKind.PRIORITY, first.id, second.id)
    ranked = [
        attrs.evolve(each, rank="offers", priority=at) for at, each in enumerate((first, second))
    ]
    grouped = [
        attrs.evolve(first, groups=frozenset({GroupId("gold")})),
        attrs.evolve(second, groups=frozenset({GroupId("tin")})),
    ]

    assert await examined([first, second], [outranks]) == []
    assert await examined(ranked) == []
    assert await examined(grouped) == []


@pytest.mark.anyio
async def test_what_reads_the_same_is_left_to_core_and_what_is_off_to_nobody() -> None:
    first = policy("a", when=LOST, signals=["x"])
    again = policy("b", when=f"{LOST.capitalize()}.", signals=["y"])
    off = policy("c", when=GONE, signals=["z"], enabled=False)

    assert await examined([first, again, off]) == []


@pytest.mark.anyio
async def test_conditions_are_not_compared_where_nothing_embeds() -> None:
    rules = [policy("a", when=LOST, signals=["x"]), policy("b", when=GONE, signals=["y"])]

    assert await examined(rules, models=ScriptedModels(served=frozenset())) == []


@given(st.integers(0, 12), st.randoms(use_true_random=False))
def test_near_pairs_are_those_of_every_pair_looked_at_alone(count, random) -> None:
    rows = np.asarray(
        [[random.choice((0.001, 0.1, 1.0)) for _ in range(3)] for _ in range(count)]
    ).reshape(count, 3)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    found = near_pairs(rows.astype(np.float32))

    pairs = {(at, other) for at, others in found.items() for other in others}
    likeness = {(at, other): rows[at] @ rows[other] for at in range(count) for other in range(at)}
    clear = {pair for pair, cosine in likeness.items() if abs(cosine - ALIKE) > 1e-4}
    assert pairs & clear == {pair for pair in clear if likeness[pair] > ALIKE}
    for at, others in found.items():
        assert all(likeness[at, one] >= likeness[at, two] - 1e-5 for one, two in pairwise(others))


# -- signals --


@pytest.mark.anyio
async def test_rule_that_its_own_signals_do_not_bring_up_is_named() -> None:
    deaf = policy("deaf", signals=["one", "two", "three", "four", "five"])
    fine = policy("fine", signals=["six", "seven", "eight", "nine", "ten"])
    heard = {each: ["fine"] for each in fine.signals[:4]} | {
        each: ["deaf"] for each in deaf.signals[:3]
    }

    findings = await examined([deaf, fine], discoverer=ScriptedDiscoverer(heard))

    assert told(findings) == [("discovery.missed_signals", deaf.id)]
    assert "3 of its 5 signals, and not by 'four', 'five'" in findings[0].message


@pytest.mark.anyio
async def test_signal_that_another_rule_claims_is_named_with_it() -> None:
    signals = ["card lost", "card gone", "card away", "card missing", "refund my fee"]
    lost = policy("lost", signals=signals)
    fee = policy("fee", signals=["refund my fee", "fee refund"])
    script = {"refund": ["fee"], "card": ["lost"], "fee": ["fee"]}

    findings = await examined([lost, fee], discoverer=ScriptedDiscoverer(script))

    assert told(findings) == [("discovery.stray_signal", lost.id)]
    assert "'refund my fee' of 'lost' would rather bring up 'fee'" in findings[0].message


@pytest.mark.anyio
@pytest.mark.parametrize("relate", ["needs", "needed", "implies", "implied", "topic", "tag"])
async def test_relatives_may_claim_a_signal(relate: str) -> None:
    signals = ["card lost", "card gone", "card away", "card missing", "refund my fee"]
    lost = policy("lost", signals=signals)
    fee = policy("fee", signals=["refund my fee", "fee refund"], tags=["tag_money"])
    topic = observation("topic", signals=["money matters"])
    needs, implies = RelationKind.DEPENDENCY, RelationKind.ENTAILMENT
    relations = {
        "needs": [Relation(needs, lost.id, fee.id)],
        "needed": [Relation(needs, fee.id, lost.id)],
        "implies": [Relation(implies, lost.id, fee.id)],
        "implied": [Relation(implies, fee.id, lost.id)],
        "topic": [Relation(needs, each.id, topic.id) for each in (lost, fee)],
        "tag": [Relation(implies, lost.id, any_of("tag_money"))],
    }[relate]
    script = {"refund": ["fee"], "card": ["lost"], "fee": ["fee"], "money": ["topic"]}

    findings = await examined([lost, fee, topic], relations, discoverer=ScriptedDiscoverer(script))

    assert findings == []


FRAMES = (
    "about the {}",
    "my {} is wrong",
    "tell me the {}",
    "why this {}",
    "a {} please",
    "which {} is it",
    "{} today",
    "the {} again",
    "i need a {}",
    "where is the {}",
)


@pytest.mark.anyio
async def test_trained_discoverer_finds_a_phrase_that_was_put_into_the_wrong_rule(
    discoverer: Discoverer, models: ScriptedModels
) -> None:
    rules = [
        policy(word, signals=[frame.format(word) for frame in FRAMES])
        for word in ("card", "fee", "hours", "loan", "pin", "statement")
    ]
    hours = attrs.evolve(rules[2], signals=(*rules[2].signals, "fee, fee"))

    clean = await examined(rules, discoverer=discoverer, models=models)
    findings = await examined([*rules[:2], hours, *rules[3:]], discoverer=discoverer, models=models)

    assert clean == []
    assert told(findings) == [("discovery.stray_signal", hours.id)]
    assert "'fee, fee' of 'hours' would rather bring up 'fee'" in findings[0].message


@pytest.mark.anyio
async def test_catalog_without_rules_has_nothing_doubtful(
    discoverer: Discoverer, models: ScriptedModels
) -> None:
    assert await examined([], discoverer=discoverer, models=models) == []
