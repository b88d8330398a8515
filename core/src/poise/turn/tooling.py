"""What a turn knows of tools: what is offered, what was inferred, what came back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from poise.values.digests import content_digest
from poise.values.ids import RuleId, SessionId
from poise.values.tools import Parameter, Tool, ToolCall, ToolResult


@attrs.frozen
class OfferedTool:
    """A tool that surviving rules offer on this turn, as described for this customer."""

    tool: Tool
    offered_by: tuple[RuleId, ...]


@attrs.frozen
class Field:
    """Something to be found in the conversation: a parameter, and the tool it is for."""

    parameter: Parameter
    tool: str = ""


@attrs.frozen
class Fact:
    """A value found in the conversation or the context.

    Attributes:
        field: The parameter's name.
        value: JSON value of the parameter's kind.
        source: The verbatim text it was read from, or where it stands (`variable plan`).
        offset: Of the event that holds it; `None` when no event does.
    """

    field: str
    value: Any  # JSON
    source: str
    offset: int | None = None


@attrs.frozen
class Insight:
    """Why an offered tool was not called: what is missing or wrong, for whoever words the reply.

    Attributes:
        tool: The tool's name.
        missing: Parameters to ask the customer for, the first group by precedence only.
        invalid: Parameters whose value was refused, with the reason.
        note: Anything else the reply should know.
    """

    tool: str
    missing: tuple[Parameter, ...] = ()
    invalid: Mapping[str, str] = attrs.field(factory=dict)
    note: str = ""


@attrs.frozen
class ToolPlan:
    """What a tool caller inferred.

    Attributes:
        calls: To be made now, through the gate.
        already: Names of tools whose result the session has, with the key of that call.
        insights: For the tools that can't be called.
        facts: What was found while looking.
    """

    calls: tuple[ToolCall, ...] = ()
    already: Mapping[str, str] = attrs.field(factory=dict)
    insights: tuple[Insight, ...] = ()
    facts: tuple[Fact, ...] = ()


@attrs.frozen
class ToolOutcome:
    """What came of one call: a result, or why there is none.

    Attributes:
        call: The call.
        tool: The tool's name.
        result: What the tool returned; `None` when it was refused or its outcome is unknown.
        refusal: Why the gate refused it.
        error: Why it failed or is unknown.
        milliseconds: How long it took.
        offset: Of the event that records it.
        reused: It was found in the log instead of being called.
        is_unknown: It may or may not have happened: the tool did not answer in time.
    """

    call: ToolCall
    tool: str
    result: ToolResult | None = None
    refusal: str | None = None
    error: str | None = None
    milliseconds: float = 0.0
    offset: int | None = None
    reused: bool = False
    is_unknown: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether there is a result without an error."""
        return self.result is not None and self.result.error is None


def call_key(session: SessionId, base: int, tool: str, arguments: Mapping[str, Any], n: int) -> str:
    """Return the key of a call, the same whenever a restarted turn computes it again.

    Args:
        session: The conversation.
        base: Offset of the turn's first unanswered message.
        tool: The tool's name.
        arguments: As `validate_arguments` returns them; their order does not matter.
        n: Tells equal calls of one turn apart, from 0.
    """
    return f"{session}:{base}:{tool}:{content_digest(arguments)}:{n}"
