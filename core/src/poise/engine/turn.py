"""One turn, from waking up to *settled*: the order of its stages, and every way it can end."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

import anyio
import attrs

from poise.engine import calling, discovering, judging, loading, resolving, speaking
from poise.engine.account import Account
from poise.engine.log import SupersededError, TurnLog, status_data
from poise.engine.parts import Parts
from poise.engine.settling import settle, warm
from poise.errors import PoiseError, StaleFenceError
from poise.ports.runtime import Signal, TurnEnd, TurnOutcome
from poise.ports.stores import ScopedStores
from poise.turn.context import TurnContext
from poise.turn.control import Bail, Contribution, Skip, Skippable
from poise.turn.ledger import ledger_to_json
from poise.turn.queries import Query, customer_queries
from poise.turn.speech import Message
from poise.turn.tooling import ToolOutcome
from poise.values.events import Event, EventKind, NewEvent, Source, Status
from poise.values.rules import Rule


class BailedError(Exception):
    """A hook ended the turn."""

    def __init__(self, reason: str, *, silent: bool) -> None:
        super().__init__(reason)
        self.silent = silent


class Turn:
    """Runs one turn. `context` is replaced between stages and mutated by nobody.

    Args:
        context: The turn as it woke up, read but not loaded.
        parts: The engine's collaborators.
        stores: The stores of the turn's scope.
        log: Its pen.
        account: Its account.
    """

    def __init__(
        self,
        context: TurnContext,
        *,
        parts: Parts,
        stores: ScopedStores,
        log: TurnLog,
        account: Account,
    ) -> None:
        self.context = context
        self._parts = parts
        self._stores = stores
        self._log = log
        self._account = account
        self._skipped: set[Skippable] = set()
        self._draft: str | None = None
        self._acknowledged = False
        self._has_spoken = False

    async def run(self) -> TurnOutcome:
        """Run the turn and return how it ended; raises only cancellation and a lost lease."""
        try:
            with anyio.fail_after(self._parts.limits.turn_deadline):
                messages = await self._answer()
        except SupersededError:
            return await self._end_without_words(TurnEnd.SUPERSEDED, "cancelled")
        except BailedError as bail:
            return await self._bail(bail)
        except anyio.get_cancelled_exc_class():
            if not self._has_spoken:
                await self._end_without_words(TurnEnd.SUPERSEDED, "cancelled")
            raise
        except StaleFenceError:
            raise
        except Exception as exc:
            return await self._fail(exc)
        return await self._finish(messages)

    # -- the order of a turn --

    async def _answer(self) -> Sequence[Event]:
        """Run every stage up to and including the commit that sends the reply."""
        account, parts = self._account, self._parts
        with account.stage("acknowledge"):
            await self._steer("on_acknowledging", silent=True)
            with anyio.CancelScope(shield=True):
                self._acknowledged = True  # also where the commit finds that it comes too late
                await self._log.commit(
                    self._log.event(EventKind.STATUS, status_data(Status.ACKNOWLEDGED.value))
                )
            await self._steer("on_acknowledged")
        await self._status(Status.PROCESSING)
        with account.stage("load"):
            self.context = await loading.load(
                self.context, self._stores, parts=parts, account=account
            )
        with account.stage("plan"):
            plan = await judging.plan(self.context, parts, account)
            self.context = attrs.evolve(self.context, plan=plan)
        await self._steer("on_preparing")
        await self._prepare()
        await self._select()
        await self._steer("on_generating_messages")
        with account.stage("compose"):
            await self._status(Status.TYPING)
            self.context, messages = await speaking.compose(
                self.context, self._draft, parts=parts, account=account
            )
        # From here on words leave: whoever cancels now waits for the end of the commit.
        sent: Sequence[Event] = ()
        with anyio.CancelScope(shield=True), account.stage("emit"):
            sent = await self._emit(messages)
            self._has_spoken = True
        return sent

    async def _prepare(self) -> None:
        """Discover, match, resolve and call until nothing new appears."""
        account, parts = self._account, self._parts
        queries: Sequence[Query] | None = (
            customer_queries(self.context.history.messages, self.context.base)
            if self.context.new_messages
            else ()
        )
        judged = len(self.context.results)
        for iteration in range(1, self.context.plan.max_iterations + 1):
            await self._steer("on_preparation_iteration_start")
            with account.stage("discover"):
                self.context = await discovering.discover(
                    self.context,
                    () if Skippable.DISCOVERY in self._skipped else queries or (),
                    parts=parts,
                    account=account,
                    iteration=iteration,
                )
            fresh, judged = self.context.results[judged:], len(self.context.results)
            await self._settle_rules(iteration, fresh)
            queries = None
            if Skippable.TOOLS not in self._skipped:
                with account.stage("tools"):
                    queries = await self._call_tools()
            ended = await self._steer("on_preparation_iteration_end", ends_turn=False)
            if ended or queries is None:
                return

    async def _settle_rules(self, iteration: int, fresh: Sequence[ToolOutcome]) -> None:
        """Match and resolve, and again with the rules that guard what is about to be offered."""
        while True:
            with self._account.stage("match"):
                self.context = await judging.match(
                    self.context,
                    parts=self._parts,
                    account=self._account,
                    fresh=fresh,
                    iteration=iteration,
                )
            with self._account.stage("resolve"):
                self.context = resolving.resolve(
                    self.context, parts=self._parts, account=self._account
                )
            guarded = discovering.guards(self.context, iteration)
            if guarded is self.context or Skippable.TOOLS in self._skipped:
                return
            # Each round adds rules of the catalog, so there is a last one.
            self.context, fresh = guarded, ()

    async def _call_tools(self) -> Sequence[Query] | None:
        """Call what is to be called; return what to discover in it, or `None` without news."""
        before = len(self.context.results)
        self.context = await calling.infer(self.context, parts=self._parts, account=self._account)
        if not self.context.tool_plan.calls:
            return None
        self.context, queries = await calling.call(
            self.context, parts=self._parts, account=self._account, log=self._log
        )
        self.context = attrs.evolve(self.context, state=self._log.state)
        return queries if len(self.context.results) > before else None

    async def _select(self) -> None:
        """Tell the rules that survived resolution."""
        for rule in self.context.active_rules:
            await self._parts.hooks.notify(
                "on_rule_selected", self._account.hook_failed, rule=rule, turn=self.context
            )
            await self._handler(rule, rule.on_selected)

    async def _handler(self, rule: Rule, name: str | None) -> None:
        binding = self.context.snapshot.bindings.get(name) if name else None
        if binding is None:
            return
        try:
            with anyio.fail_after(self._parts.limits.tool_timeout):
                await binding(self.context, rule)
        except Exception as exc:
            self._account.degrade(f"handler {name} of {rule.name}", exc, "went on without it")

    # -- what leaves --

    async def _emit(self, messages: Sequence[Message]) -> Sequence[Event]:
        self.context = attrs.evolve(self.context, upto=self._log.state.offset)
        outcome = "sent" if messages else "silent"
        events: list[NewEvent] = [
            self._log.event(
                EventKind.MESSAGE,
                {"text": message.text, "canned": list(message.chosen)},
                Source.AI_AGENT,
            )
            for message in messages
        ]
        events.append(self._match_event(outcome))
        events.append(self._log.event(EventKind.STATUS, status_data(Status.READY.value)))
        appended = await self._log.commit_unless_superseded(*events)
        return [event for event in appended if event.kind is EventKind.MESSAGE]

    async def _finish(self, sent: Sequence[Event]) -> TurnOutcome:
        """Do what follows the reply: it delays nobody and takes nothing back."""
        with anyio.CancelScope(shield=True):
            if sent:
                await self._within_settle_wait("what follows the reply", self._tell(sent))
                await warm(self.context, sent, parts=self._parts, account=self._account)
            await settle(self.context, parts=self._parts, account=self._account, log=self._log)
        return TurnOutcome(
            TurnEnd.SENT if sent else TurnEnd.SILENT,
            self.context.id,
            tuple(event.text for event in sent),
        )

    async def _tell(self, sent: Sequence[Event]) -> None:
        """Tell whoever listens what was said, and by which rules."""
        failed = self._account.hook_failed
        await self._parts.hooks.notify(
            "on_messages_emitted", failed, messages=sent, turn=self.context
        )
        for rule in self.context.active_rules:
            await self._parts.hooks.notify("on_rule_message", failed, rule=rule, turn=self.context)
            await self._handler(rule, rule.on_message)

    async def _within_settle_wait(self, part: str, work: Awaitable[None]) -> None:
        """Await what is shielded and must not hold up the session for good."""
        limit = self._parts.limits.settle_wait
        with anyio.move_on_after(limit) as scope:
            await work
        if scope.cancelled_caught:
            self._account.degrade(part, f"took longer than {limit:g} s", "went on without it")

    def _match_event(self, outcome: str) -> NewEvent:
        try:
            embedder = self.context.models.identity()
        except PoiseError:
            embedder = ""
        ledger = self._account.ledger(self.context, outcome, embedder)
        return self._log.event(EventKind.MATCH, ledger_to_json(ledger))

    async def _status(self, status: Status) -> None:
        """Show a live status at once; it reaches the log with the next commit."""
        data = status_data(status.value)
        self._log.defer(self._log.event(EventKind.STATUS, data))
        await self._parts.bus.publish(Signal(self._log.session, self.context.id, "status", data))

    # -- other ends --

    async def _end_without_words(self, end: TurnEnd, outcome: str) -> TurnOutcome:
        if self._acknowledged:
            with anyio.CancelScope(shield=True):
                await self._log.give_up(
                    self._match_event(outcome),
                    self._log.event(EventKind.STATUS, status_data(Status.CANCELLED.value)),
                    self._log.event(EventKind.STATUS, status_data(Status.READY.value)),
                )
        return TurnOutcome(end, self.context.id)

    async def _bail(self, bail: BailedError) -> TurnOutcome:
        """End as a hook wished: nothing more is said, and the messages count as seen to."""
        self.context = attrs.evolve(self.context, upto=self._log.state.offset)
        events = [self._match_event("silent")]
        if not bail.silent:
            events.append(
                self._log.event(
                    EventKind.STATUS, status_data(Status.READY.value, detail=str(bail) or None)
                )
            )
        with anyio.CancelScope(shield=True):
            await self._log.give_up(*events)
        return TurnOutcome(TurnEnd.BAILED, self.context.id)

    async def _fail(self, exc: Exception) -> TurnOutcome:
        """Say the apology, note what happened, and leave the session usable."""
        reason = (
            f"no reply within {self._parts.limits.turn_deadline:g} s"
            if isinstance(exc, TimeoutError)
            else f"{type(exc).__name__}: {exc}"
        )
        with anyio.CancelScope(shield=True):
            self._account.degrade("turn", exc, "said the apology")
            upto = self._log.state.offset
            self.context = attrs.evolve(self.context, upto=upto)
            apology = self.context.agent.apology
            try:
                await self._log.commit_unless_superseded(
                    self._log.event(EventKind.MESSAGE, {"text": apology}, Source.AI_AGENT),
                    self._match_event("failed"),
                    self._log.event(
                        EventKind.STATUS,
                        status_data(Status.ERROR.value, detail=reason, upto=upto),
                    ),
                    self._log.event(EventKind.STATUS, status_data(Status.READY.value)),
                )
            except SupersededError:
                return await self._end_without_words(TurnEnd.SUPERSEDED, "cancelled")
            told = self._parts.hooks.notify(
                "on_error", self._account.hook_failed, error=exc, turn=self.context
            )
            await self._within_settle_wait("on_error", told)
        return TurnOutcome(TurnEnd.FAILED, self.context.id, (apology,))

    # -- hooks --

    async def _steer(self, hook: str, *, silent: bool = False, ends_turn: bool = True) -> bool:
        """Call a hook and take in what it contributes; return whether it bailed."""
        if not self._parts.hooks.has(hook):
            return False
        answers = await self._parts.hooks.steer(hook, self._account.hook_failed, turn=self.context)
        for answer in answers:
            if isinstance(answer, Bail):
                if ends_turn:
                    raise BailedError(answer.reason, silent=silent)
                return True
            if isinstance(answer, Skip):
                self._skipped.add(answer.stage)
            else:
                self._take(answer)
        return False

    def _take(self, contribution: Contribution) -> None:
        turn = self.context
        self.context = attrs.evolve(
            turn,
            variables={**turn.variables, **contribution.variables},
            transient=(*turn.transient, *contribution.rules),
            terms=(*turn.terms, *contribution.terms),
            fields={**turn.fields, **contribution.fields},
        )
        if contribution.draft is not None:
            self._draft = contribution.draft
