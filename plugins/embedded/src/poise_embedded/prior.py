"""A decision model without a language model: discovery's probability, examples, and doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence

from poise import DecisionModel, Embedder
from poise.turn.models import DecisionRequest, Probability, Question
from poise_embedded.example_vectors import ExampleVectors
from poise_embedded.nearness import Nearness, compare
from poise_embedded.negation import denial_in

# Chosen for the embedder `use` on CLINC150, Banking77 and NLU++ together; the optimum is flat (4 to
# 10 for the contrast), so one set of numbers serves catalogs of very different make.
# `tests/bench/decide.py` measures what they come to.
_CONTRAST = 6.0  # logit per unit of cosine by which an example is nearer than a counterexample
_CLEAR = 0.05  # nearer than this to an example, a message is no near miss
_DISTANCE = 12.0  # logit per unit of cosine by which another text of the focus is nearer
_ALONE = (-4.4, 5.0, 4.4)  # without a prior: constant, cosine of the nearest example, contrast
_STRANGE = 0.25  # without a prior, what is farther than this from every example is a no
_EDGE = 1e-4  # a prior of 0 or 1 is taken for no more than this


class PriorDecisionModel(DecisionModel):
    """Answers from a question's prior, examples and counterexamples; reads no language.

    A prior is calibrated by discovery and is taken as it is; where there are counterexamples, it
    falls where the message lies nearer to one of them than to every example, or nearly so. Without
    a prior, only what is very near to an example or far from all of them is decided. A message that
    denies what the question is about is never a yes. Of several messages the likeliest counts.

    Args:
        embedder: Compares messages with examples.
        band: No up to the first number, yes from the second.
    """

    def __init__(self, embedder: Embedder, band: tuple[float, float] = (0.2, 0.6)) -> None:
        self.identity = f"prior-1/{embedder.identity}"
        self.band = band
        self._embedder = embedder
        self._examples = ExampleVectors(embedder)

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        focus = {text: denial_in(text) for text in request.focus if text.strip()}
        denies = any(focus.values())
        compared = [each for each in request.questions if focus and _needs_examples(each, denies)]
        near = (
            await compare(compared, focus, embedder=self._embedder, examples=self._examples)
            if compared
            else {}
        )
        return [
            self._by_examples(question, near[question.id])
            if question.id in near
            else self._by_prior(question, denies)
            for question in request.questions
        ]

    def _by_prior(self, question: Question, denies: bool) -> Probability:
        prior = question.prior
        if prior is None:
            return Probability(question.id, None, "no prior and no examples to go by")
        if denies and prior > self.band[0]:
            return Probability(
                question.id, None, "the message denies something, and no example says what"
            )
        return Probability(question.id, prior, f"prior {prior:.2f}")

    def _by_examples(self, question: Question, near: Sequence[Nearness]) -> Probability:
        low, high = self.band
        nearest = max(near, key=lambda each: each.cosine)
        chances = [(_chance(question.prior, each, nearest), each) for each in near]
        said = max((each for each in chances if not each[1].is_denied), default=None, key=_first)
        denied = max((each for each in chances if each[1].is_denied), default=None, key=_first)
        if denied and denied[0] > low and (said is None or said[0] < high):
            reason = f"denied by the message, although near to {denied[1].example!r}"
            return Probability(question.id, None, reason)
        value, by = said or denied or (0.0, nearest)
        if question.prior is None and value < high and nearest.cosine > _STRANGE:
            reason = f"no prior, and {nearest.example!r} is neither near nor far"
            return Probability(question.id, None, reason)
        return Probability(question.id, value, _rationale(question.prior, by))


def _needs_examples(question: Question, denies: bool) -> bool:
    return bool(question.examples) and (
        denies or question.prior is None or bool(question.counterexamples)
    )


def _first(pair: tuple[float, Nearness]) -> float:
    return pair[0]


def _chance(prior: float | None, near: Nearness, nearest: Nearness) -> float:
    if prior is None:
        constant, slope, contrast = _ALONE
        return _sigmoid(constant + slope * near.cosine + contrast * (near.contrast or 0.0))
    within = min(max(prior, _EDGE), 1.0 - _EDGE)
    # The prior is that of the best of the texts; one that lies farther off has less claim to it.
    evidence = math.log(within / (1.0 - within)) - _DISTANCE * (nearest.cosine - near.cosine)
    if near.contrast is not None:
        # Against alone: being far from every near miss is no sign of being the thing itself.
        evidence += _CONTRAST * min(near.contrast - _CLEAR, 0.0)
    return _sigmoid(evidence)


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def _rationale(prior: float | None, near: Nearness) -> str:
    start = "no prior" if prior is None else f"prior {prior:.2f}"
    beside = (
        "" if near.contrast is None else f", nearer than counterexamples by {near.contrast:.2f}"
    )
    return f"{start}; {near.cosine:.2f} to {near.example!r}{beside}"
