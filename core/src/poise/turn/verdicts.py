"""What matchers say of candidates, and what they ask to find out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

import attrs

from poise.errors import InvalidValueError
from poise.turn.models import Answer, Question
from poise.values.ids import RuleId, Subject

if TYPE_CHECKING:
    from pydantic import BaseModel


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
        among: For AMBIGUOUS: the rules and journeys in question.
        question: For AMBIGUOUS: what to ask.
        options: For AMBIGUOUS: each of `among` as the customer would say it, in their order.
        from_code: Decided by code; an implication can't override its no.
    """

    rule: RuleId
    kind: VerdictKind
    judged_by: str
    probability: float | None = None
    rationale: str = ""
    owed: str | None = None
    among: tuple[Subject, ...] = ()
    question: str | None = None
    options: tuple[str, ...] = ()
    from_code: bool = False

    def __attrs_post_init__(self) -> None:
        if self.options and len(self.options) != len(self.among):
            raise InvalidValueError(
                f"verdict on {self.rule}",
                "options",
                f"are {len(self.options)}, and {len(self.among)} are in question",
            )


@attrs.frozen
class Inquiry:
    """What one matcher asks about its candidates: the engine decides how many requests carry it.

    Attributes:
        section: Task text for a language model: how these questions are to be read.
        questions: The yes/no questions about each candidate that takes asking. The first one's id
            is the rule's; the ids of further ones begin with it and a slash.
        schema: What a model that writes fills in per question, in order, beside the question's
            `id`: a pydantic model within the subset of `turn.schemas` whose last field is
            `verdict`, one of `yes`, `no`, `unclear`. The values come back as `Answer.details`.
            `None` for the engine's own short form.
    """

    section: str
    questions: tuple[Question, ...]
    schema: type[BaseModel] | None = None


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
