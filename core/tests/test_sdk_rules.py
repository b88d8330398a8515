"""What an author declares of rules, and the catalog it becomes; no runtime is needed for that."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise import DependencyMode, DuplicateKeyError, InvalidValueError, RuleKind, WayIn, Weight
from poise.memory.stores import MemoryStores
from poise.sdk.agent import Agent
from poise.sdk.draft import Draft
from poise.testing.clock import FrozenClock
from poise.values import agents
from poise.values.agents import CompositionMode, Effort
from poise.values.ids import AgentId
from poise.values.relationships import RelationKind, TagEnd
from poise.values.rules import Rule
from poise.values.scope import Scope

pytestmark = pytest.mark.anyio


def agent_named(name: str = "Clerk") -> Agent:
    clock = FrozenClock()
    draft = Draft(agents.Agent(AgentId(f"agent_{name}"), name))
    return Agent(draft, MemoryStores(clock).scope(Scope.local()), clock)


def catalog_of(agent: Agent) -> poise.CatalogSnapshot:
    return agent._draft.compile()


def only_rule(agent: Agent) -> Rule:
    (rule,) = catalog_of(agent).rules.values()
    return rule


@poise.tool
async def weigh_parcel(context: poise.ToolContext, parcel: str) -> poise.ToolResult:
    """Weigh a parcel."""
    return poise.ToolResult(parcel)


# -- several names for one thing --


@pytest.mark.parametrize("name", ["when", "condition", "conditions", "triggers"])
async def test_condition_is_understood_under_each_of_its_names(name: str) -> None:
    agent = agent_named()

    await agent.create_policy(then="hand it out", **{name: "a parcel is claimed"})  # type: ignore[arg-type]

    assert only_rule(agent).when == "a parcel is claimed"


@pytest.mark.parametrize("name", ["conditions", "triggers", "when"])
async def test_list_of_conditions_joins_as_alternatives(name: str) -> None:
    agent = agent_named()

    await agent.create_observation(**{name: ["it is lost", "it is late"]})  # type: ignore[arg-type]

    assert only_rule(agent).when == "it is lost; or it is late"


async def test_two_names_that_say_the_same_are_one() -> None:
    agent = agent_named()

    await agent.create_guideline("it is late", "say so", when="it is late", then="say so")

    assert only_rule(agent).when == "it is late"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({"when": "a", "condition": "b", "then": "x"}, ("when", "condition")),
        ({"then": "x", "action": "y"}, ("then", "action")),
        ({"title": "t", "content": "x", "description": "y"}, ("content", "description")),
        ({"then": "x", "weight": "low", "criticality": "high"}, ("weight", "criticality")),
    ],
)
async def test_two_names_that_say_different_things_are_refused_by_both_names(
    said: dict[str, Any], names: tuple[str, str]
) -> None:
    with pytest.raises(InvalidValueError) as caught:
        await agent_named().create_policy(**said)

    assert all(name in str(caught.value) for name in names)


async def test_guideline_is_a_policy_with_a_description() -> None:
    agent = agent_named()

    await agent.create_guideline("it rains", "offer an umbrella", "only in the shop")

    rule = only_rule(agent)
    assert (rule.kind, rule.then, rule.content) == (
        RuleKind.POLICY,
        "offer an umbrella",
        "only in the shop",
    )


@pytest.mark.parametrize("name", ["weight", "criticality"])
@pytest.mark.parametrize("value", ["high", "HIGH", " High ", Weight.HIGH])
async def test_enums_are_given_as_members_or_by_name(name: str, value: Any) -> None:
    agent = agent_named()

    await agent.create_policy(then="x", **{name: value})

    assert only_rule(agent).weight is Weight.HIGH


async def test_unknown_name_of_an_enum_lists_the_known_ones() -> None:
    with pytest.raises(InvalidValueError, match="low, medium, high"):
        await agent_named().create_policy(then="x", weight="huge")


async def test_misspelt_argument_names_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="did you mean 'signals'"):
        await agent_named().create_policy(then="x", sginals=["y"])  # type: ignore[call-arg]


async def test_every_option_reaches_the_rule() -> None:
    agent = agent_named()

    async def judge(turn: object) -> bool:
        return True

    async def note(turn: object, rule: object) -> None: ...

    await agent.create_policy(
        title="Heavy parcel",
        content="over 20 kg",
        when="a parcel is heavy",
        then="send two people",
        signals=["it weighs a ton"],
        anti_signals=["light as a feather"],
        tools=[weigh_parcel],
        canned_responses=["Two of us will come."],
        weight="low",
        priority=7,
        tags=["parcels"],
        labels=["heavy"],
        groups=["trade"],
        effort="high",
        composition_mode="canned-strict",
        matcher=judge,
        always_judged=True,
        way_in="dependency",
        agent_intention=True,
        continuous=True,
        customer_dependent=False,
        track=False,
        on_selected=note,
        on_message=note,
        enabled=False,
        metadata={"owner": "depot"},
    )

    catalog = catalog_of(agent)
    rule = only_rule(agent)
    assert (rule.signals, rule.anti_signals) == (("it weighs a ton",), ("light as a feather",))
    assert [catalog.tools[each].name for each in rule.tools] == ["weigh_parcel"]
    assert [catalog.canned_responses[each].template for each in rule.canned_responses] == [
        "Two of us will come."
    ]
    assert (rule.weight, rule.priority, rule.effort) == (Weight.LOW, 7, Effort.HIGH)
    assert rule.composition_mode is CompositionMode.CANNED_STRICT
    assert rule.tags == {poise.any_of("parcels").tag}
    assert (set(rule.labels), {*map(str, rule.groups)}) == ({"heavy"}, {"trade"})
    assert (rule.always_judged, rule.way_in, rule.agent_intention) == (
        True,
        WayIn.DEPENDENCY,
        True,
    )
    assert (rule.continuous, rule.customer_dependent, rule.track) == (True, False, False)
    assert rule.enabled is False
    assert rule.metadata == {"owner": "depot"}
    assert rule.matcher is not None
    assert catalog.bindings[rule.matcher] is judge
    assert rule.on_selected == rule.on_message
    assert rule.on_selected is not None
    assert catalog.bindings[rule.on_selected] is note


# -- absent is not empty --


@pytest.mark.parametrize("field", ["title", "content", "when", "then"])
async def test_empty_text_was_said_and_is_refused(field: str) -> None:
    said: dict[str, Any] = {"title": "t", "then": "x", field: ""}

    with pytest.raises(InvalidValueError, match="is empty"):
        await agent_named().create_policy(**said)


@pytest.mark.parametrize("field", ["conditions", "triggers"])
async def test_empty_list_of_conditions_is_refused(field: str) -> None:
    with pytest.raises(InvalidValueError, match="empty list"):
        await agent_named().create_observation(**{field: []})  # type: ignore[arg-type]


# case B-095
async def test_zero_and_false_are_values() -> None:
    agent = agent_named()

    await agent.create_policy(title="t", then="x", priority=0, track=False, enabled=False)

    rule = only_rule(agent)
    assert (rule.priority, rule.track, rule.enabled) == (0, False, False)


async def test_zero_against_another_priority_is_a_difference() -> None:
    agent = agent_named()
    await agent.create_policy(title="t", then="x", priority=3)

    with pytest.raises(DuplicateKeyError, match="priority"):
        await agent.create_policy(title="t", then="x", priority=0)


@pytest.mark.parametrize(
    "said",
    [
        {"signals": "one text"},
        {"signals": [1]},
        {"signals": [" "]},
        {"tools": weigh_parcel},
        {"labels": "vip"},
        {"groups": "trade"},
        {"tags": "parcels"},
        {"tags": [3]},
        {"tags": [""]},
        {"canned_responses": "Hello."},
        {"canned_responses": [""]},
        {"priority": "1"},
        {"priority": True},
        {"track": 0},
        {"effort": 3},
        {"way_in": "window"},
        {"metadata": {"a": 1}},
        {"metadata": ["a"]},
        {"matcher": "sometimes"},
        {"matcher": 5},
        pytest.param({"on_selected": lambda turn, rule: None}, id="a handler that is not async"),
        {"id": " "},
        {"title": 5},
        {"dependencies": ["Lost card"]},
    ],
    ids=repr,
)
async def test_what_can_not_be_is_refused_where_it_is_declared(said: dict[str, Any]) -> None:
    agent = agent_named()

    with pytest.raises(InvalidValueError):
        await agent.create_policy(**{"then": "x", **said})

    assert not catalog_of(agent).rules
    assert not catalog_of(agent).canned_responses


@pytest.mark.parametrize("braces", ["{}", "{{}}", "{{…}}", "{% raw %}", "{{ a", "}} {{", "{0}"])
async def test_braces_in_any_text_are_kept_verbatim(braces: str) -> None:
    agent = agent_named()

    await agent.create_policy(
        title=f"t {braces}", when=braces, then=braces, content=braces, signals=[braces]
    )
    await agent.create_canned_response(f"All of it: {braces}")
    await agent.create_term(braces, braces)

    rule = only_rule(agent)
    assert (rule.when, rule.then, rule.content, rule.signals) == (braces, braces, braces, (braces,))
    assert catalog_of(agent).version


@pytest.mark.parametrize("broken", ["a\0b", "\ud83d"])
@pytest.mark.parametrize("field", ["title", "when", "then", "content", "id"])
async def test_text_that_no_store_can_hold_is_refused(broken: str, field: str) -> None:
    with pytest.raises(InvalidValueError, match=field):
        await agent_named().create_policy(**{"then": "x", field: broken})  # type: ignore[arg-type]


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_kept_or_refused(text: str) -> None:
    agent = agent_named()
    can_be_kept = text.strip() and "\0" not in text and not re.search("[\ud800-\udfff]", text)

    if can_be_kept:
        run(agent.create_policy, title="t", then=text, signals=[text])
        assert only_rule(agent).then == text
        assert only_rule(agent).signals == (text,)
    else:
        with pytest.raises(InvalidValueError, match="then"):
            run(agent.create_policy, title="t", then=text, signals=[text])


def run(declare: Callable[..., Any], **said: Any) -> Any:
    """Drive a declaration to its end: it never waits for anything."""
    declaring = declare(**said)
    try:
        declaring.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("a declaration waited")


# -- keys --


async def test_declaring_twice_gives_the_same_handle_and_one_rule() -> None:
    agent = agent_named()

    first = await agent.create_policy(title="t", then="x", signals=["y"])
    second = await agent.create_policy(title="t", then="x", signals=["y"])

    assert second is first
    assert list(catalog_of(agent).rules) == [first.id]


async def test_same_key_with_other_content_names_both_places() -> None:
    agent = agent_named()
    await agent.create_policy(title="t", then="x")

    with pytest.raises(DuplicateKeyError) as caught:
        await agent.create_policy(title="t", then="y")

    assert caught.value.first_at != caught.value.second_at
    assert __file__ in caught.value.first_at
    assert __file__ in caught.value.second_at
    assert "then" in caught.value.reason


async def test_same_key_for_a_policy_and_an_observation_is_refused() -> None:
    agent = agent_named()
    await agent.create_policy(title="t", then="x")

    with pytest.raises(DuplicateKeyError, match="kind"):
        await agent.create_observation("x", title="t")


async def test_rules_without_a_key_are_told_apart_by_condition_and_action() -> None:
    agent = agent_named()

    one = await agent.create_guideline("greeting", "welcome them back")
    other = await agent.create_guideline("greeting", "introduce yourself")
    again = await agent.create_guideline("greeting", "introduce yourself")

    assert one.id != other.id
    assert again is other


async def test_given_id_is_the_key_and_frees_the_title() -> None:
    agent = agent_named()

    one = await agent.create_policy(title="t", then="x", id="one")
    other = await agent.create_policy(title="t", then="y", id="other")

    assert one.id != other.id


# case B-079
async def test_ids_are_the_same_on_every_run_and_differ_between_agents() -> None:
    said = {"title": "t", "then": "x"}

    first = await agent_named("A").create_policy(**said)  # type: ignore[arg-type]
    rerun = await agent_named("A").create_policy(**said)  # type: ignore[arg-type]
    elsewhere = await agent_named("B").create_policy(**said)  # type: ignore[arg-type]

    assert first.id == rerun.id
    assert first.id != elsewhere.id


# case B-079
async def test_edited_text_keeps_the_id_and_makes_a_new_version() -> None:
    before, after = agent_named(), agent_named()

    old = await before.create_policy(title="t", then="x")
    new = await after.create_policy(title="t", then="x, politely")

    assert old.id == new.id
    assert catalog_of(before).version != catalog_of(after).version


async def test_same_program_twice_is_the_same_catalog() -> None:
    async def declare(agent: Agent) -> str:
        async def judge(turn: object) -> bool:
            return True

        topic = await agent.create_observation(title="Parcels", matcher=judge)
        await agent.create_policy(
            title="Heavy", then="x", dependencies=[topic], tools=[weigh_parcel], tags=["a", "b"]
        )
        return catalog_of(agent).version

    agent = agent_named()

    first = await declare(agent)
    again = await declare(agent)
    elsewhere = await declare(agent_named())

    assert first == again == elsewhere


# -- functions --


async def test_functions_made_in_a_loop_are_told_apart() -> None:
    agent = agent_named()

    for limit in (1, 2):

        async def judge(turn: object, limit: int = limit) -> bool:
            return limit > 1

        await agent.create_observation(f"over {limit}", matcher=judge)

    catalog = catalog_of(agent)
    names = {rule.matcher for rule in catalog.rules.values()}
    assert len(names) == 2
    assert all(name in catalog.bindings for name in names if name)


async def test_always_matching_rule_needs_no_condition() -> None:
    agent = agent_named()

    await agent.create_guideline(matcher=poise.MATCH_ALWAYS, action="be brief")
    await agent.create_observation(matcher=poise.MATCH_ALWAYS, title="Every turn")

    assert [rule.matcher for rule in catalog_of(agent).rules.values()] == ["always", "always"]


async def test_observation_without_condition_or_matcher_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="when"):
        await agent_named().create_observation(title="Nothing")


# -- relations --


async def test_relations_of_every_kind_reach_the_catalog() -> None:
    agent = agent_named()
    a = await agent.create_policy(title="a", then="x")
    b = await agent.create_policy(title="b", then="x")
    c = await agent.create_policy(title="c", then="x")

    await a.depend_on(b, c, mode=DependencyMode.THIS_TURN)
    await a.prioritize_over(b, c)
    await b.exclude(c)
    await a.entail(b, always=True)

    relations = catalog_of(agent).relations
    assert [(each.kind, each.source, each.target) for each in relations] == [
        (RelationKind.DEPENDENCY, a.id, b.id),
        (RelationKind.DEPENDENCY, a.id, c.id),
        (RelationKind.PRIORITY, a.id, b.id),
        (RelationKind.PRIORITY, a.id, c.id),
        (RelationKind.EXCLUSION, b.id, c.id),
        (RelationKind.ENTAILMENT, a.id, b.id),
    ]
    assert relations[0].mode is DependencyMode.THIS_TURN
    assert relations[-1].always


async def test_each_call_of_depend_on_any_is_a_group_of_its_own() -> None:
    agent = agent_named()
    rule, *others = [await agent.create_policy(title=each, then="x") for each in "abcde"]

    await rule.depend_on_any(others[:2])
    await rule.depend_on_any(others[2:])
    await rule.depend_on_any(reversed(others[:2]))

    groups: dict[str | None, set[object]] = {}
    for each in catalog_of(agent).relations:
        groups.setdefault(each.group, set()).add(each.target)
    assert sorted(map(len, groups.values())) == [2, 2]
    assert None not in groups


async def test_relation_declared_twice_is_one() -> None:
    agent = agent_named()
    a = await agent.create_policy(title="a", then="x")
    b = await agent.create_policy(title="b", then="x", dependencies=[a, a])

    await b.depend_on(a)

    assert len(catalog_of(agent).relations) == 1


async def test_tags_stand_in_relations_within_any_of_and_all_of() -> None:
    agent = agent_named()
    tag = await agent.create_tag("parcels")
    tagged = await agent.create_policy(title="a", then="x", tags=[tag])
    by_name = await agent.create_policy(title="b", then="x", tags=["parcels"])

    rule = await agent.create_policy(title="c", then="x", dependencies=[poise.all_of(tag)])
    await rule.prioritize_over(poise.any_of("parcels"))

    catalog = catalog_of(agent)
    assert set(catalog.needed_by(rule.id)) == {tagged.id, by_name.id}
    assert TagEnd(tag.id, every=False) in [each.target for each in catalog.relations]


async def test_bare_tag_in_a_relation_names_the_mend() -> None:
    agent = agent_named()
    tag = await agent.create_tag("parcels")
    rule = await agent.create_policy(title="a", then="x")

    with pytest.raises(InvalidValueError, match=r"any_of\(tag\) or all_of\(tag\)"):
        await rule.depend_on(tag)  # type: ignore[arg-type]


async def test_cycle_is_refused_when_it_is_closed_and_leaves_nothing() -> None:
    agent = agent_named()
    a = await agent.create_policy(title="a", then="x")
    b = await agent.create_policy(title="b", then="x", dependencies=[a])
    c = await agent.create_policy(title="c", then="x", dependencies=[b])
    before = catalog_of(agent).version

    with pytest.raises(InvalidValueError, match="'a' → 'c' → 'b' → 'a'"):
        await a.depend_on(c)

    assert catalog_of(agent).version == before
    await a.prioritize_over(c)  # another family of relations


async def test_priority_and_exclusion_close_cycles_together() -> None:
    agent = agent_named()
    a = await agent.create_policy(title="a", then="x")
    b = await agent.create_policy(title="b", then="x")
    await a.prioritize_over(b)

    with pytest.raises(InvalidValueError, match="cycle"):
        await b.exclude(a)


async def test_entailment_may_go_round() -> None:
    agent = agent_named()
    a = await agent.create_policy(title="a", then="x")
    b = await agent.create_policy(title="b", then="x")

    await a.entail(b)
    await b.entail(a)

    assert len(catalog_of(agent).relations) == 2


async def test_rule_of_another_agent_is_no_target() -> None:
    stranger = await agent_named("Other").create_policy(title="a", then="x")

    with pytest.raises(InvalidValueError, match="another agent, 'Other'"):
        await agent_named().create_policy(title="b", then="x", dependencies=[stranger])


async def test_rule_is_no_target_of_its_own() -> None:
    rule = await agent_named().create_policy(title="a", then="x")

    with pytest.raises(InvalidValueError, match="itself"):
        await rule.exclude(rule)


async def test_relation_without_target_is_refused() -> None:
    rule = await agent_named().create_policy(title="a", then="x")

    with pytest.raises(InvalidValueError, match="no target"):
        await rule.depend_on()
    with pytest.raises(InvalidValueError, match="no target"):
        await rule.depend_on_any([])
