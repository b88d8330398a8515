"""What differs from model to model, read from the quirks of a model card."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from poise import ConfigError, ModelCard


class Quirks(BaseModel):
    """How one model wants to be asked; the defaults suit one of which nothing is known.

    Attributes:
        thinking: How it is told to think: `adaptive`, or with a `budget` of tokens; unset: not.
        thinking_off: How it is told not to; unset: it does not unless told to.
        effort: Whether it takes a level of effort.
        forced_tools: Whether it can be made to call a tool.
        strict_tools: Whether it takes tools whose arguments are held to their schema.
        structured: By what it is asked for JSON: an output `format`, a `tool`, or `words` alone,
            which the router then finds.
        temperature: Whether it takes one; the vendor's own models do not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    thinking: Literal["adaptive", "budget"] | None = None
    thinking_off: Literal["disabled", "between_tools", "low_effort"] | None = None
    effort: bool = False
    forced_tools: bool = True
    strict_tools: bool = True
    structured: Literal["format", "tool", "words"] = "format"
    temperature: bool = False


def quirks_of(card: ModelCard) -> Quirks:
    """Return the quirks on a card.

    Raises:
        ConfigError: The card has one that this provider does not know.
    """
    try:
        return Quirks.model_validate(dict(card.quirks))
    except ValidationError as exc:
        wrong = exc.errors()[0]
        where = ".".join(str(part) for part in wrong["loc"])
        raise ConfigError(
            f"model card {card.provider}:{card.match}: quirk {where!r}: {wrong['msg']}; "
            f"there are: {', '.join(Quirks.model_fields)}"
        ) from exc
