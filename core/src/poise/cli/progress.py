"""Shows on stderr how far a long preparation has come, so that no wait is silent."""

from __future__ import annotations

import sys

import click


class TerminalProgress:
    """One line per phase: rewritten in place on a terminal, at begin and end elsewhere."""

    def __init__(self) -> None:
        self._begun: str | None = None

    def report(self, phase: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `phase` are finished."""
        begins = phase != self._begun
        ends = done >= total
        self._begun = None if ends else phase
        if sys.stderr.isatty():
            click.echo(f"\r{phase} {done}/{total}\x1b[K", err=True, nl=ends)
        elif begins or ends:
            click.echo(f"{phase} {done}/{total}", err=True)
