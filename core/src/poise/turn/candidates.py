"""What discovery found, and what a turn considers."""

from __future__ import annotations

import attrs

from poise.turn.queries import Query
from poise.values.ids import RuleId
from poise.values.rules import Rule


@attrs.frozen
class Sighting:
    """One rule scored against the new texts of a turn.

    Attributes:
        rule: The rule.
        margin: Score minus threshold, in the discoverer's own unit; at least 0 is a hit.
        score: The raw score of the best query.
        threshold: What the score had to reach.
        probability: Calibrated chance that the rule is relevant to what is new, 0 to 1: older
            words can bring a rule up and raise nothing here.
        query: The text that scored best; `None` where nothing was scored.
        signal: The rule's own phrase nearest to that text.
        over_budget: A hit that was left out since `admit_limit` was reached.
    """

    rule: RuleId
    margin: float
    score: float
    threshold: float
    probability: float
    query: Query | None = None
    signal: str | None = None
    over_budget: bool = False

    @property
    def is_hit(self) -> bool:
        """Whether the rule was made relevant by one of the new texts."""
        return self.margin >= 0.0


@attrs.frozen
class Budget:
    """How large a working set may be: a count, and tokens where a limit is known."""

    rules: int
    tokens: int | None = None


@attrs.frozen
class Candidate:
    """A rule that this turn considers.

    Attributes:
        rule: The rule.
        sighting: This turn's score for it, when discovery scored it.
        judged: Whether a matcher is asked; otherwise the rule is shown unjudged.
        iteration: In which preparation pass it came up, from 1.
        sighted_in: In which pass a new text last brought it up; 0 for none.
    """

    rule: Rule
    sighting: Sighting | None = None
    judged: bool = False
    iteration: int = 1
    sighted_in: int = 0
