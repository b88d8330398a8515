"""What matchers say of candidates, and what they ask to find out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from poise.turn.models import Answer, Question
from poise.values.ids import RuleId


class VerdictKind(Enum):
    """Whether a candidate applies to this very turn.

    UNDECIDED is never a no: the rule is shown as one that may apply, with no consequence.
    """

    APPLIES = "applies"
    DOES_NOT = "does_not"
    ALREADY_APPLIED = "already_applied"
    PARTLY_APPLIED = "partly_applied"
    AMBIGUOUS = "ambiguous"
    UNDECIDED = "undecided"


@attrs.frozen
class Verdict:
    """One matcher's judgement of one rule.

    Attributes:
        rule: The rule.
        kind: What was found.
        judged_by: The matcher, and the model where one answered: `decision_batch/embedded:prior`.
        probability: Raw probability that the rule applies, where the judge gives one.
        rationale: Why, in a sentence.
        owed: For PARTLY_APPLIED: what is still to do.
        among: For AMBIGUOUS: the rules in question.
        question: For AMBIGUOUS: what to ask.
        from_code: Decided by code; an implication can't override its no.
    """

    rule: RuleId
    kind: VerdictKind
    judged_by: str
    probability: float | None = None
    rationale: str = ""
    owed: str | None = None
    among: tuple[RuleId, ...] = ()
    question: str | None = None
    from_code: bool = False


@attrs.frozen
class Inquiry:
    """What one matcher asks about its candidates: the engine decides how many requests carry it.

    Attributes:
        section: Task text for a language model; appended last to the turn's prompt.
        schema: JSON schema of the answer per question, for structured requests.
        questions: One yes/no question per candidate; the id is the rule's.
    """

    section: str
    schema: Mapping[str, Any]
    questions: tuple[Question, ...]


@attrs.frozen
class Answers:
    """The answers to one inquiry, by question id; a missing one counts as undecided."""

    by_id: Mapping[str, Answer]

    def get(self, question: str) -> Answer:
        """Return the answer to `question`; an abstention where none came."""
        return self.by_id.get(question, Answer(question, None, None, judged_by="nobody"))


def missing(candidates: Sequence[RuleId], verdicts: Sequence[Verdict]) -> tuple[RuleId, ...]:
    """Return the candidates without a verdict."""
    judged = {verdict.rule for verdict in verdicts}
    return tuple(rule for rule in candidates if rule not in judged)
