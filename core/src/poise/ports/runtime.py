"""What runs turns: the engine itself, who starts it, and the bus for what is not in the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from enum import Enum
from types import TracebackType
from typing import Any, Self

import anyio
import attrs

from poise.turn.context import Wake
from poise.values.ids import SessionId, TurnId
from poise.values.scope import Scope


@attrs.frozen
class Signal:
    """Something ephemeral about a session: a live status, a chunk. Loss is allowed."""

    session: SessionId
    turn: TurnId | None
    kind: str
    data: Mapping[str, Any]


class Bus(ABC):
    """Carries signals to whoever watches right now; never waits for anybody."""

    @abstractmethod
    async def publish(self, signal: Signal) -> None:
        """Hand `signal` to the current watchers of its session; a slow one misses it."""

    @abstractmethod
    def watch(self, session: SessionId) -> AsyncIterator[Signal]:
        """Yield the signals of a session from now on; never ends by itself."""


@attrs.frozen
class TurnRequest:
    """A turn to be run.

    Attributes:
        scope: On whose behalf.
        session: Where.
        wake: Why.
    """

    scope: Scope
    session: SessionId
    wake: Wake = Wake.MESSAGE


@attrs.frozen
class UtteranceRequest:
    """Something that the agent is asked to say unprompted.

    Attributes:
        scope: On whose behalf.
        session: Where.
        instructions: What to say, one action each.
    """

    scope: Scope
    session: SessionId
    instructions: tuple[str, ...]


class TurnEnd(Enum):
    """How a turn ended.

    SENT and SILENT answered the customer; BAILED and FAILED did too, by a hook's or an error's
    way. SUPERSEDED left it to the next turn. IDLE had nothing to answer; BUSY found another owner.
    """

    SENT = "sent"
    SILENT = "silent"
    BAILED = "bailed"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    IDLE = "idle"
    BUSY = "busy"


@attrs.frozen
class TurnOutcome:
    """What came of a turn."""

    end: TurnEnd
    turn: TurnId | None = None
    messages: tuple[str, ...] = ()


class ConversationEngine(ABC):
    """Runs one turn at a time of a session; can be swapped whole."""

    @abstractmethod
    async def process(self, request: TurnRequest) -> TurnOutcome:
        """Answer what the customer said since the last reply.

        Never raises for what happens within a turn: the log then ends with `error ready`.
        Cancelled from outside it leaves `cancelled ready`, unless words have already left: then
        it finishes.

        Raises:
            NotFoundError: There is no such session.
        """

    @abstractmethod
    async def utter(self, request: UtteranceRequest) -> TurnOutcome:
        """Say something unprompted, under the same rules, gates and log as any reply.

        Raises:
            NotFoundError: There is no such session.
        """


class Dispatcher(ABC):
    """Brings wakes to the engine: at most one live turn per session.

    The application enters it before the first wake and leaves it after the last: override
    `__aenter__` and `__aexit__` where there is something to start and to stop.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    @abstractmethod
    async def dispatch(self, scope: Scope, session: SessionId, wake: Wake) -> None:
        """See to it that a turn runs for this wake; returns at once.

        A message cancels and restarts the session's live turn until its words have left.
        """

    async def idle(self, session: SessionId) -> None:
        """Wait until the session has no live turn and none to come; cancel it to stop waiting.

        The default is for a dispatcher that can't tell: it never returns.
        """
        await anyio.sleep_forever()
