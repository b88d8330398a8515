from __future__ import annotations

import random

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.values.ids import RuleId
from poise_discovery.corpus import lay_out
from poise_discovery.heldout import hold_out
from poise_discovery.index import Index
from poise_discovery.phrases import RulePhrases
from poise_discovery.projection import fit_projection
from poise_discovery.training import FITS, SETTLED_FROM, UNSETTLED, empty_index

SLOW = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def assert_same(one: Index, other: Index) -> None:
    assert one.rules == other.rules
    assert one.keys == other.keys
    assert np.allclose(one.heads.weights, other.heads.weights, atol=2e-2)
    assert np.allclose(one.heads.bias, other.heads.bias, atol=2e-2)
    assert attrs.astuple(one.thresholds) == pytest.approx(attrs.astuple(other.thresholds), abs=2e-2)


@given(seed=st.integers(0, 10_000))
@SLOW
def test_the_order_of_rules_changes_nothing(seed, trained, topics) -> None:
    shuffled = random.Random(seed).sample(topics, len(topics))

    assert_same(trained(topics), trained(shuffled))


@given(count=st.integers(0, 6), target=st.sampled_from((0.9, 0.97)))
@SLOW
def test_an_index_survives_the_artifact_store(count, target, trained, topics) -> None:
    index = trained(topics[:count], target)

    kept = Index.from_bytes(index.to_bytes())

    assert kept.to_bytes() == index.to_bytes()
    assert kept.thresholds == index.thresholds
    assert kept.signals == index.signals
    assert np.array_equal(kept.heads.weights, index.heads.weights)


@pytest.mark.parametrize("blob", [b"", b"not an index", b"PK\x03\x04 torn"])
def test_a_damaged_blob_is_refused(blob) -> None:
    with pytest.raises(ValueError, match="can't be read"):
        Index.from_bytes(blob)


def test_a_blob_of_another_format_is_refused(monkeypatch, trained, topics) -> None:
    monkeypatch.setattr("poise_discovery.index.FORMAT", 0)
    old = trained(topics).to_bytes()
    monkeypatch.undo()

    with pytest.raises(ValueError, match="format"):
        Index.from_bytes(old)


def test_taking_heads_from_an_earlier_index_gives_what_training_anew_gives(trained, topics) -> None:
    first = trained(topics)
    # Its anti-signal is in no one's pool, so no other rule is touched.
    changed = (*topics[:-1], attrs.evolve(topics[-1], negatives=("the fee is fine",)))

    again = trained(changed, earlier=[first])

    assert_same(again, trained(changed))
    reused = set(first.keys) & set(again.keys)
    assert len(reused) == len(topics) - 1
    for rule, key in enumerate(again.keys):
        if key in reused:
            assert np.array_equal(again.heads.weights[rule], first.heads.weights[rule])


@pytest.fixture
def many() -> tuple[RulePhrases, ...]:
    """A catalog that is large enough to keep its thresholds while few rules change."""
    return tuple(
        RulePhrases(RuleId(f"r{at:03}"), tuple(f"{verb} thing{at}" for verb in ("buy", "sell")))
        for at in range(SETTLED_FROM)
    )


def renamed(phrases: tuple[RulePhrases, ...], count: int) -> tuple[RulePhrases, ...]:
    changed = [attrs.evolve(each, negatives=("never that",)) for each in phrases[:count]]
    return (*changed, *phrases[count:])


def test_thresholds_stay_while_few_rules_of_many_change(many, trained, monkeypatch) -> None:
    first = trained(many)
    few = int(SETTLED_FROM * UNSETTLED)
    looked: list[int] = []
    monkeypatch.setattr(
        "poise_discovery.training.hold_out",
        lambda corpus, *more: looked.append(corpus.rules) or hold_out(corpus, *more),
    )

    some = trained(renamed(many, few), earlier=[first])
    again = trained(renamed(many, few + few), earlier=[some])
    lower = trained(renamed(many, few), 0.9, earlier=[first])

    assert (some.thresholds, some.calibration) == (first.thresholds, first.calibration)
    assert some.settled_on == first.settled_on  # so that small changes can't add up unnoticed
    assert again.settled_on != first.settled_on
    assert lower.thresholds.target == 0.9
    assert len(looked) == 2


def test_few_rules_get_new_thresholds_with_each_change(trained, topics) -> None:
    first = trained(topics)
    changed = (*topics[:-1], attrs.evolve(topics[-1], negatives=("the fee is fine",)))

    again = trained(changed, earlier=[first])

    assert again.settled_on != first.settled_on


def test_an_index_of_another_embedder_lends_nothing(trained, topics) -> None:
    other = attrs.evolve(trained(topics), embedder="other", keys=("",) * len(topics))

    assert_same(trained(topics, earlier=[other]), trained(topics))


def test_progress_is_told_for_each_part_of_the_work(many, trained) -> None:
    told: list[tuple[str, int, int]] = []

    trained(many, report=lambda *each: told.append(each))

    first = [done for phase, done, _ in told if phase == "telling rules apart"]
    assert first[0] == 0
    assert first == sorted(first)
    assert first[-1] == len(many)
    assert len(first) > FITS


def test_where_much_is_masked_held_out_phrases_have_no_say_in_it(
    trained, topics, monkeypatch
) -> None:
    monkeypatch.setattr("poise_discovery.heldout._MANY_DOUBTFUL", -1.0)
    hidden_from: list[int] = []
    monkeypatch.setattr(
        "poise_discovery.heldout.mask_unlabelled",
        lambda corpus, rules, heads, *, hidden=None, tick=None: hidden_from.append(
            0 if hidden is None else int(hidden.sum())
        ),
    )

    index = trained(topics)

    assert len(hidden_from) == 10  # one for each fold
    assert all(hidden_from)
    assert index.rules


def test_a_rules_own_signals_score_above_those_of_others(trained, topics, vectors_of) -> None:
    index, vectors = trained(topics), vectors_of(topics)

    for at, each in enumerate(sorted(topics, key=lambda each: each.rule)):
        rows = index.projection.apply(np.stack([vectors[text] for text in each.positives]))
        assert (index.heads.margins(rows).argmax(axis=1) == at).all()


def test_the_same_phrase_is_no_evidence_against_another_rule(topics, vectors_of) -> None:
    twins = [RulePhrases(RuleId("a"), ("one", "two")), RulePhrases(RuleId("b"), ("one", "three"))]
    phrases = [*twins, *topics]

    corpus = lay_out(phrases, vectors_of(phrases))

    place = {corpus.texts[row]: at for at, row in enumerate(corpus.pool)}
    assert corpus.counted[place["one"], 0] == corpus.counted[place["one"], 1] == 0.0
    assert corpus.counted[place["two"], 1] == 1.0


def test_relatives_phrases_are_no_evidence(topics, vectors_of) -> None:
    kin = attrs.evolve(topics[0], relatives=frozenset({topics[1].rule}))
    phrases = [kin, *topics[1:]]

    corpus = lay_out(phrases, vectors_of(phrases))

    place = {corpus.texts[row]: at for at, row in enumerate(corpus.pool)}
    assert all(corpus.counted[place[text], 0] == 0.0 for text in topics[1].positives)


def test_a_background_phrase_that_a_rule_claims_is_left_out(topics, vectors_of) -> None:
    greets = RulePhrases(RuleId("greet"), ("good morning", "hello", "hey there friend"))
    phrases = [greets, *topics]

    corpus = lay_out(phrases, vectors_of(phrases))

    neutral = {corpus.texts[row] for row in corpus.background}
    assert "hello" not in neutral
    assert neutral


def test_an_empty_catalog_has_an_index_without_rules(trained) -> None:
    assert trained(()).rules == empty_index("words", 0.97).rules == ()


@pytest.mark.parametrize("count", [1, 2])
def test_a_catalog_of_one_phrase_is_trained(count, trained) -> None:
    phrases = [RulePhrases(RuleId(f"r{at}"), (f"only phrase {at}",)) for at in range(count)]

    index = trained(phrases)

    assert np.isfinite(index.heads.weights).all()
    assert index.thresholds.base < 0.0


def test_projected_rows_are_of_unit_length_and_fewer_where_rules_are_many() -> None:
    pool = np.random.default_rng(0).standard_normal((900, 400)).astype(np.float32)

    few, many = fit_projection(pool, 50), fit_projection(pool, 10_000)

    assert few.apply(pool).shape[1] == 384
    assert many.apply(pool).shape[1] == 144
    assert np.allclose(np.linalg.norm(many.apply(pool), axis=1), 1.0, atol=1e-5)
    assert fit_projection(pool[:50], 50).basis is None
