"""`@poise.tool`: a Python function as a tool that rules can offer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints, overload

import attrs

from poise.errors import InvalidValueError
from poise.sdk.annotations import parameter_of
from poise.sdk.docstrings import documented
from poise.values.ids import AgentId, ToolId, stable_id
from poise.values.tools import Parameter, Tool, ToolContext

P = ParamSpec("P")
R = TypeVar("R")

FUNCTIONS = "functions"
"""The name of the tool service that runs Python functions."""


@attrs.frozen
class DeclaredTool(Generic[P, R]):
    """A function with what a tool needs beside it; calling it calls the function.

    Attributes:
        function: The author's code, sync or async.
        name: As models, rules and ledgers name it.
        description: What it does; read by models.
        parameters: What a call gives, without the context.
        consequential: Changes something in the world.
        timeout: Seconds before a call counts as unknown; `None` takes the setting.
    """

    function: Callable[P, R]
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    consequential: bool = False
    timeout: float | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[P, R]:
        return self.function

    def tool_of(self, agent: AgentId) -> Tool:
        """Return the tool as a value of `agent`'s catalog, under a stable id."""
        return Tool(
            id=ToolId(stable_id("tool", agent, self.name)),
            agent=agent,
            name=self.name,
            service=FUNCTIONS,
            description=self.description,
            parameters=self.parameters,
            consequential=self.consequential,
            timeout=self.timeout,
        )


@overload
def tool(function: Callable[P, R], /) -> DeclaredTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    consequential: bool = False,
    timeout: float | None = None,
    description: str | None = None,
) -> Callable[[Callable[P, R]], DeclaredTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    consequential: bool = False,
    timeout: float | None = None,
    description: str | None = None,
) -> Any:  # a declared tool, or what makes one; the overloads say which
    """Declare a Python function as a tool: `@poise.tool` or `@poise.tool(consequential=True)`.

    The parameters come from the annotations, their descriptions from the docstring's `Args`. A
    first parameter that is annotated `ToolContext`, or called `context`, gets the turn's context.
    An async function runs on the event loop, any other in a worker thread.

    Args:
        function: The function itself, when the decorator has no arguments.
        name: Default: the function's.
        consequential: It changes something in the world, so it runs at most once per call.
        timeout: Seconds before a call counts as unknown; default from settings, 30.
        description: Default: the docstring without its sections.

    Raises:
        InvalidValueError: A parameter has no annotation, or one that no tool call can carry.
    """

    def declare(function: Callable[..., Any]) -> DeclaredTool[..., Any]:
        called = name if name is not None else getattr(function, "__name__", "")
        where = f"tool {called!r}"
        if not called.strip():
            raise InvalidValueError("tool", "name", "is empty; give it with @poise.tool(name=...)")
        if timeout is not None and not timeout > 0:
            raise InvalidValueError(where, "timeout", "must be more than 0 seconds")
        said, entries = documented(function)
        return DeclaredTool(
            function=function,
            name=called,
            description=said if description is None else description,
            parameters=tuple(
                parameter_of(
                    each.name,
                    hint,
                    where=where,
                    description=entries.get(each.name, ""),
                    **({} if each.default is each.empty else {"default": each.default}),
                )
                for each, hint in call_parameters(function, where)
            ),
            consequential=consequential,
            timeout=timeout,
        )

    return declare if function is None else declare(function)


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
