"""`poise plugins`: which plugins there are, what they bring, and what keeps one out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from poise.cli.main import EXIT_CHECK_FAILED
from poise.cli.output import json_option, write_json
from poise.cli.tables import table, write

if TYPE_CHECKING:
    from poise.app.plugins import PluginReport


_START_UP = ("poise_config", "poise_provide", "poise_models")
"""Hooks that say nothing by themselves: what they bring is listed."""


@click.command()
@click.option("--file", type=click.Path(path_type=Path), help="The settings file to read.")
@json_option
def plugins(file: Path | None, as_json: bool) -> None:
    """List the plugins and what they bring. Ends with 1 when one of them fails."""
    from poise.app.config import load_plugin_settings
    from poise.app.plugins import PluginManager

    chosen = load_plugin_settings(file=file)
    manager = PluginManager(blocked=chosen.blocked, order=chosen.order, strict=False)
    reports = manager.describe()
    if as_json:
        write_json([attrs.asdict(report) for report in reports])
    elif not reports:
        write("no plugin is installed; pip install 'poise[standard]'")
    else:
        rows = [
            (
                report.name,
                f"{report.distribution} {report.version}" if report.distribution else "inline",
                report.status,
                report.reason or _brings(report),
            )
            for report in reports
        ]
        write(table(("plugin", "from", "status", "brings"), rows))
    failed = [report for report in reports if report.status == "failed"]
    for report in failed:
        write(f"poise: plugin {report.name!r} can't be loaded: {report.reason}", err=True)
    if failed:
        sys.exit(EXIT_CHECK_FAILED)


def _brings(report: PluginReport) -> str:
    hooks = [hook for hook in report.hooks if hook not in _START_UP]
    return "; ".join((*report.offers, *(f"[{name}]" for name in report.sections), *hooks))
