"""Prints what a bench measured as tables, and writes the same figures by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class Report:
    """The tables of one bench, and its figures by name.

    Args:
        bench: The bench's name: the first part of every figure's.
    """

    def __init__(self, bench: str) -> None:
        self._bench = bench
        self._tables: dict[str, list[Mapping[str, Any]]] = {}
        self._figures: dict[str, Any] = {}

    def row(self, table: str, values: Mapping[str, Any], *, name: str = "") -> None:
        """Add a row to a table.

        Args:
            table: The table's title; its first row opens it.
            values: By column; texts name the row, numbers are figures; `None` is left blank.
            name: Unique within the bench: figures are called `name.column`.
        """
        self._tables.setdefault(table, []).append(values)
        if name:
            for column, value in values.items():
                if isinstance(value, bool | int | float):
                    self._figures[f"{name}.{column}"] = value

    def show(self) -> None:
        """Print the tables so far, and begin new ones."""
        for title, rows in self._tables.items():
            print(f"\n{title}")
            for line in _laid_out(rows):
                print(f"  {line}")
        self._tables.clear()

    def finish(self, json_file: Path | None = None) -> None:
        """Print what is left, and write the figures where `json_file` says."""
        self.show()
        if json_file is not None:
            figures = {"bench": self._bench, "figures": self._figures}
            json_file.write_text(json.dumps(figures, indent=2, sort_keys=True), encoding="utf-8")


def _laid_out(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_told(row.get(column)) for column in columns] for row in rows]
    widths = [
        max(len(column), *(len(line[at]) for line in cells)) for at, column in enumerate(columns)
    ]
    numeric = [
        all(isinstance(row.get(column), int | float | None) for row in rows) for column in columns
    ]
    return [
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in [columns, ["-" * width for width in widths], *cells]
    ]


def _told(value: Any) -> str:  # a cell
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value == 0.0 or abs(value) >= 100:
            return f"{value:,.0f}"
        return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
