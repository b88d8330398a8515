"""The one caller of turn hooks: awaits one implementation at a time, in a span that names it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from poise.errors import HookError
from poise.hooks.tracing import span
from poise.turn.control import Bail, Contribution, Skip

logger = logging.getLogger(__name__)

T = TypeVar("T")

Failed = Callable[[str, Exception], None]
"""Takes note of a plugin's failure: the hook with its plugin, and the exception."""


@attrs.frozen
class Implementation:
    """One plugin's function for one hook, and the arguments it names."""

    plugin: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]


class HookCaller:
    """Calls the implementations of turn hooks, in the settings' order, then by plugin name.

    Args:
        implementations: Returns the ordered implementations of a hook.
        agents: By plugin, the names of the agents on whose turns its hooks run; a plugin that is
            not named serves every agent. A hook outside a turn always runs.
    """

    def __init__(
        self,
        implementations: Callable[[str], Sequence[Implementation]],
        agents: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._implementations = implementations
        self._agents = dict(agents or {})
        self._known: dict[str, Sequence[Implementation]] = {}

    def has(self, hook: str) -> bool:
        """Say whether anybody implements `hook`."""
        return bool(self._of(hook))

    async def notify(self, hook: str, failed: Failed, **arguments: Any) -> None:
        """Call every implementation; an exception is reported to `failed` and the next one runs."""
        for implementation in self._serving(hook, arguments):
            try:
                await self._call(implementation, hook, arguments)
            except Exception as exc:
                failed(f"{hook} of {implementation.plugin}", exc)

    async def steer(
        self, hook: str, failed: Failed, **arguments: Any
    ) -> Sequence[Bail | Skip | Contribution]:
        """Call every implementation and return what they answered; a `Bail` ends the round."""
        answers: list[Bail | Skip | Contribution] = []
        for implementation in self._serving(hook, arguments):
            try:
                answer = await self._call(implementation, hook, arguments)
            except Exception as exc:
                failed(f"{hook} of {implementation.plugin}", exc)
                continue
            if answer is None:
                continue
            if not isinstance(answer, Bail | Skip | Contribution):
                failed(
                    f"{hook} of {implementation.plugin}",
                    HookError(hook, implementation.plugin, f"returned {answer!r}"),
                )
                continue
            answers.append(answer)
            if isinstance(answer, Bail):
                break
        return answers

    async def fold(self, hook: str, name: str, value: T, **arguments: Any) -> T | Bail:
        """Hand `value` from one implementation to the next and return the last one's.

        Raises:
            HookError: An implementation raised, or returned another type; it names the plugin.
        """
        for implementation in self._serving(hook, arguments):
            try:
                answer = await self._call(implementation, hook, {**arguments, name: value})
            except Exception as exc:
                raise HookError(hook, implementation.plugin, f"raised {exc!r}") from exc
            if isinstance(answer, Bail):
                return answer
            if answer is not None and not isinstance(answer, type(value)):
                raise HookError(hook, implementation.plugin, f"returned {answer!r}")
            value = value if answer is None else answer
        return value

    async def _call(
        self, implementation: Implementation, hook: str, arguments: dict[str, Any]
    ) -> Any:  # whatever the plugin returned; checked by the caller
        with span(f"poise.hook.{hook}", {"poise.plugin": implementation.plugin}):
            return await implementation.function(
                **{name: arguments[name] for name in implementation.arguments}
            )

    def _serving(self, hook: str, arguments: Mapping[str, Any]) -> Sequence[Implementation]:
        found = self._of(hook)
        turn = arguments.get("turn")
        if turn is None or not self._agents:
            return found
        name = turn.agent.name
        return [
            each
            for each in found
            if each.plugin not in self._agents or name in self._agents[each.plugin]
        ]

    def _of(self, hook: str) -> Sequence[Implementation]:
        found = self._known.get(hook)
        if found is None:
            found = self._known[hook] = tuple(self._implementations(hook))
        return found


def log_failure(part: str, exc: Exception) -> None:
    """Log the failure of a hook that runs outside any turn."""
    logger.error("a hook failed", extra={"part": part}, exc_info=exc)
