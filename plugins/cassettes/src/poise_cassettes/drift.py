"""What to say when a request is not recorded: which recorded one is nearest, and the difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher, unified_diff

from poise_cassettes.errors import MEND, CassetteDriftError
from poise_cassettes.folder import Cassette
from poise_cassettes.requests import Request

_LONGEST = 80
"""Lines of a difference that an error shows."""

_FINALISTS = 5
_COMPARED = 20_000  # characters


def drift(request: Request, recorded: Iterable[Cassette], *, provider: str) -> CassetteDriftError:
    """Return the error for a request that is not recorded.

    Args:
        request: The one that was made.
        recorded: What there is of the same model and capability.
        provider: Who says so.
    """
    what = f"this {request.capability.value} request ({request.digest}) is not recorded"
    nearest = _nearest(request, recorded)
    if nearest is None:
        reason = f"{what}, nor any other of {request.model}; {MEND}"
        return CassetteDriftError(provider, request.model, "", reason)
    found = list(
        unified_diff(
            nearest.request.lines,
            request.lines,
            f"recorded in {nearest.file}",
            "asked now",
            n=2,
            lineterm="",
        )
    )
    cut = [f"… and {len(found) - _LONGEST} more lines"] if len(found) > _LONGEST else []
    diff = "\n".join([*found[:_LONGEST], *cut])
    return CassetteDriftError(
        provider,
        request.model,
        "",
        f"{what}; the nearest one differs:\n{diff}\n{MEND}",
        nearest=nearest.file,
        diff=diff,
    )


def _nearest(request: Request, recorded: Iterable[Cassette]) -> Cassette | None:
    """Return the recorded request that shares most lines; among the best, most characters."""
    asked = Counter(request.lines)
    best = sorted(recorded, key=lambda each: (-_shared(asked, each), each.file))[:_FINALISTS]
    text = "\n".join(request.lines)[:_COMPARED]
    return max(
        best,
        key=lambda each: SequenceMatcher(
            None, text, "\n".join(each.request.lines)[:_COMPARED], autojunk=False
        ).quick_ratio(),
        default=None,
    )


def _shared(asked: Counter[str], cassette: Cassette) -> float:
    lines = Counter(cassette.request.lines)
    return (asked & lines).total() / (asked | lines).total()
