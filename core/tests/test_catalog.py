"""Catalogs: compiled once, versioned by content, refusing what has no meaning."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.testing.turns import AGENT, catalog_of, observation, policy
from poise.values.compilation import find_cycle
from poise.values.ids import JourneyId, NodeId, RuleId, TagId, ToolId
from poise.values.journeys import Journey, JourneyNode
from poise.values.relationships import (
    DependencyMode,
    Relation,
    RelationKind,
    TagEnd,
    all_of,
    any_of,
)
from poise.values.rules import Weight


def depends(source, target):
    return Relation(RelationKind.DEPENDENCY, source.id, target.id)


def test_equal_content_gives_an_equal_version() -> None:
    rules = [policy("a", signals=["one", "two"], tags=["x", "y"]), observation("b")]

    assert catalog_of(rules).version == catalog_of(rules).version


def test_any_change_gives_another_version() -> None:
    base = catalog_of([policy("a")])

    assert catalog_of([policy("a", weight=Weight.HIGH)]).version != base.version
    assert catalog_of([policy("a", signals=["x"])]).version != base.version


def test_dependency_cycle_is_refused_with_its_path() -> None:
    """B-015: a cycle is an error where it is declared, naming those in it."""
    a, b, c = policy("first"), policy("second"), policy("third")

    with pytest.raises(InvalidValueError, match="'first' → 'second' → 'third' → 'first'"):
        catalog_of([a, b, c], [depends(a, b), depends(b, c), depends(c, a)])


def test_priority_and_exclusion_together_may_not_go_in_circles() -> None:
    a, b = policy("first"), policy("second")
    relations = [
        Relation(RelationKind.PRIORITY, a.id, b.id),
        Relation(RelationKind.EXCLUSION, b.id, a.id),
    ]

    with pytest.raises(InvalidValueError, match="priority or exclusion form a cycle"):
        catalog_of([a, b], relations)


def test_rule_that_carries_the_tag_it_needs_is_no_cycle() -> None:
    tag = TagId("tag_cards")
    a, b = policy("first", tags=[tag]), policy("second", tags=[tag])

    snapshot = catalog_of([a, b], [Relation(RelationKind.DEPENDENCY, a.id, any_of(tag))])

    assert snapshot.needed_by(a.id) == (b.id,)


def test_bare_tag_in_a_relation_is_refused() -> None:
    """B-016: any-of and all-of are separate words, and the bare form is none of them."""
    with pytest.raises(InvalidValueError, match=r"write any_of\(tag\) or all_of\(tag\)"):
        Relation(RelationKind.DEPENDENCY, policy("a").id, "tag_cards")

    assert any_of("tag_cards") == TagEnd(TagId("tag_cards"), every=False)
    assert all_of("tag_cards") == TagEnd(TagId("tag_cards"), every=True)


def test_unknown_tool_is_refused_with_the_rule_that_names_it() -> None:
    with pytest.raises(InvalidValueError, match="policy 'a': tools names the unknown tool"):
        catalog_of([policy("a", tools=[ToolId("tool_nowhere")])])


def test_rules_with_relations_or_tools_have_consequences() -> None:
    topic, needing, plain = observation("topic"), policy("needing"), policy("plain")
    outranked = policy("outranked")
    relations = [depends(needing, topic), Relation(RelationKind.PRIORITY, topic.id, outranked.id)]

    snapshot = catalog_of([topic, needing, plain, outranked], relations)

    assert topic.id in snapshot.consequential
    assert needing.id in snapshot.consequential
    assert plain.id not in snapshot.consequential
    assert outranked.id not in snapshot.consequential  # a mere target of a priority


def test_dependents_and_needs_are_each_other_s_mirror() -> None:
    topic, needing = observation("topic"), policy("needing")

    snapshot = catalog_of([topic, needing], [depends(needing, topic)])

    assert snapshot.needed_by(needing.id) == (topic.id,)
    assert snapshot.dependents_of(topic.id) == (needing.id,)
    assert snapshot.relations[0].mode is DependencyMode.THIS_SESSION


def test_long_chain_is_checked_without_recursion() -> None:
    rules = [policy(str(each)) for each in range(5000)]
    chain = [depends(first, second) for first, second in itertools.pairwise(rules)]

    assert len(catalog_of(rules, chain).relations) == 4999


@given(st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4), max_size=9))
def test_found_cycle_is_a_cycle_and_none_means_none(graph: dict[int, list[int]]) -> None:
    path = find_cycle(graph)

    if path:
        assert path[0] == path[-1]
        assert all(b in graph.get(a, []) for a, b in itertools.pairwise(path))
    else:
        order: list[int] = []
        remaining = dict(graph)
        while remaining:
            free = [n for n in remaining if not any(t in remaining for t in remaining[n])]
            assert free, "no cycle was found in a graph that has one"
            for node in free:
                order.append(node)
                del remaining[node]


@pytest.mark.parametrize("text", ["{}", "{{…}}", "a\0b", "{{ x", "%s", "\ud800"])
def test_odd_text_is_kept_as_it_is(text: str) -> None:
    snapshot = catalog_of([policy("a", then=text, signals=[text])])

    rule = next(iter(snapshot.rules.values()))
    assert rule.then == text
    assert rule.signals == (text,)


# -- journeys --


def journey(name: str, *nodes: str, **fields: Any) -> Journey:
    steps = tuple(JourneyNode(NodeId(f"node_{each}"), each) for each in nodes)
    return Journey(JourneyId(f"journey_{name}"), AGENT.id, name, nodes=steps, **fields)


def test_a_catalog_knows_journeys_their_nodes_and_their_triggers() -> None:
    trigger = observation("a card is lost", tags=["cards"])
    lost = journey("lost card", "ask", "block", triggers=[trigger.id], tags=["cards"])

    catalog = catalog_of([trigger], journeys=[lost])

    assert catalog.triggered == {trigger.id: (lost.id,)}
    assert catalog.journey_of == {node.id: lost.id for node in lost.nodes}
    assert trigger.id in catalog.consequential
    assert catalog.members(any_of("cards")) == (trigger.id, lost.id)
    assert catalog.members(lost.nodes[0].id) == (lost.nodes[0].id,)
    assert [catalog.name_of(each) for each in (trigger.id, lost.id, lost.nodes[1].id, "x")] == [
        "a card is lost",
        "lost card",
        "block",
        "x",
    ]


def test_relations_of_journeys_stand_on_both_ends() -> None:
    rule, lost = policy("scoped"), journey("lost card", "ask")
    relation = Relation(RelationKind.DEPENDENCY, rule.id, lost.id)

    catalog = catalog_of([rule], [relation], journeys=[lost])

    assert catalog.incoming[lost.id] == catalog.outgoing[rule.id] == (relation,)
    assert catalog.needed_by(rule.id) == ()  # journeys are no rules that could be brought up


@pytest.mark.parametrize(
    ("journeys", "told"),
    [
        ([journey("one", triggers=[RuleId("rule_x")])], "unknown rule"),
        ([journey("one", "same"), journey("two", "same")], "node of 'one' too"),
    ],
)
def test_a_journey_that_can_not_be_is_refused(journeys: list[Journey], told: str) -> None:
    with pytest.raises(InvalidValueError, match=told):
        catalog_of(journeys=journeys)


def test_a_cycle_through_journeys_is_refused_by_their_names() -> None:
    one, two = journey("one"), journey("two")
    relations = [
        Relation(RelationKind.PRIORITY, one.id, two.id),
        Relation(RelationKind.EXCLUSION, two.id, one.id),
    ]

    with pytest.raises(InvalidValueError, match="'one' → 'two' → 'one'"):
        catalog_of((), relations, journeys=[one, two])


@pytest.mark.parametrize("kind", [RelationKind.REEVALUATION, RelationKind.OVERLAP])
def test_a_relation_of_tools_names_tools_that_are_there(kind: RelationKind) -> None:
    rule = policy("a")

    with pytest.raises(InvalidValueError, match="unknown tool"):
        catalog_of([rule], [Relation(kind, rule.id, ToolId("tool_x"))])


def test_another_journey_makes_another_version() -> None:
    assert catalog_of(journeys=[journey("one")]).version != catalog_of().version
