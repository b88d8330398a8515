"""What a bench prints: tables for people and, with `--json FILE`, the figures by name."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

Value = float | int | str | None


class Report:
    """Collects the rows of a bench and prints each table once it is complete.

    Args:
        name: The bench's name; prefixes the figures.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tables: dict[str, list[Mapping[str, Value]]] = {}
        self._figures: dict[str, Value] = {}

    def row(self, table: str, values: Mapping[str, Value], *, name: str = "") -> None:
        """Add a row to `table`.

        Args:
            table: Its title.
            values: By column; `None` prints as nothing.
            name: Figures are kept as `bench.name.column`; without a name they are only printed.
        """
        if table not in self._tables and self._tables:
            self._print(next(reversed(self._tables)))
        self._tables.setdefault(table, []).append(values)
        if name:
            self._figures.update(
                {f"{self._name}.{name}.{column}": value for column, value in values.items()}
            )

    def finish(self, file: Path | None) -> None:
        """Print the last table and write the figures to `file`, if there is one."""
        if self._tables:
            self._print(next(reversed(self._tables)))
        if file is not None:
            file.write_text(json.dumps(self._figures, indent=1) + "\n")

    def _print(self, title: str) -> None:
        rows = self._tables[title]
        columns = list(dict.fromkeys(column for row in rows for column in row))
        cells = [[_shown(row.get(column)) for column in columns] for row in rows]
        widths = [
            max(len(column), *(len(row[place]) for row in cells))
            for place, column in enumerate(columns)
        ]
        lines = [
            "",
            title,
            "  ".join(column.rjust(width) for column, width in zip(columns, widths, strict=True)),
            *(
                "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
                for row in cells
            ),
        ]
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()


def _shown(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
