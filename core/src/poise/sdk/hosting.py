"""How a program is hosted: what takes over its finished application, in place of its own ending.

A command such as `poise chat` sets a host and then runs the author's program. The application,
once its author has declared everything, hands itself to the host and closes when that is done.
Without a host a program ends, or goes on, as it is written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from poise.app.runtime import Runtime
    from poise.ports.discovery import Progress
    from poise.values.ids import AgentId
    from poise.values.scope import Scope


class HostedAgent(Protocol):
    """An agent, as a host picks one."""

    @property
    def id(self) -> AgentId:
        """Its id."""
        ...

    @property
    def name(self) -> str:
        """What it is called."""
        ...


class HostedApplication(Protocol):
    """An application, as a host sees it: started, with every catalog published."""

    @property
    def runtime(self) -> Runtime:
        """What runs it."""
        ...

    @property
    def scope(self) -> Scope:
        """On whose behalf it is spoken to."""
        ...

    @property
    def agents(self) -> Sequence[HostedAgent]:
        """The agents that its program declared, in that order."""
        ...

    def place_of(self, agent: AgentId, subject: str) -> str:
        """Return `file:line` where something of an agent was declared; empty if unknown."""
        ...


@attrs.frozen(eq=False)
class Host:
    """What is to happen with an application once its program has declared everything.

    Attributes:
        serve: Called with the application; it stays open until this returns.
        progress: Hears how far the indexing of its catalogs has come.
        with_sessions: The program may hold conversations of its own before. Otherwise its
            application is served where it would open the first one, and the program is over.
    """

    serve: Callable[[HostedApplication], Awaitable[None]]
    progress: Progress
    with_sessions: bool = True

    async def __call__(self, application: HostedApplication) -> None:
        """Serve `application`, once its author has declared everything."""
        await self.serve(application)


class ProgramOver(BaseException):
    """Ends a program that was served in place of its first session.

    It is no `Exception`, so that no handler of the author's takes it for a failure.
    """


_HOST: ContextVar[Host | None] = ContextVar("poise_host", default=None)


@contextmanager
def hosted(host: Host) -> Iterator[None]:
    """Make `host` the current one within the block, and in what is started there."""
    token = _HOST.set(host)
    try:
        yield
    finally:
        _HOST.reset(token)


def current_host() -> Host | None:
    """Return the host of the running program, or `None` when it runs on its own."""
    return _HOST.get()
