from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import LogisticRegression

from poise_discovery.calibration import Calibration, calibrate, fit_curve, over_rivals
from poise_discovery.heldout import DOUBTFUL, PART_SURCHARGE, HeldOut
from poise_discovery.thresholds import Thresholds, choose, weighted_quantile


def held_of(rules: int = 40, texts: int = 10, *, gap: float = 6.0, shared: int = 1, seed: int = 0):
    """Return scores of a catalog in which each text brings up `shared` rules."""
    chance = np.random.default_rng(seed)
    truth = np.zeros((rules * texts, rules), dtype=bool)
    for at in range(rules * texts):
        for more in range(shared):
            truth[at, (at // texts + more * 7) % rules] = True
    scores = chance.normal(-4.0, 1.5, truth.shape) + truth * chance.normal(gap, 2.0, truth.shape)
    counts = truth.sum(axis=0)
    none = np.zeros((0, rules), dtype=np.float32)
    return HeldOut(
        scores=scores.astype(np.float32),
        truth=truth,
        evidence=np.ones(truth.shape, dtype=np.float32),
        weights=(truth / counts).sum(axis=1).astype(np.float32),
        joined=scores[::3].astype(np.float32) - 1.0,
        joined_truth=truth[::3],
        background=chance.normal(-4.0, 1.5, (50, rules)).astype(np.float32),
        parts=none,
        part_of=np.zeros(0, dtype=np.intp),
    )


def recall_of(held: HeldOut, chosen: Thresholds) -> float:
    admitted = held.effective(chosen.lead, chosen.knee) >= chosen.base
    return float(admitted[held.truth].mean())


@given(st.sampled_from((0.8, 0.9, 0.95, 0.97, 0.99)), st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_the_threshold_meets_its_target_on_what_it_was_fitted_to(target: float, seed: int) -> None:
    held = held_of(seed=seed)

    chosen = choose(held, target)

    assert abs(recall_of(held, chosen) - target) < 0.006


@given(st.floats(0.6, 0.98), st.floats(0.001, 0.015))
@settings(max_examples=20, deadline=None)
def test_a_higher_target_never_finds_less(target: float, more: float) -> None:
    held = held_of()

    assert recall_of(held, choose(held, target + more)) >= recall_of(held, choose(held, target))


def test_one_rule_a_message_gets_a_lead_and_several_get_none_that_costs() -> None:
    alone, together = choose(held_of(gap=7.0), 0.97), choose(held_of(gap=7.0, shared=3), 0.97)

    assert alone.lead > 0.0
    assert together.lead <= alone.lead
    assert alone.at(alone.knee) == alone.base < alone.at(alone.knee + 1.0)


def test_a_catalog_too_small_to_choose_gets_a_cautious_floor() -> None:
    chosen = choose(held_of(rules=2, texts=3), 0.97)

    assert chosen.base < 0.0
    assert chosen.lead == 0.0


def test_few_rules_are_asked_for_more_than_the_target() -> None:
    held = held_of(rules=10)

    assert recall_of(held, choose(held, 0.95)) > 0.96


def test_a_part_counts_for_its_text_at_a_surcharge() -> None:
    held = held_of(rules=3, texts=2)
    parts = np.asarray([[9.0, -9.0, -9.0]], dtype=np.float32)
    split = HeldOut(
        **{
            **{name: getattr(held, name) for name in held.__slots__ if name != "__weakref__"},
            "parts": parts,
            "part_of": np.asarray([4]),
        }
    )

    scores = split.effective(0.0, 0.0)

    assert scores[4, 0] == 9.0 - PART_SURCHARGE
    assert np.array_equal(np.delete(scores, 4, axis=0), np.delete(held.scores, 4, axis=0))


@given(hnp.arrays(np.float32, st.integers(1, 40), elements=st.floats(-9, 9, width=32)))
def test_a_weighted_quantile_leaves_that_share_below(values: np.ndarray) -> None:
    weights = np.ones(len(values))

    bar = weighted_quantile(values, weights, 0.25)

    assert (values < bar).mean() <= 0.25
    assert (values <= bar).mean() > 0.25


def test_probabilities_are_honest_on_what_they_were_fitted_to_and_rise_with_the_margin() -> None:
    held = held_of()
    chosen = choose(held, 0.97)

    curve = calibrate(held, chosen)
    margins = held.effective(chosen.lead, chosen.knee) - np.float32(chosen.base)
    seen = margins >= 0.0
    chances = curve.chances(margins[seen], over_rivals(held.scores)[seen])

    assert abs(chances.mean() - held.truth[seen].mean()) < 0.02
    steps = np.linspace(-3, 5, 30, dtype=np.float32)
    assert (np.diff(curve.chances(steps, np.zeros(30, dtype=np.float32))) > 0).all()


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_the_curve_is_the_one_that_scikit_learn_finds(seed: int) -> None:
    chance = np.random.default_rng(seed)
    features = chance.normal(0.0, 2.0, (400, 3)).astype(np.float32)
    truth = chance.random(400) < 1.0 / (1.0 + np.exp(1.0 - features @ (1.0, 0.5, 0.2)))
    weights = chance.random(400).astype(np.float32)

    found = fit_curve(features, truth, weights)

    reference = LogisticRegression(C=100.0, tol=1e-10, max_iter=10_000)
    reference.fit(features.astype(np.float64), truth, sample_weight=weights)
    expected = [reference.intercept_[0], *reference.coef_[0]]
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("height", [1.0, 30.0])
def test_a_curve_through_what_a_line_separates_is_finite(height: float) -> None:
    features = np.linspace(-height, height, 60, dtype=np.float32)[:, None].repeat(3, axis=1)

    found = fit_curve(features, features[:, 0] > 0.0, np.ones(60, dtype=np.float32))

    assert np.isfinite(found).all()


def test_neutral_messages_that_come_near_lower_the_probabilities() -> None:
    held = held_of()
    chosen = choose(held, 0.97)
    loud = attrs.evolve(held, background=np.full((50, 40), chosen.base, dtype=np.float32))
    margins, over = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)

    told, warned = calibrate(held, chosen), calibrate(loud, chosen)

    assert warned.chances(margins, over) < told.chances(margins, over)


def test_what_looks_like_a_rules_own_says_less_where_much_does() -> None:
    held = held_of()
    wrong = ~held.truth
    chosen = Thresholds(-3.0)  # low enough for many wrong ones to be asked about

    def chance_where(share: float) -> float:
        drawn = np.random.default_rng(1).random(wrong.shape) < share
        evidence = np.where(wrong & drawn, np.float32(DOUBTFUL), held.evidence)
        curve = calibrate(attrs.evolve(held, evidence=evidence), chosen)
        return float(curve.chances(np.float32([0.5]), np.float32([0.0]))[0])

    assert chance_where(0.3) > chance_where(0.02)


def test_the_default_curve_serves_where_nothing_can_be_fitted() -> None:
    assert calibrate(held_of(rules=2, texts=3), Thresholds(0.0)) == Calibration()


def test_over_rivals_compares_with_the_best_other_rule() -> None:
    scores = np.asarray([[3.0, 1.0, 2.0]], dtype=np.float32)

    assert over_rivals(scores).tolist() == [[1.0, -2.0, -1.0]]
    assert over_rivals(scores[:, :1]).shape == (1, 1)
