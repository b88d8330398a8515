"""What a turn of a neutral scenario took, once and over several runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

import attrs


@attrs.frozen
class Turn:
    """What one turn took, once.

    Attributes:
        requests: Requests that judge rules.
        tokens: Prompt tokens of them.
        output: Tokens that they wrote.
        milliseconds: From the message to the end of the turn.
        overhead: Of them, those not spent waiting for models.
        cpu: Milliseconds of processor time in that while, of all threads.
        expected: The rules that hold.
        judged: The rules that a model was asked about.
        matched: The rules found to hold.
        exact: Whether tokens were counted by a vocabulary, not by characters.
    """

    requests: int
    tokens: int
    output: int
    milliseconds: float
    overhead: float
    cpu: float
    expected: frozenset[str]
    judged: frozenset[str]
    matched: frozenset[str]
    exact: bool

    @property
    def right(self) -> bool:
        """Whether what was matched is what holds, no more and no less."""
        return self.matched == self.expected


@attrs.frozen
class Repeated:
    """The same turn, several times over."""

    runs: Sequence[Turn]

    def of(self, read: Callable[[Turn], float]) -> float:
        """Return the median of a measured figure."""
        return statistics.median(read(each) for each in self.runs)

    def most(self, read: Callable[[Turn], int]) -> int:
        """Return the most that was counted."""
        return max(read(each) for each in self.runs)

    @property
    def right(self) -> bool:
        """Whether every run's verdicts were right."""
        return all(each.right for each in self.runs)

    @property
    def true_judged(self) -> int:
        """How many of the rules that hold were judged, in the worst run."""
        return min(len(each.expected & each.judged) for each in self.runs)

    @property
    def true_rules(self) -> int:
        """How many rules hold."""
        return len(self.runs[0].expected)


Played = Mapping[str, Sequence[Repeated]]
"""The turns of a scenario, by latency."""
