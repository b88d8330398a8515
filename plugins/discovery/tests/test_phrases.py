from __future__ import annotations

import pytest

from poise.testing.turns import catalog_of, observation, policy
from poise.values.catalog import Annotation, CatalogSnapshot
from poise.values.ids import RuleId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import ALWAYS, WayIn
from poise_discovery.phrases import MOST_PHRASES, RulePhrases, as_customer, phrases_of


def by_name(snapshot: CatalogSnapshot) -> dict[str, RulePhrases]:
    return {snapshot.rules[each.rule].name: each for each in phrases_of(snapshot)}


def test_a_rule_is_known_by_its_signals_and_near_misses() -> None:
    rule = policy("lost", signals=["card gone", "card  gone", "no card"], anti_signals=["declined"])

    (found,) = phrases_of(catalog_of([rule]))

    assert set(found.positives) == {"card gone", "no card"}
    assert found.negatives == ("declined",)
    assert not found.from_own_words


def test_a_rule_without_signals_takes_them_from_its_own_words() -> None:
    rule = policy("Lost card", when="the customer has lost a card", then="freeze it")

    (found,) = phrases_of(catalog_of([rule]))

    assert found.from_own_words
    assert {"Lost card", "the customer has lost a card", "I have lost a card"} == set(
        found.positives
    )


def test_what_the_agent_is_about_to_speak_of_is_what_customers_speak_of() -> None:
    """B-004: a rule about the agent's intention comes up by the customer's question."""
    rule = policy("privacy", when="you are about to discuss test results", then="name nobody")

    (found,) = phrases_of(catalog_of([rule]))

    assert found.from_own_words
    assert {"privacy", "you are about to discuss test results", "test results"} == set(
        found.positives
    )


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("the customer has lost a card", "I have lost a card"),
        ("the customer's card is gone", "my card is gone"),
        ("The customer wants to close their account", "I want to close my account"),
        ("the customer talks about a bank card", "a bank card"),
        ("the user asks for a loan", "a loan"),
        ("it rains", "it rains"),
    ],
)
def test_a_condition_is_put_into_the_customers_mouth(condition: str, said: str) -> None:
    assert as_customer(condition) == said


def test_an_observation_takes_the_signals_of_what_depends_on_it() -> None:
    topic = observation("cards", signals=["my card"])
    between = observation("lost cards", signals=["lost"])
    lost = policy("lost", signals=["card gone"])
    needs = [
        Relation(RelationKind.DEPENDENCY, lost.id, between.id),
        Relation(RelationKind.DEPENDENCY, between.id, topic.id),
    ]

    found = by_name(catalog_of([topic, between, lost], needs))

    assert set(found["cards"].positives) == {"my card", "lost", "card gone"}
    assert set(found["lost"].positives) == {"card gone"}
    assert found["cards"].relatives >= {between.id}


def test_an_observation_may_keep_to_its_own_signals() -> None:
    topic = observation("cards", signals=["my card"], own_signals_only=True)
    lost = policy("lost", signals=["card gone"])

    found = by_name(
        catalog_of([topic, lost], [Relation(RelationKind.DEPENDENCY, lost.id, topic.id)])
    )

    assert found["cards"].positives == ("my card",)


def test_what_no_phrase_can_bring_up_is_not_indexed() -> None:
    rules = [
        policy("always", matcher=ALWAYS, signals=["x"]),
        policy("by code", matcher="some.function"),
        policy("state", way_in=WayIn.DEPENDENCY),
        policy("steering", way_in=WayIn.ALWAYS),
        policy("off", enabled=False, signals=["x"]),
        policy("judged always", always_judged=True, signals=["y"]),
    ]

    assert set(by_name(catalog_of(rules))) == {"judged always"}


def test_an_annotation_closes_the_way_in_and_adds_signals() -> None:
    shut, helped = policy("shut", signals=["x"]), policy("helped", signals=["y"])
    notes = {
        shut.id: Annotation(WayIn.DEPENDENCY),
        helped.id: Annotation(WayIn.SIGNALS, signals=("z",)),
    }

    found = by_name(catalog_of([shut, helped], annotations=notes))

    assert set(found) == {"helped"}
    assert set(found["helped"].positives) == {"y", "z"}


def test_proposed_near_misses_count_and_never_against_what_the_author_said() -> None:
    rule = policy("lost", signals=["card gone", "no card"], anti_signals=["Card declined"])
    notes = {
        rule.id: Annotation(
            WayIn.SIGNALS,
            signals=("where is it", "card  declined"),
            anti_signals=("pin forgotten", "CARD GONE", "Where is it"),
        )
    }

    (found,) = phrases_of(catalog_of([rule], annotations=notes))

    assert set(found.positives) == {"card gone", "no card", "where is it"}
    assert set(found.negatives) == {"Card declined", "pin forgotten"}


def test_implication_makes_relatives_and_priority_does_not() -> None:
    one, other, third = policy("one"), policy("other"), policy("third")
    relations = [
        Relation(RelationKind.ENTAILMENT, one.id, other.id),
        Relation(RelationKind.PRIORITY, one.id, third.id),
    ]

    found = by_name(catalog_of([one, other, third], relations))

    assert found["one"].relatives == {other.id}
    assert found["other"].relatives == {one.id}
    assert found["third"].relatives == frozenset()


def test_a_topic_of_very_many_policies_keeps_to_its_share() -> None:
    topic = observation("all")
    rules = [policy(f"p{at}", signals=[f"s{at} {n}" for n in range(10)]) for at in range(40)]
    needs = [Relation(RelationKind.DEPENDENCY, rule.id, topic.id) for rule in rules]

    found = by_name(catalog_of([topic, *rules], needs))

    assert len(found["all"].positives) == MOST_PHRASES


def test_order_of_declaration_changes_nothing() -> None:
    rules = [policy(f"p{at}", signals=["b", "a", "c"]) for at in range(4)]

    assert phrases_of(catalog_of(rules)) == phrases_of(catalog_of(rules[::-1]))
    assert RuleId(rules[0].id) in {each.rule for each in phrases_of(catalog_of(rules))}
