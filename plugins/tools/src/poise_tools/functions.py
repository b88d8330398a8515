"""The tool service `functions`: runs Python functions that authors declared as tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread
import attrs

from poise import ToolService
from poise.errors import InvalidValueError
from poise.turn.arguments import python_arguments
from poise.values.catalog import Binding
from poise.values.conversion import from_json, to_json
from poise.values.functions import FUNCTIONS, call_parameters, takes_context
from poise.values.tools import Tool, ToolCall, ToolContext, ToolResult
from poise_tools.settings import ToolSettings


class FunctionToolService(ToolService):
    """Calls an author's function with Python values and returns what it gives as a result.

    Async functions run on the event loop, others in worker threads of their own number, so that a
    slow tool takes no thread from anything else. A thread can't be stopped: a sync function that
    outlives its deadline is abandoned and goes on unheard.
    """

    name = FUNCTIONS

    def __init__(self, settings: ToolSettings) -> None:
        self._limiter = anyio.CapacityLimiter(settings.threads)

    async def list_tools(self) -> Sequence[Tool]:
        return ()  # functions are declared in the catalog

    async def call(
        self, tool: Tool, call: ToolCall, context: ToolContext, binding: Binding | None
    ) -> ToolResult:
        if binding is None:
            raise InvalidValueError(
                f"tool {tool.name!r}",
                "function",
                "is not in this process; declare it with @poise.tool where the agent is made",
            )
        values = _values(tool, call.arguments, binding)
        positional = (context,) if takes_context(binding) else ()
        if _is_async(binding):
            returned = await binding(*positional, **values)
        else:
            returned = await anyio.to_thread.run_sync(
                functools.partial(binding, *positional, **values),
                abandon_on_cancel=True,
                limiter=self._limiter,
            )
            if inspect.isawaitable(returned):
                returned = await returned
        return _result(returned)


def _values(tool: Tool, arguments: Mapping[str, Any], binding: Binding) -> dict[str, Any]:
    read = python_arguments(tool, arguments)
    for parameter, annotation in call_parameters(binding, f"tool {tool.name!r}"):
        if parameter.name in read:
            read[parameter.name] = from_json(annotation, read[parameter.name])
    return read


def _is_async(binding: Binding) -> bool:
    innermost = inspect.unwrap(binding)
    return inspect.iscoroutinefunction(binding) or inspect.iscoroutinefunction(innermost)


def _result(returned: Any) -> ToolResult:  # whatever the function gave back
    if not isinstance(returned, ToolResult):
        return ToolResult(data=to_json(returned))
    return attrs.evolve(
        returned,
        data=to_json(returned.data),
        fields=to_json(returned.fields),
        metadata=to_json(returned.metadata),
    )
