"""Tools where an author names them: with a rule, a variable or a relation."""

from __future__ import annotations

from poise.errors import InvalidValueError
from poise.sdk.draft import Declaration, Draft
from poise.sdk.tool import DeclaredTool


def declared_tool(draft: Draft, thing: str, field: str, *, given: object) -> Declaration:
    """Return the declaration of a tool for the draft's agent.

    Args:
        draft: Whose agent.
        thing: What names the tool, for messages.
        field: Under which argument.
        given: What the author gave.

    Raises:
        InvalidValueError: It is no tool; the message says how to make it one.
    """
    if not isinstance(given, DeclaredTool):
        name = getattr(given, "__name__", None)
        mend = f"put @poise.tool above {name}" if callable(given) and name else "give a tool"
        raise InvalidValueError(thing, field, f"names {given!r}, which is no tool; {mend}")
    return Declaration(given.name, given.tool_of(draft.agent.id), function=given.function)
