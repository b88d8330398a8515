"""The JSON in which a model that writes answers yes/no questions; imported when one is asked."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

QUESTION = "The question again, in your own words."
VERDICT = "The answer."


class Line(BaseModel):
    """One answer: the question again just before the word."""

    id: str
    question: str = Field(description=QUESTION)
    verdict: Literal["yes", "no", "unclear"] = Field(description=VERDICT)

    @property
    def rationale(self) -> str:
        """Why, where the model was asked to say so."""
        return ""


class Answers(BaseModel):
    """Answers in short form."""

    answers: list[Line]


class ExplainedLine(BaseModel):
    """One answer with its evidence, which is thought of first."""

    id: str
    evidence: str = Field(
        description="What was said that bears on the question, for and against, in a sentence."
    )
    question: str = Field(description=QUESTION)
    verdict: Literal["yes", "no", "unclear"] = Field(description=VERDICT)

    @property
    def rationale(self) -> str:
        """Why, as the model said."""
        return self.evidence


class ExplainedAnswers(BaseModel):
    """Answers with their evidence."""

    answers: list[ExplainedLine]
