from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from poise_discovery.calibration import Calibration, calibrate, over_rivals
from poise_discovery.heldout import PART_SURCHARGE, HeldOut
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


def test_the_default_curve_serves_where_nothing_can_be_fitted() -> None:
    assert calibrate(held_of(rules=2, texts=3), Thresholds(0.0)) == Calibration()


def test_over_rivals_compares_with_the_best_other_rule() -> None:
    scores = np.asarray([[3.0, 1.0, 2.0]], dtype=np.float32)

    assert over_rivals(scores).tolist() == [[1.0, -2.0, -1.0]]
    assert over_rivals(scores[:, :1]).shape == (1, 1)
