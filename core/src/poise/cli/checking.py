"""Runs the conformance suites on one installed plugin, in a process of their own, and prints them.

Nothing here imports the test kit: it needs the extra `testing`, and pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from poise.cli.main import EXIT_ENVIRONMENT
from poise.cli.tables import faint, one_line, table, write
from poise.errors import ConfigError

if TYPE_CHECKING:
    from poise.app.plugins import PluginReport

_SUITES = "poise.testing.plugin_check"
_SELECTION = "poise.testing.plugin_selection"
_NEEDED = ("pytest", "hypothesis", "pytest_httpserver")
_FINISHED = (0, 1, 5)
"""Pytest's codes for: all passed, some failed, there was nothing to run."""

_ENDED_BY_CTRL_C = 2
_RIGHT = frozenset({"passed", "failed", "skipped", "s"})

Row = Mapping[str, Any]
"""A suite over one subject, as `poise.testing.plugin_check` reports it: JSON."""


class CheckError(click.ClickException):
    """The suites could not be run at all."""

    exit_code = EXIT_ENVIRONMENT

    def show(self, file: Any = None) -> None:  # where click writes to
        """Print what is missing, and the mend."""
        click.echo(f"poise: {self.message}", file=file, err=file is None)


def plugin_report(reports: Sequence[PluginReport], name: str) -> PluginReport:
    """Return the report of the plugin called `name`.

    Raises:
        ConfigError: There is none, or it is blocked.
    """
    found = next((each for each in reports if each.name == name), None)
    if found is None:
        names = [each.name for each in reports]
        near = get_close_matches(name, names, n=1)
        mend = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names) or 'none'}"
        raise ConfigError(f"no plugin {name!r} is installed; {mend}")
    if found.status == "blocked":
        raise ConfigError(f"plugin {name!r} is blocked {found.reason}, so it can't be checked")
    return found


def run_suites(
    plugin: str, file: Path | None, *, every_model: bool = False, verbose: bool = False
) -> Sequence[Row]:
    """Run every suite that fits the plugin, and return a row per suite and subject.

    Args:
        plugin: The plugin's name.
        file: The settings file.
        every_model: All models of its providers, rather than the preferred ones.
        verbose: Let pytest write to stderr what it does.

    Raises:
        CheckError: The test kit is not installed, or pytest did not get as far as a report.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise CheckError(
            f"checking needs {', '.join(missing)}, which is not here; pip install 'poise[testing]'"
        )
    with TemporaryDirectory(prefix="poise-check-") as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(  # noqa: S603 - this Python, with arguments of our own
            _command(plugin, file, Path(folder), report, every_model=every_model),
            env=_environment(folder),
            stdout=sys.stderr if verbose else subprocess.PIPE,
            stderr=None if verbose else subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == _ENDED_BY_CTRL_C and not report.exists():
            raise click.Abort
        if done.returncode not in _FINISHED or not report.exists():
            said = f":\n{done.stdout.strip()}" if done.stdout else "; see what it wrote above"
            raise CheckError(f"pytest ended with {done.returncode}{said}")
        rows: list[Row] = json.loads(report.read_text(encoding="utf-8"))
    return rows


def _command(
    plugin: str, file: Path | None, folder: Path, report: Path, *, every_model: bool
) -> list[str]:
    spec = find_spec(_SUITES)
    assert spec is not None  # noqa: S101 - it is a module of this very distribution
    assert spec.origin is not None  # noqa: S101
    own = folder / "pytest.ini"  # so that no configuration of the folder we are in is read
    own.write_text("[pytest]\n", encoding="utf-8")
    return [
        *(sys.executable, "-m", "pytest", spec.origin),
        *("-c", str(own), "--rootdir", str(folder), "--import-mode=importlib", "--noconftest"),
        *("-p", "anyio.pytest_plugin", "-p", "poise.testing.pytest_plugin", "-p", _SELECTION),
        *("-p", "no:cacheprovider", "--basetemp", str(folder / "tmp"), "-q", "--color=no"),
        *("--poise-plugin", plugin, "--poise-report", str(report)),
        *(("--poise-settings", str(file)) if file else ()),
        *(("--poise-every-model",) if every_model else ()),
    ]


def _environment(folder: str) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return {
        **kept,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # what else is installed has no say here
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder) / "hypothesis"),
    }


def print_rows(rows: Sequence[Row]) -> None:
    """Print a table of the suites, then each broken promise, then why anything was left out."""
    if not rows:
        write("the plugin offers nothing: there is no suite to run")
        return
    write(
        table(
            ("suite", "on", "result", "passed", "failed", "skipped", "s"),
            [
                (
                    row["suite"],
                    row["subject"],
                    result_of(row),
                    *(row[each] or None for each in ("passed", "failed", "skipped")),
                    f"{row['seconds']:.1f}" if row["seconds"] else None,
                )
                for row in rows
            ],
            right=_RIGHT,
        )
    )
    for row in rows:
        for reason, tests in _broken(row).items():
            more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
            write(f"\n{row['suite']} on {row['subject']}: {tests[0]}{more}")
            write(f"  {one_line(reason)}")
    left_out = [line for row in rows for line in _left_out(row)]
    if left_out:
        write("\n" + "\n".join(left_out))
    if any(row["failed"] for row in rows):
        write(faint("\n--verbose shows each failure with its place."), err=True)


def result_of(row: Row) -> str:
    """Return how a suite ended, in a word or two."""
    if row["failed"]:
        return "failed"
    if row["keyless"]:
        return "no key"
    if row["passed"]:
        return "passed"
    return "skipped" if row["skipped"] else "no suite"


def _broken(row: Row) -> Mapping[str, Sequence[str]]:
    """Return the tests that failed, by the reason that they give."""
    found: dict[str, list[str]] = {}
    for failure in row["failures"]:
        found.setdefault(failure["reason"], []).append(failure["test"])
    return found


def _left_out(row: Row) -> Iterator[str]:
    where = f"{row['suite']} on {row['subject']}"
    if row["note"]:
        yield f"{where}: {row['note']}"
    for reason, count in row["skips"].items():
        yield one_line(f"{where}: {count} skipped: {reason}")
