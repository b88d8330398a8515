"""The bus in memory: signals for whoever watches right now, in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from weakref import WeakSet

import anyio

from poise.ports.runtime import Bus, Signal
from poise.values.ids import SessionId


class MemoryBus(Bus):
    """Hands each signal to the watchers of its session.

    Args:
        capacity: How many signals wait for one watcher; what comes on top of that it misses.
    """

    def __init__(self, capacity: int = 256) -> None:
        self._capacity = capacity
        self._watchers: dict[SessionId, WeakSet[_Watcher]] = {}

    async def publish(self, signal: Signal) -> None:
        watchers = self._watchers.get(signal.session)
        if watchers is None:
            return
        if not watchers:
            # The last one left without saying so.
            del self._watchers[signal.session]
            return
        for watcher in tuple(watchers):
            watcher.take(signal)

    def watch(self, session: SessionId) -> AsyncIterator[Signal]:
        watcher = _Watcher(self._capacity)
        # Held weakly: a watcher that nobody reads any more leaves by itself.
        self._watchers.setdefault(session, WeakSet()).add(watcher)
        return watcher


class _Watcher(AsyncIterator[Signal]):
    """One watcher's queue; watching starts when it is made, not when it is first read."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._waiting: deque[Signal] = deque()
        self._arrived: anyio.Event | None = None

    def take(self, signal: Signal) -> None:
        if len(self._waiting) >= self._capacity:
            return
        self._waiting.append(signal)
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None

    async def __anext__(self) -> Signal:
        while not self._waiting:
            if self._arrived is None:
                self._arrived = anyio.Event()
            await self._arrived.wait()
        return self._waiting.popleft()
