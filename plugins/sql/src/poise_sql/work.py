"""Work for one connection, done in a worker thread: together, when several callers wait for it.

Changing threads costs more than most transactions. So whoever comes while the connection is busy
waits, and the next change of thread does all that has gathered, in order, each in a transaction
of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import attrs

T = TypeVar("T")

_TOGETHER = 16
"""Pieces of work per change of thread: the first one's caller waits for the last one's end."""


@attrs.define(eq=False)
class _Piece:
    run: Callable[[], Any]  # whatever the caller is to get
    is_done: bool = False
    result: Any = None
    error: Exception | None = None


class WorkQueue:
    """Runs pieces of work one at a time, in the order they came, off the event loop."""

    def __init__(self) -> None:
        self._waiting: list[_Piece] = []
        self._turn = anyio.Lock(fast_acquire=True)

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, or raise what it raises.

        Cancelled before a thread has taken it, it is not run; after that, it is run to its end.
        """
        piece = _Piece(work)
        self._waiting.append(piece)
        try:
            async with self._turn:
                if not piece.is_done:  # whoever had the turn before may have done it as well
                    taken, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
                    with anyio.CancelScope(shield=True):
                        await anyio.to_thread.run_sync(_do, taken)
        except anyio.get_cancelled_exc_class():
            with suppress(ValueError):
                self._waiting.remove(piece)
            raise
        if piece.error is not None:
            raise piece.error
        result: T = piece.result
        return result


def _do(pieces: list[_Piece]) -> None:
    for piece in pieces:
        try:
            piece.result = piece.run()
        except Exception as exc:
            piece.error = exc  # raised to the one who asked, in its own task
        piece.is_done = True
