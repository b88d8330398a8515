from __future__ import annotations

import attrs
import numpy as np
import pytest

from poise.testing.turns import catalog_of, observation, policy
from poise.turn.candidates import Sighting
from poise.turn.queries import Query, QueryKind
from poise.values.relationships import Relation, RelationKind
from poise_discovery.calibration import over_rivals
from poise_discovery.topics import with_topics

CARDS = observation("cards")
LOST = policy("lost", signals=["I lost my card"])
SAID = Query(QueryKind.MESSAGE, "my card is gone", 0)


def sighting(rule, probability: float, margin: float = 1.0) -> Sighting:
    return Sighting(rule.id, margin, margin, 0.0, probability, SAID)


def snapshot_of(topic=CARDS):
    return catalog_of([topic, LOST], [Relation(RelationKind.DEPENDENCY, LOST.id, topic.id)])


def chance_of(rule, found) -> float:
    return next(each.probability for each in found if each.rule == rule.id)


def test_a_topic_is_at_least_as_likely_as_its_policy() -> None:
    found = with_topics([sighting(CARDS, 0.4), sighting(LOST, 0.9)], snapshot_of())

    assert chance_of(CARDS, found) == 0.9
    assert chance_of(LOST, found) == 0.9


def test_a_topic_that_is_likelier_by_itself_stays_so() -> None:
    found = with_topics([sighting(CARDS, 0.95), sighting(LOST, 0.9)], snapshot_of())

    assert chance_of(CARDS, found) == 0.95


def test_a_policy_that_no_text_brings_up_says_nothing_about_its_topic() -> None:
    found = with_topics([sighting(CARDS, 0.1), sighting(LOST, 0.5, margin=-1.0)], snapshot_of())

    assert chance_of(CARDS, found) == 0.1


def test_a_topic_with_signals_of_its_own_only_is_left_alone() -> None:
    topic = attrs.evolve(CARDS, own_signals_only=True, signals=("my card",))

    found = with_topics([sighting(topic, 0.4), sighting(LOST, 0.9)], snapshot_of(topic))

    assert chance_of(topic, found) == 0.4


@pytest.mark.parametrize("rules", [3, 12])
def test_a_relative_is_no_rival(rules: int) -> None:
    scores = np.full((2, rules), -5.0, dtype=np.float32)
    scores[:, 0], scores[:, 1], scores[:, 2] = 3.0, 2.0, 1.0
    kin = tuple((1,) if rule == 0 else (0,) if rule == 1 else () for rule in range(rules))

    over = over_rivals(scores, kin)

    assert over[:, 0].tolist() == [2.0, 2.0]
    assert over[:, 1].tolist() == [1.0, 1.0]
    assert over[:, 2].tolist() == [-2.0, -2.0]


def test_a_rule_whose_relatives_fill_the_first_places_still_finds_its_rival() -> None:
    scores = np.arange(20, 0, -1, dtype=np.float32)[None, :]
    kin = [tuple(range(1, 15)), *[()] * 19]

    over = over_rivals(scores, kin)

    assert over[0, 0] == scores[0, 0] - scores[0, 15]


def test_rivals_are_those_that_a_plain_search_finds() -> None:
    random = np.random.default_rng(7)
    scores = random.normal(size=(30, 25)).astype(np.float32)
    kin = [
        tuple(set(random.integers(0, 25, size=random.integers(0, 20)).tolist()) - {rule})
        for rule in range(25)
    ]

    over = over_rivals(scores, kin)

    for rule, relatives in enumerate(kin):
        rivals = [other for other in range(25) if other != rule and other not in relatives]
        expected = scores[:, rule] - scores[:, rivals].max(axis=1)
        np.testing.assert_allclose(over[:, rule], expected, rtol=1e-6)
