from __future__ import annotations

import numpy as np
import pytest

from poise.testing.models import scripted_vectors
from poise.turn.queries import QUERY_WORDS, Query, QueryKind
from poise.values.ids import RuleId
from poise_discovery.index import Index
from poise_discovery.scoring import probes_of, score


def said(text: str, offset: int = 0, kind: QueryKind = QueryKind.MESSAGE) -> Query:
    return Query(kind, text, offset)


def scored(index: Index, *queries: Query, pruned: dict[RuleId, int] | None = None):
    probes = probes_of(queries)
    return score(index, probes, scripted_vectors([each.text for each in probes], 128), pruned)


@pytest.fixture
def index(trained, topics) -> Index:
    return trained(topics)


def test_a_hit_names_its_message_its_nearest_signal_and_what_was_asked(index) -> None:
    query = said("I lost my card somewhere", offset=3)
    number = index.number("lost")

    found = scored(index, query).sighting(number)

    assert found.is_hit
    assert found.query == query
    assert found.signal == "I lost my card"
    assert found.margin == pytest.approx(found.score - found.threshold)
    assert 0.0 < found.probability <= 1.0


def test_a_message_of_two_requests_brings_up_both_rules(index) -> None:
    found = scored(index, said("I lost my card. And when do you open today?"))

    hits = {index.rules[rule] for rule in found.hits()}
    assert {"lost", "hours"} <= hits


def test_a_sighting_by_a_part_names_the_whole_message(index) -> None:
    query = said("good grief what a day it was. I lost my card")

    assert scored(index, query).sighting(index.number("lost")).query == query


def test_the_best_text_counts(index) -> None:
    unclear, clear = said("well then", 1), said("I forgot my pin", 2)

    assert scored(index, unclear, clear).sighting(index.number("pin")).query == clear


def test_text_of_several_messages_has_to_score_more(index) -> None:
    text, number = "I forgot my pin", index.number("pin")

    alone = scored(index, said(text)).sighting(number)
    joined = scored(index, said(text, kind=QueryKind.JOINED)).sighting(number)

    assert joined.threshold == pytest.approx(alone.threshold + index.thresholds.joined, abs=1e-5)


def test_a_pruned_rule_needs_newer_words_of_its_own(index) -> None:
    rule, number = RuleId("pin"), index.number("pin")
    old, new = said("I forgot my pin", 4), said("I forgot my pin", 6)
    joined = said("I forgot my pin", 6, QueryKind.JOINED)

    assert not scored(index, old, pruned={rule: 4}).sighting(number).is_hit
    assert not scored(index, old, joined, pruned={rule: 4}).sighting(number).is_hit
    assert scored(index, old, new, pruned={rule: 4}).sighting(number).query == new


def test_a_rule_known_by_its_own_words_needs_less(trained, topics) -> None:
    import attrs

    index = trained([attrs.evolve(topics[0], from_own_words=True), *topics[1:]])
    number = index.number(topics[0].rule)
    other = index.number(topics[1].rule)

    found = scored(index, said("tell me something"))

    assert found.sighting(number).threshold < found.sighting(other).threshold


def test_long_text_is_cut_and_blank_text_is_not_scored() -> None:
    probes = probes_of([said("word " * 1_000), said("  "), said("")])

    assert len(probes) == 1
    assert len(probes[0].text.split()) == QUERY_WORDS


def test_hits_come_best_first(index) -> None:
    found = scored(index, said("the pin rate fee loan card hours open"))

    margins = [float(found.margins[rule]) for rule in found.hits()]
    assert margins == sorted(margins, reverse=True)


def test_scores_of_many_texts_agree_with_each_alone(index) -> None:
    queries = [said("I lost my card"), said("euro rate"), said("a fee")]

    together = scored(index, *queries)
    alone = np.max([scored(index, query).margins for query in queries], axis=0)

    assert np.allclose(together.margins, alone, atol=1e-5)
