"""`@poise.tool`: a Python function as a tool that rules can offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import attrs

from poise.errors import InvalidValueError
from poise.sdk.annotations import parameter_of
from poise.sdk.docstrings import documented
from poise.values.functions import FUNCTIONS, call_parameters
from poise.values.ids import AgentId, ToolId, stable_id
from poise.values.tools import Parameter, Tool

P = ParamSpec("P")
R = TypeVar("R")


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
