"""Keeps what a command has freed from staying resident: for programs, never for the library."""

from __future__ import annotations

import sys

_M_MMAP_THRESHOLD = -3
_BYTES = 128 * 1024


def give_back_what_is_freed() -> None:
    """Let the C library map large blocks by themselves, so that freeing one returns it at once.

    Its default raises that limit with every large block that is freed, up to 32 MB; loading a
    model frees many, and tens of megabytes then stay with the process. Where the C library knows
    no such limit nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _BYTES)
