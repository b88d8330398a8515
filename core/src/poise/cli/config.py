"""`poise config`: the settings as they stand, and where each one comes from."""

from __future__ import annotations

from pathlib import Path

import click

from poise.cli.output import json_option, write_json
from poise.cli.tables import table, write

_file_option = click.option(
    "--file", type=click.Path(path_type=Path), help="The settings file to read."
)


@click.group()
def config() -> None:
    """Show the settings and where they come from."""


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@_file_option
@json_option
def show(origin: bool, file: Path | None, as_json: bool) -> None:
    """Print every setting; secrets are masked."""
    from poise.app.startup import start

    settings, manager = start(file=file, strict=False)
    rows = settings.describe()
    if as_json:
        write_json(
            [
                {
                    "key": row.key,
                    "value": row.value,
                    "origin": {"kind": row.origin.kind, "where": row.origin.where},
                    "description": row.description,
                }
                for row in rows
            ]
        )
    else:
        cells = [(row.key, _text(row.value), str(row.origin), row.description) for row in rows]
        chosen = (0, 1, 2) if origin else (0, 1, 3)
        headers = ("setting", "value", "from", "meaning")
        write(table([headers[i] for i in chosen], [[cell[i] for i in chosen] for cell in cells]))
    for report in manager.describe():
        if report.status == "failed":
            write(
                f"poise: the settings of plugin {report.name!r} are not shown: {report.reason}",
                err=True,
            )


@config.command()
@_file_option
@json_option
def path(file: Path | None, as_json: bool) -> None:
    """Print the path of the settings file that is read, if there is one."""
    import os

    from poise.app.layers import settings_file

    found = settings_file(file, os.environ)
    shown = str(found.resolve()) if found else None
    if as_json:
        write_json({"path": shown})
    elif shown:
        write(shown)
    else:
        write("poise: no settings file; one named poise.toml in this folder is read", err=True)


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if value != {} else "-"
