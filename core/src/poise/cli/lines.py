"""The lines that somebody types or pipes in, one at a time, so that waiting can be interrupted."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread

_CHUNK = 65_536


async def lines() -> AsyncIterator[str]:
    """Yield the lines of stdin without their ends, until it is closed."""
    descriptor = _waitable()
    if descriptor is None:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            yield line.rstrip("\r\n")
        return
    # A thread blocked in a read would keep the process alive after Ctrl-C, so none is used here.
    waiting = b""
    while True:
        await anyio.wait_readable(descriptor)
        chunk = os.read(descriptor, _CHUNK)
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole:
            yield _text(line)
        if not chunk:
            if waiting:
                yield _text(waiting)
            return


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


def _waitable() -> int | None:
    """Return the descriptor of stdin if it is one that can be waited for: no file, no stand-in."""
    if sys.platform == "win32":
        return None
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):
        return None
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(descriptor):
        return descriptor
    return None
