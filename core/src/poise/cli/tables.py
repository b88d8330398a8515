"""Plain text for a terminal: aligned tables that fit its width, and nothing that can steer it."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence

import click

PIPED_WIDTH = 120
"""How wide a table may get where there is no terminal to ask."""

_GAP = "  "
_NARROWEST = 6  # a column is not cut below this


def terminal_width() -> int:
    """Return how many columns there are to write to; `COLUMNS` wins."""
    if os.environ.get("COLUMNS", "").isdigit() or sys.stdout.isatty():
        return shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    return PIPED_WIDTH


def write(text: str, *, err: bool = False) -> None:
    """Write a line; colours only to a terminal, and never where `NO_COLOR` is set."""
    click.echo(text, err=err, color=False if os.environ.get("NO_COLOR") else None)


def heading(text: str) -> str:
    """Return `text` so that it stands out."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """Return `text` so that it stands back."""
    return click.style(text, dim=True)


def one_line(text: str) -> str:
    """Return `text` on one line, without anything that a terminal would take for a command."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Return `text` with control and direction-changing characters replaced; newlines stay."""
    return "".join(_safe(char) for char in text)


_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _safe(char: str) -> str:
    if char in "\t\r":
        return " "
    if char in _DIRECTIONS or (char != "\n" and unicodedata.category(char) in ("Cc", "Cs")):
        return "\N{REPLACEMENT CHARACTER}"
    return char


def width_of(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def clip(text: str, width: int) -> str:
    """Return `text`, cut with an ellipsis if it takes more than `width` columns."""
    if width_of(text) <= width:
        return text
    kept = ""
    for char in text:
        if width_of(kept + char) > width - 1:
            break
        kept += char
    return f"{kept}…"


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    width: int | None = None,
    right: frozenset[str] = frozenset(),
) -> str:
    """Return an aligned table; columns that are empty throughout are left out.

    Args:
        headers: One per column.
        rows: Cells; `None` is empty.
        width: Columns there are; default: the terminal's. The widest columns are cut to fit.
        right: Headers of columns that are aligned to the right.
    """
    texts = [["" if cell is None else one_line(str(cell)) for cell in row] for row in rows]
    used = [i for i in range(len(headers)) if not texts or any(row[i] for row in texts)]
    names = [headers[i] for i in used]
    cells = [[row[i] for i in used] for row in texts]
    sizes = _sizes(names, cells, terminal_width() if width is None else width)
    lines = [heading(_line(names, sizes, names, right=right))]
    lines.extend(_line(row, sizes, names, right=right) for row in cells)
    return "\n".join(lines)


def _sizes(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    sizes = [
        max([width_of(name), *(width_of(row[i]) for row in rows)]) for i, name in enumerate(names)
    ]
    room = width - len(_GAP) * (len(sizes) - 1)
    while sum(sizes) > room and max(sizes) > _NARROWEST:
        widest = max(range(len(sizes)), key=lambda i: sizes[i])
        sizes[widest] -= 1
    return sizes


def _line(
    row: Sequence[str], sizes: Sequence[int], names: Sequence[str], *, right: frozenset[str]
) -> str:
    cells = []
    for text, size, name in zip(row, sizes, names, strict=True):
        shown = clip(text, size)
        padding = " " * (size - width_of(shown))
        cells.append(padding + shown if name in right else shown + padding)
    return _GAP.join(cells).rstrip()
