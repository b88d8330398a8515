"""The stage *load*: all that a turn reads before it thinks: the log, the stores, variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import attrs

from poise.engine.account import Account
from poise.engine.parts import Parts
from poise.engine.spending import day_of, read_day
from poise.errors import NotFoundError
from poise.ports.stores import ScopedStores, SessionStore
from poise.turn.context import TurnContext
from poise.turn.history import History
from poise.turn.state import SessionState, fold
from poise.values.customers import Customer
from poise.values.events import EventKind
from poise.values.ids import CustomerId, SessionId
from poise.values.tools import ToolCall
from poise.values.variables import Variable, VariableValue

_WINDOW = frozenset({EventKind.MESSAGE, EventKind.TOOL})


async def read_session(
    store: SessionStore, session: SessionId, window: int
) -> tuple[SessionState, History]:
    """Return the session's state and its window of messages and tool events.

    Raises:
        NotFoundError: There is no such session in this scope.
    """
    history = await store.read(session, last=window, kinds=_WINDOW)
    state = history.checkpoint.state if history.checkpoint else SessionState()
    if state.offset < history.length:
        tail = await store.read(session, start=state.offset)
        # Not beyond the window: a message that the turn hasn't read must not count as answered.
        state = fold((each for each in tail.events if each.offset < history.length), state)
    if state.unanswered and history.events and state.unanswered[0] < history.events[0].offset:
        # A burst longer than the window: every unanswered message is read all the same.
        history = await store.read(session, start=state.unanswered[0], kinds=_WINDOW)
    return state, history


async def read_customer(stores: ScopedStores, customer: CustomerId) -> Customer:
    """Return the stored customer; a stranger where nothing is stored."""
    if customer == Customer.guest().id:
        return Customer.guest()
    try:
        return (await stores.customers.get(customer)).value
    except NotFoundError:
        return Customer(customer, name=customer)


async def load(
    turn: TurnContext, stores: ScopedStores, *, parts: Parts, account: Account
) -> TurnContext:
    """Return the turn with variables and terms; what can't be loaded is left out and said so.

    Where limits on spending are near, its effort is less.
    """
    turn = await _limited(turn, stores, parts=parts, account=account)
    turn = attrs.evolve(
        turn, variables={**turn.variables, **await _variables(turn, stores, parts, account)}
    )
    try:
        found = tuple(await parts.term_finder.find(turn))
    except Exception as exc:
        account.degrade("term finder", exc, "went on without terms")
        found = ()
    return attrs.evolve(turn, terms=(*found, *turn.terms))


async def _limited(
    turn: TurnContext, stores: ScopedStores, *, parts: Parts, account: Account
) -> TurnContext:
    """Return the turn with the effort that it can afford."""
    if account.spending is None:
        return turn
    if account.spending.limits.day is not None:
        try:
            day = await read_day(stores.spending, day_of(turn.now))
            account.spending = attrs.evolve(account.spending, day=day)
        except Exception as exc:
            account.degrade("spending", exc, "went on without the day's sum")
    return attrs.evolve(turn, effort=account.allowed(turn.effort))


async def _variables(
    turn: TurnContext, stores: ScopedStores, parts: Parts, account: Account
) -> Mapping[str, Any]:
    """Return values by name; stale ones are fetched side by side, each within its own deadline."""
    declared = turn.snapshot.variables
    values: dict[str, Any] = {}

    async def read(variable: Variable) -> None:
        try:
            values[variable.name] = await _value(variable, turn, stores, parts)
        except NotFoundError:
            pass  # nothing was ever set: the variable is absent
        except Exception as exc:
            account.degrade(f"variable {variable.name}", exc, "left it out")

    if declared:
        async with anyio.create_task_group() as group:
            for variable in declared.values():
                group.start_soon(read, variable)
    # In declared order, so that equal state gives equal prompts.
    return {each.name: values[each.name] for each in declared.values() if each.name in values}


async def _value(
    variable: Variable, turn: TurnContext, stores: ScopedStores, parts: Parts
) -> Any:  # whatever JSON the variable holds
    blank = VariableValue(variable.id, turn.customer.id, None, turn.now)
    try:
        stored: VariableValue | None = (await stores.values.get(blank.key)).value
    except NotFoundError:
        stored = None
    if stored is not None and not variable.is_stale(stored.at, turn.now):
        return stored.data
    if variable.tool is None:
        if stored is None:
            raise NotFoundError("variable value", blank.key)
        return stored.data
    outcome = await parts.gate.fetch(
        ToolCall(
            key=f"{turn.session.id}:variable:{variable.name}", tool=variable.tool, arguments={}
        ),
        turn,
    )
    if outcome.result is None or outcome.result.error is not None:
        reason = outcome.error or outcome.refusal or (outcome.result and outcome.result.error)
        raise RuntimeError(reason)
    await stores.values.put(attrs.evolve(blank, data=outcome.result.data))
    return outcome.result.data
