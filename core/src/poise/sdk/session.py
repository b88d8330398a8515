"""A conversation as a program holds it: say something, get the reply with its account."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import anyio
import attrs

from poise.errors import StoreError
from poise.sdk.arguments import texts
from poise.turn.ledger import Ledger, ledger_from_json
from poise.values.events import Event, EventKind, Source
from poise.values.ids import AgentId, CustomerId, SessionId, TurnId
from poise.values.scope import Scope

if TYPE_CHECKING:
    from poise.app.runtime import Runtime
    from poise.ports.stores import SessionStore
    from poise.values import sessions

GRACE = 5.0
"""Seconds beyond a turn's own deadline that a program waits for its `ready`."""


@attrs.frozen
class Reply:
    """What came back.

    Attributes:
        text: Everything the agent said, one message per line; empty for silence.
        messages: The agent's messages, oldest first.
        events: Every event since the customer's message, `ready` included.
        ledger: The account of the turn that answered; `None` when no turn ran.
        turn: That turn's id.
    """

    text: str
    messages: tuple[str, ...]
    events: tuple[Event, ...]
    ledger: Ledger | None
    turn: TurnId | None

    @classmethod
    def of(cls, events: Iterable[Event]) -> Reply:
        """Return the reply that `events` hold."""
        seen = tuple(events)
        messages = tuple(
            event.text
            for event in seen
            if event.kind is EventKind.MESSAGE and event.source is Source.AI_AGENT
        )
        # A message may supersede a turn and start another: the last one answered.
        account = next((each for each in reversed(seen) if each.kind is EventKind.MATCH), None)
        return cls(
            text="\n".join(messages),
            messages=messages,
            events=seen,
            ledger=ledger_from_json(account.data) if account else None,
            turn=next((each.turn for each in reversed(seen) if each.turn is not None), None),
        )


class Session:
    """One conversation. Made by `Application.open_session`."""

    def __init__(
        self,
        runtime: Runtime,
        scope: Scope,
        opened: sessions.Session,
        *,
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._runtime = runtime
        self._scope = scope
        self._header = opened.header
        self._refresh = refresh

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self._header.id

    @property
    def agent(self) -> AgentId:
        """Who answers."""
        return self._header.agent

    @property
    def customer(self) -> CustomerId:
        """Who asks, at opening."""
        return self._header.customer

    def __repr__(self) -> str:
        return f"<Session {self.id}>"

    async def say(self, message: str, *, timeout: float | None = None) -> Reply:
        """Say something as the customer and return the reply once the turn is *ready*.

        Where no turn answers (a person has the session, a hook ended the turn before it began)
        the reply is empty.

        Args:
            message: The customer's words, kept verbatim.
            timeout: Seconds to wait; then the reply holds what has come by then. Default: a
                turn's deadline and a little more.

        Raises:
            InvalidValueError: The message is blank, or a plugin refused it; or something declared
                since the last turn can't be compiled.
            StoreError: The storage failed.
        """
        await self._refresh()
        event = await self._runtime.receive(self._scope, self.id, message)
        limit = self._runtime.config.limits().turn_deadline + GRACE if timeout is None else timeout
        return Reply.of(await self._answer_to(event, limit))

    async def utter(self, instructions: str | Sequence[str]) -> Reply:
        """Make the agent say something unprompted, under the same rules as any reply.

        Args:
            instructions: What to say, one action each.

        Raises:
            InvalidValueError: There is no instruction.
        """
        await self._refresh()
        listed = [instructions] if isinstance(instructions, str) else instructions
        before = await self._store.get(self.id)
        await self._runtime.utter(self._scope, self.id, texts("utterance", "instructions", listed))
        return Reply.of((await self._store.read(self.id, start=before.length)).events)

    async def events(
        self, *, start: int = 0, kinds: Iterable[EventKind] | None = None
    ) -> tuple[Event, ...]:
        """Return the session's log from offset `start` on, of those kinds or all."""
        wanted = None if kinds is None else frozenset(kinds)
        return (await self._store.read(self.id, start=start, kinds=wanted)).events

    @property
    def _store(self) -> SessionStore:
        return self._runtime.stores.scope(self._scope).sessions

    async def _answer_to(self, event: Event, limit: float) -> Sequence[Event]:
        """Return what follows `event` up to `ready`, or up to where nothing more is to come."""
        heard: list[Event] = []
        answered = False
        failure: StoreError | None = None

        async def stop_when_idle() -> None:
            await self._runtime.dispatcher.idle(self.id)
            group.cancel_scope.cancel()

        with anyio.move_on_after(limit):
            async with anyio.create_task_group() as group:
                group.start_soon(stop_when_idle)
                try:
                    async for each in self._runtime.reply(self._scope, self.id, after=event.offset):
                        heard.append(each)
                    answered = True
                except StoreError as exc:
                    failure = exc  # raised outside of the group, which would wrap it
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        if answered:
            return heard
        return (await self._store.read(self.id, start=event.offset + 1)).events
