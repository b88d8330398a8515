"""The dispatcher of one process: at most one live turn per session, restarted by new messages."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from poise.errors import ContractError
from poise.ports.runtime import ConversationEngine, Dispatcher, TurnEnd, TurnRequest
from poise.turn.context import Wake
from poise.values.ids import SessionId
from poise.values.scope import Scope

logger = logging.getLogger(__name__)

_INTERRUPTING = frozenset({Wake.MESSAGE, Wake.OPERATOR})
"""Wakes that change what the live turn should say: it is cancelled and started again."""

_FIRST_WAIT = 0.05  # seconds until a session that another owner holds is tried again, …
_LONGEST_WAIT = 1.0  # … twice as long each time, up to this


class _Lane:
    """One session with a live turn: what runs now, and what is to run after it."""

    def __init__(self, request: TurnRequest) -> None:
        self.waiting: TurnRequest | None = request
        self.live: anyio.CancelScope | None = None
        self.woken = anyio.Event()
        self.done = anyio.Event()

    def wake(self, request: TurnRequest) -> None:
        """Let one more turn run; wakes that wait together become one, a message before others."""
        if self.waiting is None or self.waiting.wake is not Wake.MESSAGE:
            self.waiting = request
        if self.live is not None and request.wake in _INTERRUPTING:
            self.live.cancel()
        self.woken.set()


class InProcessDispatcher(Dispatcher):
    """Runs turns as tasks of this process; an async context manager that owns them.

    Leaving it waits for live turns, then cancels what is left. A turn's cancellation reaches that
    turn alone: not other sessions, nor other dispatchers of the process.

    Args:
        engine: Runs a turn.
        grace: Seconds that leaving waits for live turns.
    """

    def __init__(self, engine: ConversationEngine, *, grace: float = 5.0) -> None:
        self._engine = engine
        self._grace = grace
        self._lanes: dict[tuple[str, SessionId], _Lane] = {}
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        group = anyio.create_task_group()
        await group.__aenter__()
        self._group = group
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        group, self._group = self._group, None
        if group is None:
            return
        for lane in self._lanes.values():
            lane.woken.set()  # one that waits for another owner gives up
        if isinstance(exc, anyio.get_cancelled_exc_class()):
            await group.__aexit__(kind, exc, traceback)
            return
        group.cancel_scope.deadline = anyio.current_time() + self._grace
        # Without the error, which would cancel live turns at once; it goes on from here.
        await group.__aexit__(None, None, None)

    async def dispatch(self, scope: Scope, session: SessionId, wake: Wake) -> None:
        """See to it that a turn runs for this wake; returns at once.

        Raises:
            ContractError: The dispatcher is not running.
        """
        if self._group is None:
            raise ContractError(
                "the dispatcher is not running: enter it with 'async with' before messages come in"
            )
        request = TurnRequest(scope, session, wake)
        key = (scope.tenant, session)
        lane = self._lanes.get(key)
        if lane is not None:
            lane.wake(request)
            return
        lane = self._lanes[key] = _Lane(request)
        self._group.start_soon(self._run, key, lane)

    async def idle(self, session: SessionId) -> None:
        """Wait until the session has no live turn and none to come, whichever its tenant."""
        while lanes := [lane for (_, each), lane in self._lanes.items() if each == session]:
            await lanes[0].done.wait()

    async def _run(self, key: tuple[str, SessionId], lane: _Lane) -> None:
        wait = _FIRST_WAIT
        try:
            while lane.waiting is not None:
                request, lane.waiting = lane.waiting, None
                lane.woken = anyio.Event()
                if await self._process(request, lane) is not TurnEnd.BUSY:
                    wait = _FIRST_WAIT
                    continue
                # Another process has the session, or an utterance: it may not have seen this wake.
                lane.waiting = lane.waiting or request
                with anyio.move_on_after(wait):
                    await lane.woken.wait()
                wait = min(2 * wait, _LONGEST_WAIT)
                if self._group is None:
                    return
        finally:
            del self._lanes[key]
            lane.done.set()

    async def _process(self, request: TurnRequest, lane: _Lane) -> TurnEnd | None:
        """Run one turn; `None` when it was cancelled or failed, which the lane survives."""
        end: TurnEnd | None = None
        with anyio.CancelScope() as lane.live:
            try:
                end = (await self._engine.process(request)).end
            except Exception:
                logger.exception(
                    "a turn failed",
                    extra={"session": request.session, "wake": request.wake.value},
                )
        lane.live = None
        return end
