"""A session store against a model of it: whatever order its methods are called in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any, TypeVar

import attrs
from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from poise.errors import ConflictError, StaleFenceError
from poise.ports.stores import Fence, SessionStore
from poise.testing.clock import FrozenClock
from poise.testing.events import new_events
from poise.testing.session_store import header_of
from poise.turn.history import Checkpoint
from poise.turn.state import fold
from poise.values.events import Event, EventKind, NewEvent
from poise.values.ids import SessionId

T = TypeVar("T")

_OWNERS = ("turn_a", "turn_b", "turn_c")


@attrs.define
class _Model:
    """What one session should hold."""

    events: list[Event] = attrs.field(factory=list)
    owner: str | None = None
    epoch: int = 0
    expires: datetime | None = None
    checkpoint: Checkpoint | None = None

    def accepts(self, fence: Fence | None) -> bool:
        return fence is None or (fence.owner, fence.epoch) == (self.owner, self.epoch)


class SessionStoreMachine(RuleBasedStateMachine):
    """Appends, claims, releases and reads in any order, each held against the model.

    Derive from it, fill `open`, and collect `TestMyStore = MyMachine.TestCase`.

    Attributes:
        clock: What the store must tell time by.
    """

    fences = Bundle("fences")

    def __init__(self) -> None:
        super().__init__()
        self.clock = FrozenClock()
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())
        self._models = {header_of(name).id: _Model() for name in ("one", "two")}

    def open(self) -> SessionStore:
        """Return a store without sessions; called once, use `wait` for what is async."""
        raise NotImplementedError("let 'open' return your store")

    def reopen(self, store: SessionStore) -> SessionStore:
        """Return the store as a restart finds it; the same one where nothing outlives a process."""
        return store

    def close(self) -> None:
        """Release what `open` opened."""

    def wait(self, call: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        """Return what an async `call` returns, on the machine's event loop."""

        async def run() -> T:
            return await call(*args, **named)

        return self._portal.call(run)

    def teardown(self) -> None:
        try:
            self.close()
        finally:
            self._stack.close()

    @initialize()
    def begin(self) -> None:
        """Open the store and the model's sessions."""
        self.store = self.open()
        for name in ("one", "two"):
            self.wait(self.store.open, header_of(name))

    _sessions = st.sampled_from([header_of("one").id, header_of("two").id])

    @rule(session=_sessions, events=st.lists(new_events(), min_size=1, max_size=3))
    def append(self, session: SessionId, events: list[NewEvent]) -> None:
        """Anyone appends."""
        self._append(session, events)

    @rule(
        session=_sessions,
        events=st.lists(new_events(), min_size=1, max_size=2),
        behind=st.integers(-1, 2),
    )
    def append_after(self, session: SessionId, events: list[NewEvent], behind: int) -> None:
        """Somebody appends who last looked a while ago, or just now."""
        self._append(session, events, after=len(self._models[session].events) - behind)

    @rule(
        fence=fences,
        events=st.lists(new_events(), min_size=1, max_size=2),
        behind=st.sampled_from([None, 0, 1]),
        folded=st.booleans(),
    )
    def append_fenced(
        self, fence: Fence, events: list[NewEvent], behind: int | None, folded: bool
    ) -> None:
        """A turn appends, which may have lost its lease, with a checkpoint or without."""
        model = self._models[fence.session]
        after = None if behind is None else len(model.events) - behind
        state = fold(model.events)
        checkpoint = Checkpoint(state.offset, state) if folded else None
        self._append(fence.session, events, fence=fence, after=after, checkpoint=checkpoint)

    def _append(
        self,
        session: SessionId,
        events: list[NewEvent],
        *,
        fence: Fence | None = None,
        after: int | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        model = self._models[session]
        try:
            stored = self.wait(
                self.store.append,
                session,
                events,
                fence=fence,
                after=after,
                checkpoint=checkpoint,
            )
        except StaleFenceError:
            assert not model.accepts(fence), "a valid fence was refused"
            return
        except ConflictError as exc:
            assert model.accepts(fence), "a stale fence is refused before anything else"
            assert after != len(model.events), "the length was right, and yet refused"
            actual = exc.actual
            assert actual == len(model.events), "the error says how long the session is"
            return
        assert model.accepts(fence), "a stale fence was let through"
        assert after in (None, len(model.events)), "a wrong length was let through"
        start = len(model.events)
        assert [each.offset for each in stored] == list(range(start, start + len(events)))
        assert [each.id for each in stored] == [each.id for each in events]
        model.events.extend(stored)
        kept = model.checkpoint
        if checkpoint is not None and (kept is None or checkpoint.offset > kept.offset):
            model.checkpoint = checkpoint

    @rule(
        target=fences,
        session=_sessions,
        owner=st.sampled_from(_OWNERS),
        seconds=st.sampled_from([5, 20]),
    )
    def claim(self, session: SessionId, owner: str, seconds: int) -> Fence:
        """A turn claims a session; what it holds afterwards may be good or stale."""
        model, now = self._models[session], self.clock.now()
        held = model.owner is not None and model.expires is not None and now < model.expires
        fence = self.wait(self.store.claim, session, owner, timedelta(seconds=seconds))
        if held and model.owner != owner:
            assert fence is None, "another owner holds the lease"
            return Fence(session, owner, model.epoch)  # made up: must be refused
        assert fence is not None, "the lease was free, expired, or the owner's own"
        if model.owner == owner:
            assert fence.epoch == model.epoch, "renewing keeps the epoch"
        else:
            assert fence.epoch > model.epoch, "a new owner gets a new epoch"
        model.owner, model.epoch = owner, fence.epoch
        model.expires = now + timedelta(seconds=seconds)
        return fence

    @rule(fence=fences)
    def release(self, fence: Fence) -> None:
        """A turn gives its lease up, which may be gone already."""
        model = self._models[fence.session]
        self.wait(self.store.release, fence)
        if model.accepts(fence):
            model.owner = None

    @rule(seconds=st.sampled_from([1, 5, 20]))
    def pass_time(self, seconds: int) -> None:
        """Time goes by."""
        self.clock.advance(seconds)

    @rule()
    def restart(self) -> None:
        """The process ends and another one begins."""
        self.store = self.reopen(self.store)

    @rule(
        session=_sessions,
        start=st.integers(0, 8),
        last=st.none() | st.integers(0, 5),
        kinds=st.none() | st.frozensets(st.sampled_from(EventKind), max_size=4),
    )
    def read(
        self,
        session: SessionId,
        start: int,
        last: int | None,
        kinds: frozenset[EventKind] | None,
    ) -> None:
        """Somebody reads a window."""
        model = self._models[session]
        wanted = [each for each in model.events[start:] if kinds is None or each.kind in kinds]
        if last is not None:
            wanted = wanted[max(0, len(wanted) - last) :]

        history = self.wait(self.store.read, session, start=start, last=last, kinds=kinds)

        assert list(history.events) == wanted
        assert history.length == len(model.events)
        assert history.checkpoint == model.checkpoint

    @invariant()
    def a_checkpoint_and_the_rest_equal_the_whole(self) -> None:
        """What a turn loads is what folding the log from scratch gives."""
        if not hasattr(self, "store"):
            return
        for session, model in self._models.items():
            history = self.wait(self.store.read, session)
            known = history.checkpoint
            tail = history.events[known.offset :] if known else history.events
            assert fold(tail, known.state if known else None) == fold(model.events)
