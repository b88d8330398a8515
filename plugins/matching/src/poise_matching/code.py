"""The matcher of rules that code judges: no model, each function on its own and within a time."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread
import attrs

from poise import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.verdicts import Inquiry, Verdict, VerdictKind
from poise.values.rules import ALWAYS, Rule
from poise_matching.settings import MatchingSettings

logger = logging.getLogger(__name__)


class CodeMatcher(Matcher):
    """Judges the rules that name a function bound in the catalog.

    A function takes the turn, or the turn and the rule, and returns a bool or a `Verdict`; it may
    be async. A plain function runs in a worker thread. One that raises, returns something else or
    takes too long leaves its own rule undecided, and no other.
    """

    name = "code"

    def __init__(self, settings: MatchingSettings) -> None:
        self._timeout = settings.code_timeout
        # Threads of its own: a function that never returns must not starve the embedder.
        self._threads = anyio.CapacityLimiter(settings.code_threads)

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.matcher is not None and candidate.rule.matcher != ALWAYS

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        verdicts: dict[str, Verdict] = {}

        async def judge(rule: Rule) -> None:
            verdicts[rule.id] = await self._judge(rule, turn)

        async with anyio.create_task_group() as group:
            for candidate in candidates:
                group.start_soon(judge, candidate.rule)
        return [verdicts[candidate.rule.id] for candidate in candidates]

    async def _judge(self, rule: Rule, turn: TurnContext) -> Verdict:
        function = turn.snapshot.bindings.get(rule.matcher or "")
        if function is None:
            return _undecided(rule, f"no function is bound to the name {rule.matcher!r}")
        try:
            with anyio.move_on_after(self._timeout):
                return _read(rule, await self._call(function, rule, turn))
        except Exception as exc:
            return _undecided(rule, f"{type(exc).__name__}: {exc}", exc)
        return _undecided(rule, f"no answer within {self._timeout:g} s")

    async def _call(
        self, function: Callable[..., Any], rule: Rule, turn: TurnContext
    ) -> object:  # whatever the author's function returned
        arguments = (turn, rule) if _takes_rule(function) else (turn,)
        if _is_async(function):
            return await function(*arguments)
        answer = await anyio.to_thread.run_sync(
            function, *arguments, abandon_on_cancel=True, limiter=self._threads
        )
        return await answer if inspect.isawaitable(answer) else answer


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object may have an async __call__
    )


def _takes_rule(function: Callable[..., Any]) -> bool:
    """Say whether `function` wants the rule too: a second parameter without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some callables of extension modules have no signature
        return False
    positional = [
        each
        for each in parameters
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    return len(positional) > 1 and positional[1].default is inspect.Parameter.empty


def _read(rule: Rule, answer: object) -> Verdict:
    if isinstance(answer, bool):
        return _verdict(rule, VerdictKind.APPLIES if answer else VerdictKind.DOES_NOT)
    if isinstance(answer, Verdict) and answer.rule == rule.id:
        return attrs.evolve(answer, from_code=True)
    if isinstance(answer, Verdict):
        return _undecided(rule, f"it returned a verdict on another rule, {answer.rule!r}")
    return _undecided(rule, f"it returned {answer!r}; return a bool or a Verdict")


def _verdict(rule: Rule, kind: VerdictKind, rationale: str = "") -> Verdict:
    return Verdict(rule.id, kind, f"code/{rule.matcher}", rationale=rationale, from_code=True)


def _undecided(rule: Rule, reason: str, exc: Exception | None = None) -> Verdict:
    logger.warning(
        "a code matcher gave no verdict",
        extra={"rule": rule.id, "matcher": rule.matcher, "reason": reason},
        exc_info=exc,
    )
    return _verdict(rule, VerdictKind.UNDECIDED, reason)
