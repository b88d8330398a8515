"""Tools: who runs them, who finds their arguments, who decides which to call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from poise.turn.context import TurnContext
from poise.turn.tooling import Fact, Field, OfferedTool, ToolPlan
from poise.values.catalog import Binding
from poise.values.tools import Tool, ToolCall, ToolContext, ToolResult


class Extractor(ABC):
    """Finds values in the conversation and its context, without guessing."""

    @abstractmethod
    async def extract(self, fields: Sequence[Field], turn: TurnContext) -> Sequence[Fact]:
        """Return what can be read off for `fields`: at most one fact per field.

        A value that is absent, or that two readings compete for, is left out rather than
        guessed. Every fact carries its verbatim source.
        """


class ToolService(ABC):
    """Runs the tools of one service: Python functions, a remote server, an MCP server."""

    name: str

    @abstractmethod
    async def list_tools(self) -> Sequence[Tool]:
        """Return what the service has on its own account; declared tools come from the catalog."""

    async def describe(self, tool: Tool, context: ToolContext) -> Tool:
        """Return `tool` as it is for this customer, e.g. with their choices; default: as it is."""
        return tool

    @abstractmethod
    async def call(
        self, tool: Tool, call: ToolCall, context: ToolContext, binding: Binding | None
    ) -> ToolResult:
        """Run the call and return its result.

        The engine has checked the arguments against the tool's parameters, gives the call its own
        deadline, and shields it from the turn's cancellation. `binding` is the author's function,
        for tools that are declared in code.

        Raises:
            Exception: Whatever the tool raises; it becomes the outcome's error, and the turn lives.
        """

    async def reconcile(self, call: ToolCall) -> ToolResult | None:
        """Return the result of a call whose outcome was lost; default: nobody knows."""
        return None


class ToolCaller(ABC):
    """Decides which offered tools to call now, with which arguments, and why not the others."""

    @abstractmethod
    async def infer(self, tools: Sequence[OfferedTool], turn: TurnContext) -> ToolPlan:
        """Return calls to make, results to reuse, and insights for tools that can't be called.

        Every argument of a call names its source. An exception is a degradation: no call is made.
        """
