"""The `compose` section of the settings, wording that the operator owns included."""

from __future__ import annotations

from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from poise.values.canned import FIELD, TEMPLATE_LIMIT

Wording = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TEMPLATE_LIMIT)
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=40)]

_NAMES = frozenset({"std.customer.name", "std.agent.name"})
_ALWAYS_FILLED = {
    "ask": _NAMES | {"std.missing_params"},
    "ask_again": _NAMES | {"std.invalid_params"},
    "failed": _NAMES,
}


class ComposeSettings(BaseModel):
    """How replies are put together from approved wording.

    `ask`, `ask_again` and `failed` are said to customers as they stand, so they are as approved as
    a canned response; they may use the fields that every such turn has.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_parts: int = Field(
        2, ge=1, le=5, description="How many things one reply answers when none is a question."
    )
    max_parts_with_questions: int = Field(
        3, ge=1, le=6, description="How many parts a reply has when it asks for something."
    )
    separate_messages: bool = Field(
        False, description="Say each part as a message of its own instead of as a paragraph."
    )
    fit: float = Field(
        0.45,
        gt=0.0,
        le=1.0,
        description="Cosine from which a response that no rule carries fits a message.",
    )
    fit_request: float = Field(
        0.25,
        gt=0.0,
        le=1.0,
        description="Cosine from which a response serves what a program asked the agent to say.",
    )
    ask: Wording = Field(
        "Could you tell me the {std.missing_params}?",
        description="Asks for a tool's missing arguments that have no question of their own.",
    )
    ask_again: Wording = Field(
        "I couldn't use the {std.invalid_params}. Could you give it to me again?",
        description="Asks again for a tool's refused arguments that have no question of their own.",
    )
    failed: Wording = Field(
        "I couldn't do that just now. Please try again in a moment.",
        description="Said for a rule whose tool failed or was refused.",
    )
    conjunction: Word = Field(" and ", description="Joins the last two names of a list.")
    yes: Word = Field("yes", description="How a true value is written.")
    no: Word = Field("no", description="How a false value is written.")
    value_limit: int = Field(
        1000, ge=20, le=8000, description="Characters of a field's text; what is longer is cut."
    )
    wide_limit: int = Field(
        64,
        ge=1,
        le=1000,
        description="How many responses that no rule carries are compared on a turn.",
    )
    cached_vectors: int = Field(
        4096, ge=0, description="Vectors of approved wording kept in memory, least used out first."
    )
    term_characters: int = Field(
        16_384, ge=100, description="Characters of the conversation searched for terms."
    )

    @field_validator("ask", "ask_again", "failed")
    @classmethod
    def _has_only_fields_that_are_always_filled(cls, value: str, info: ValidationInfo) -> str:
        # Imported here since defaults are not validated: most starts need no template language.
        from poise_compose.programs import is_program

        allowed = _ALWAYS_FILLED[info.field_name or ""]
        used = {match[1] or match[2] for match in FIELD.finditer(value)}
        if not used <= allowed or is_program(value):
            raise ValueError(
                f"may use only the fields {', '.join(sorted(allowed))}, and no conditions: "
                f"it must be sayable on every turn"
            )
        return value
