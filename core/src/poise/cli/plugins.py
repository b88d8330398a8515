"""`poise plugins`: which plugins there are, what they bring, and the kit of those who write one."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from poise.cli.main import EXIT_CHECK_FAILED
from poise.cli.output import json_option, write_json
from poise.cli.tables import faint, table, write

if TYPE_CHECKING:
    from poise.app.plugins import PluginReport


_START_UP = ("poise_config", "poise_provide", "poise_models")
"""Hooks that say nothing by themselves: what they bring is listed."""

_file_option = click.option(
    "--file", type=click.Path(path_type=Path), help="The settings file to read."
)


@click.group(invoke_without_command=True)
@_file_option
@json_option
@click.pass_context
def plugins(context: click.Context, file: Path | None, as_json: bool) -> None:
    """List the plugins and what they bring. Ends with 1 when one of them fails."""
    if context.invoked_subcommand is not None:
        return
    reports = _reports(file)
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


@plugins.command()
@click.argument("name")
@click.option("--all", "every_model", is_flag=True, help="Check all models of a provider.")
@click.option("--verbose", is_flag=True, help="Show what pytest writes.")
@_file_option
@json_option
def check(name: str, every_model: bool, verbose: bool, file: Path | None, as_json: bool) -> None:
    """Run the conformance suites on an installed plugin. Ends with 1 when a promise is broken.

    Providers and models are made from your settings and are asked for real: the suites send small
    requests, which may cost something. Of each capability the preferred model is taken. Stores are
    made from default settings in an empty folder, since their suites write.
    """
    from poise.cli.checking import plugin_report, print_rows, run_suites

    report = plugin_report(_reports(file), name)
    if report.status == "failed":
        write(f"poise: plugin {name!r} can't be loaded: {report.reason}", err=True)
        sys.exit(EXIT_CHECK_FAILED)
    write(faint(f"running the suites for what {name} offers …"), err=True)
    rows = run_suites(name, file, every_model=every_model, verbose=verbose)
    if as_json:
        write_json(rows)
    else:
        print_rows(rows)
    if any(row["failed"] for row in rows):
        sys.exit(EXIT_CHECK_FAILED)


@plugins.group()
def new() -> None:
    """Write a new plugin that works, to go on from."""


@new.command()
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where to write it; default: poise-NAME in this folder.",
)
def provider(name: str, folder: Path | None) -> None:
    """Write a distribution poise-NAME: a provider of models, with settings and passing tests."""
    from poise.cli.distributions import Naming, write_distribution

    naming = Naming.of(name)
    place = folder or Path(naming.distribution)
    for path in write_distribution("provider", naming, place):
        write(f"wrote {path}")
    source = place / "src" / naming.package / "provider.py"
    write(
        "\n".join(
            (
                "\nNext:",
                f"  pip install -e {shlex.quote(f'{_as_path(place)}[testing]')}",
                f"  pytest {shlex.quote(str(place))}",
                f"  poise plugins check {naming.name}",
                "",
                f"Then put the vendor's calls where {source} says so,",
                f'and choose its models in poise.toml, e.g. embed = "{naming.name}:words".',
            )
        )
    )


def _as_path(place: Path) -> str:
    # Without a slash pip would take it for the name of a distribution.
    return str(place) if place.is_absolute() else f"./{place}"


def _reports(file: Path | None) -> tuple[PluginReport, ...]:
    from poise.app.config import load_plugin_settings
    from poise.app.plugins import PluginManager

    chosen = load_plugin_settings(file=file)
    manager = PluginManager(blocked=chosen.blocked, order=chosen.order, strict=False)
    return manager.describe()


def _brings(report: PluginReport) -> str:
    hooks = [hook for hook in report.hooks if hook not in _START_UP]
    return "; ".join((*report.offers, *(f"[{name}]" for name in report.sections), *hooks))
