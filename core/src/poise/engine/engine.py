"""The default engine: claims a session, wakes a turn on what is unanswered, renews the lease."""

from __future__ import annotations

import logging
import time
from datetime import timedelta

import anyio
from opentelemetry.trace import StatusCode

from poise.engine import loading, metrics
from poise.engine.account import Account
from poise.engine.catalogs import Published
from poise.engine.log import TurnLog
from poise.engine.parts import Parts
from poise.engine.settling import book
from poise.engine.spans import AGENT_ID, END, SESSION_ID, TURN, TURN_ID, WAKE
from poise.engine.spending import Spending
from poise.engine.turn import Turn
from poise.errors import NotFoundError, StaleFenceError, StoreError
from poise.hooks.tracing import span
from poise.ports.runtime import (
    ConversationEngine,
    TurnEnd,
    TurnOutcome,
    TurnRequest,
    UtteranceRequest,
)
from poise.ports.stores import Fence, ScopedStores
from poise.turn.context import TurnContext, Wake
from poise.values.ids import AgentId, SessionId, TurnId
from poise.values.scope import Scope
from poise.values.sessions import SessionMode

logger = logging.getLogger(__name__)


class DefaultEngine(ConversationEngine):
    """Runs turns in the order of `Turn`: one at a time per session, across all of a store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def process(self, request: TurnRequest) -> TurnOutcome:
        return await self._run(request.scope, request.session, request.wake, ())

    async def utter(self, request: UtteranceRequest) -> TurnOutcome:
        return await self._run(request.scope, request.session, Wake.UTTER, request.instructions)

    async def _run(
        self,
        scope: Scope,
        session: SessionId,
        wake: Wake,
        instructions: tuple[str, ...],
    ) -> TurnOutcome:
        parts = self._parts
        stores = parts.stores.scope(scope)
        turn_id = TurnId(parts.ids.new("turn"))
        fence = await stores.sessions.claim(session, turn_id, self._lease)
        if fence is None:
            return TurnOutcome(TurnEnd.BUSY)
        with span(TURN, {SESSION_ID: session, TURN_ID: turn_id, WAKE: wake.value}) as current_span:
            started = time.perf_counter()
            outcome = TurnOutcome(TurnEnd.SUPERSEDED, turn_id)
            account = Account()
            turn: Turn | None = None
            try:
                turn = await self._wake(
                    stores, scope, wake, fence=fence, account=account, instructions=instructions
                )
                if turn is None:
                    outcome = TurnOutcome(TurnEnd.IDLE)
                else:
                    current_span.set_attribute(AGENT_ID, turn.context.agent.id)
                    outcome = await self._under_lease(turn, fence, stores)
            except Exception:
                outcome = TurnOutcome(TurnEnd.FAILED, turn_id)
                raise
            finally:
                with anyio.CancelScope(shield=True):
                    await stores.sessions.release(fence)
                metrics.record_turn(time.perf_counter() - started, wake.value, outcome.end.value)
                if turn is not None:
                    await book(turn.context, stores, parts=parts, account=account)
            current_span.set_attribute(END, outcome.end.value)
            if outcome.end is TurnEnd.FAILED:
                current_span.set_status(StatusCode.ERROR)
            return outcome

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._parts.limits.lease)

    async def _wake(
        self,
        stores: ScopedStores,
        scope: Scope,
        wake: Wake,
        *,
        fence: Fence,
        account: Account,
        instructions: tuple[str, ...],
    ) -> Turn | None:
        """Read the session and return the turn it needs; `None` when there is nothing to say."""
        parts = self._parts
        header = (await stores.sessions.get(fence.session)).header
        state, history = await loading.read_session(
            stores.sessions, fence.session, parts.limits.history
        )
        if wake is not Wake.UTTER and not state.unanswered:
            return None
        if state.mode is SessionMode.MANUAL:
            return None
        published = self._published(header.agent)
        customer = await loading.read_customer(stores, state.customer or header.customer)
        now = parts.clock.now()
        log = TurnLog(
            stores.sessions,
            fence,
            TurnId(fence.owner),
            state=state,
            clock=parts.clock,
            ids=parts.ids,
        )
        agent = published.snapshot.agent
        if parts.limits.spending.are_set:
            account.spending = Spending(parts.limits.spending, state.spent)
        if published.failure:
            account.degrade("index", published.failure, "considered only what is in play")
        turn: Turn

        def current() -> TurnContext | None:
            return turn.context

        context = TurnContext(
            id=TurnId(fence.owner),
            scope=scope,
            base=state.unanswered[0] if state.unanswered else state.offset,
            upto=state.offset,
            wake=wake,
            deadline=now + timedelta(seconds=parts.limits.turn_deadline),
            now=now,
            agent=agent,
            customer=customer,
            session=header,
            snapshot=published.snapshot,
            index=published.index,
            state=state,
            history=history,
            models=parts.models.bind(account, current),
            language=state.language,
            requested=instructions,
            effort=agent.effort,
            mode=agent.composition_mode,
        )
        turn = Turn(context, parts=parts, stores=stores, log=log, account=account)
        return turn

    def _published(self, agent: AgentId) -> Published:
        published = self._parts.catalogs.published(agent)
        if published is None:
            raise NotFoundError("agent", agent)
        return published

    async def _under_lease(self, turn: Turn, fence: Fence, stores: ScopedStores) -> TurnOutcome:
        """Run the turn while its lease is renewed; a lost lease ends it without a trace."""
        outcome = TurnOutcome(TurnEnd.SUPERSEDED, turn.context.id)
        async with anyio.create_task_group() as group:

            async def renew() -> None:
                while True:
                    await anyio.sleep(self._parts.limits.lease_renewal)
                    try:
                        renewed = await stores.sessions.claim(
                            fence.session, fence.owner, self._lease
                        )
                    except StoreError:
                        # The lease outlives a missed renewal, and the fence guards what is written.
                        logger.warning("a lease was not renewed", exc_info=True)
                        continue
                    if renewed is None or renewed.epoch != fence.epoch:
                        group.cancel_scope.cancel()

            group.start_soon(renew)
            try:
                outcome = await turn.run()
            except StaleFenceError:
                outcome = TurnOutcome(TurnEnd.SUPERSEDED, turn.context.id)
            group.cancel_scope.cancel()
        return outcome
