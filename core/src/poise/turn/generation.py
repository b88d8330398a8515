"""What is asked of a generating model beside its prompt, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Generic, TypeVar

import attrs

from poise.errors import InvalidValueError
from poise.turn.schemas import Schema

M = TypeVar("M")


@attrs.frozen
class Usage:
    """What one request took, in tokens, as the provider counted them.

    Attributes:
        input_tokens: The whole prompt, what came from a cache included.
        cached_tokens: Of these, read from the provider's cache.
        written_tokens: Of these, written to the provider's cache.
        output_tokens: Everything generated, reasoning included.
        reasoning_tokens: Of these, spent on reasoning that is not shown.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def fresh_tokens(self) -> int:
        """Input tokens that no cache held."""
        return self.input_tokens - self.cached_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


class Finish(Enum):
    """Why a model stopped."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    CALLS = "calls"


class Reasoning(Enum):
    """How much a model may think before it answers; providers translate it or leave it out."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@attrs.frozen
class ToolSpec:
    """A function that a model may ask to have called; the model never calls it itself."""

    name: str
    description: str
    parameters: Schema


@attrs.frozen
class ModelCall:
    """A model's wish to have a function called.

    Attributes:
        id: The provider's, or one made up where it gives none.
        name: The function's.
        arguments: As the model wrote them, parsed; not validated.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = attrs.field(factory=dict, hash=False)


@attrs.frozen
class GenerationOptions:
    """How a generation is to go; a provider leaves out what its model does not take.

    Attributes:
        max_output: Tokens of output at most; `None`: the model's own limit.
        temperature: From 0; `None`: the model's default.
        reasoning: `None`: the model's default.
        cache_key: Requests with one key share a prefix; for providers that route by it.
        tools: Functions on offer, in an order that stays the same from turn to turn.
        tool_choice: `auto`, `any`, `none`, or the name of the one to call.
    """

    max_output: int | None = None
    temperature: float | None = None
    reasoning: Reasoning | None = None
    cache_key: str = ""
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: str = "auto"

    def __attrs_post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if len(set(names)) != len(names):
            raise InvalidValueError("generation options", "tools", "hold one name twice")
        if self.tool_choice not in ("auto", "any", "none", *names):
            raise InvalidValueError(
                "generation options",
                "tool_choice",
                f"is {self.tool_choice!r}, which is none of the tools on offer",
            )


@attrs.frozen
class TextChunk:
    """A piece of a stream. Exactly the last one has a `finish`.

    Attributes:
        text: Words to append; may be empty.
        finish: Why the model stopped.
        usage: What the request took, where the provider says so; on the last chunk.
        calls: Functions that the model wants called; on the last chunk.
        reason: Why it refused, in the model's words; on the last chunk.
        model: The build that answered, where the provider says so; on the last chunk.
    """

    text: str = ""
    finish: Finish | None = None
    usage: Usage | None = None
    calls: tuple[ModelCall, ...] = ()
    reason: str = ""
    model: str = ""


@attrs.frozen
class StructuredReply:
    """What a model wrote when asked for JSON of a schema; nobody has validated it yet.

    Attributes:
        text: The JSON, or what the model wrote in its place.
        finish: Why it stopped. REFUSED and TRUNCATED are outcomes, not errors.
        usage: What the request took.
        reason: Why it refused, in the model's words.
        model: The build that answered, where the provider says so.
    """

    text: str
    finish: Finish = Finish.COMPLETE
    usage: Usage | None = None
    reason: str = ""
    model: str = ""


@attrs.frozen
class Generation(Generic[M]):
    """A validated answer.

    Attributes:
        value: What was asked for.
        text: The JSON it was read from.
        model: `provider:model` that answered.
        attempts: How many requests it took, repairs included.
        usage: Of all of them.
    """

    value: M
    text: str
    model: str
    attempts: int = 1
    usage: Usage = attrs.field(factory=Usage)


@attrs.frozen
class Moderation:
    """What a moderation model says of one text.

    Attributes:
        flagged: Whether the provider's own policy objects to it.
        scores: By category, in the provider's words, from 0 to 1.
    """

    flagged: bool
    scores: Mapping[str, float] = attrs.field(factory=dict, hash=False)
