"""What a model that writes fills in for each question, in the order in which it should think.

Evidence comes first, then the instruction once more just before the decision (attentive reasoning
queries, Karov et al. 2025), fully where reasons are wanted and in short form elsewhere.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Word = Literal["yes", "no", "unclear"]


class Short(BaseModel):
    """The condition once more, then the word."""

    condition: str = Field(description="The question, in your own words.")
    verdict: Word


class Explained(BaseModel):
    """Evidence, then each part of the condition, then the word."""

    evidence: str = Field(
        description="What was said that bears on the question, for and against, in a sentence."
    )
    holding: list[str] = Field(description="The parts of the condition that hold.")
    not_holding: list[str] = Field(
        description="The parts that do not hold, or that nothing was said about; an empty list "
        "if every part holds."
    )
    condition: str = Field(description="The question, in your own words.")
    verdict: Word = Field(description="`yes` only if every part holds.")


class Bare(BaseModel):
    """The word alone: for what matters little."""

    verdict: Word


class Again(BaseModel):
    """Whether something calls for what was done already."""

    condition_holds: bool = Field(description="Whether the situation is there at all now.")
    new_occasion: str = Field(
        description="What came up after the action was carried out and was not covered by it; "
        "empty if nothing did."
    )
    question: str = Field(description="The question, in your own words.")
    verdict: Word


class ExplainedAgain(BaseModel):
    """The same, with the evidence first."""

    evidence: str = Field(description="When the action was carried out, and what came after it.")
    condition_holds: bool = Field(description="Whether the situation is there at all now.")
    new_occasion: str = Field(
        description="What came up after the action was carried out and was not covered by it; "
        "empty if nothing did."
    )
    done_for_it: bool = Field(description="Whether the action was carried out for that already.")
    question: str = Field(description="The question, in your own words.")
    verdict: Word


class Open(BaseModel):
    """Whether the customer's part is still open."""

    customers_part: str = Field(description="What the customer has to do or tell.")
    is_done: bool = Field(description="Whether the customer has done or told it.")
    moved_on: bool = Field(description="Whether the customer has turned to something else.")
    question: str = Field(description="The question, in your own words.")
    verdict: Word


class ExplainedOpen(BaseModel):
    """The same, with the evidence first."""

    evidence: str = Field(description="What the agent asked for, and what the customer answered.")
    customers_part: str = Field(description="What the customer has to do or tell.")
    is_done: bool = Field(description="Whether the customer has done or told it.")
    moved_on: bool = Field(description="Whether the customer has turned to something else.")
    question: str = Field(description="The question, in your own words.")
    verdict: Word


class Doubt(BaseModel):
    """Whether several readings are open; what to ask; how the customer would name this one."""

    evidence: str = Field(description="What was said that tells the readings apart, if anything.")
    as_customer_would_say: str = Field(
        description="This reading as the customer would put it, in a few words of their language."
    )
    clarification: str = Field(
        description="What to ask the customer to find out which is meant, with the choices, in "
        "their language; empty if it is clear."
    )
    question: str = Field(description="The question, in your own words.")
    verdict: Word
