"""How an author's Python function is called as a tool: what a call gives, and the context first."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, get_type_hints

from poise.errors import InvalidValueError
from poise.values.tools import ToolContext

FUNCTIONS = "functions"
"""The name of the tool service that runs Python functions."""


def takes_context(function: Callable[..., Any]) -> bool:
    """Say whether the function's first parameter is the turn's `ToolContext`."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    if first is None:
        return False
    named = first.annotation
    if isinstance(named, str):  # postponed; it may be imported for type checkers alone
        return first.name == "context" or named.rsplit(".", 1)[-1] == ToolContext.__name__
    return first.name == "context" or named is ToolContext


def call_parameters(
    function: Callable[..., Any], where: str
) -> list[tuple[inspect.Parameter, Any]]:
    """Return each parameter that a call gives, without the context, and its resolved annotation.

    Raises:
        InvalidValueError: A parameter has no annotation, one that can't be resolved, or a form
            that a call by name can't fill.
    """
    parameters = list(inspect.signature(function).parameters.values())
    found: list[tuple[inspect.Parameter, Any]] = []
    for each in parameters[1:] if takes_context(function) else parameters:
        field = f"parameter {each.name!r}"
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise InvalidValueError(where, field, "is open-ended; name every parameter")
        if each.kind is each.POSITIONAL_ONLY:
            raise InvalidValueError(where, field, "is positional only; drop the `/`")
        if each.annotation is each.empty:
            raise InvalidValueError(where, field, f"has no type; write e.g. {each.name}: str")
        found.append((each, _resolved(each, function, where, field)))
    return found


def _resolved(
    parameter: inspect.Parameter, function: Callable[..., Any], where: str, field: str
) -> Any:  # any annotation
    holder = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    known = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return get_type_hints(holder, globalns=known, include_extras=True)[parameter.name]
    except NameError as exc:
        raise InvalidValueError(
            where,
            field,
            f"has the type {parameter.annotation!r}, which is unknown at run time ({exc}); define "
            f"or import it at module level, not under TYPE_CHECKING",
        ) from exc
    except TypeError as exc:
        raise InvalidValueError(
            where, field, f"has {parameter.annotation!r} for a type, which is none"
        ) from exc
