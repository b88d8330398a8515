"""`poise lint`: what is doubtful about the catalogs of a program, before a customer finds out."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from poise.cli.main import EXIT_CHECK_FAILED

if TYPE_CHECKING:
    from poise.app.lint_report import Line, Report
    from poise.cli.programs import DeclarationError
    from poise.sdk.hosting import HostedApplication

SEVERITIES = ("note", "warning", "error")
FORMATS = ("text", "json", "sarif")


@click.command()
@click.argument("program", metavar="FILE|MODULE")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the report is written.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report there instead of to stdout.",
)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="error",
    show_default=True,
    help="End with 1 from this severity on.",
)
@click.option(
    "--check", "only", multiple=True, metavar="NAME", help="Report this check alone; repeatable."
)
@click.option(
    "--ignore", "ignored", multiple=True, metavar="NAME", help="Leave this check out; repeatable."
)
def lint(
    program: str,
    *,
    form: str,
    output: Path | None,
    fail_on: str,
    only: tuple[str, ...],
    ignored: tuple[str, ...],
) -> None:
    """Say what is doubtful about a program's agents. Ends with 1 when that is grave enough.

    The program is run up to where it opens its first session, and its catalogs are compiled and
    indexed; no turn is run. The NAME of a check is what the report calls it, or what stands
    before the dot, for all of them.
    """
    from poise.app.lint_report import Report
    from poise.app.lint_report import lint as lint_agents
    from poise.cli.programs import DeclarationError, run_program
    from poise.cli.progress import TerminalProgress
    from poise.hooks.findings import Severity

    reports: list[Report] = []
    plugins: list[str] = []

    async def serve(application: HostedApplication) -> None:
        runtime = application.runtime
        agents = [agent.id for agent in application.agents]
        plugins.extend(plugin.name for plugin in runtime.plugins.ordered())
        reports.append(await lint_agents(runtime, agents, application.place_of))

    with _unlogged_findings():
        try:
            run_program(program, serve, TerminalProgress(), with_sessions=False)
        except DeclarationError as exc:
            reports.append(Report((), (_refused(program, exc),)))
    report = reports[0].narrowed(only, ignored)
    _warn_of_unknown((*only, *ignored), {*plugins, *(_checks_of(reports[0]))})
    _write(_printed(report, program, form), output)
    if report.reaches(Severity(fail_on)):
        sys.exit(EXIT_CHECK_FAILED)


@contextmanager
def _unlogged_findings() -> Iterator[None]:
    """Keep findings out of the log of the start, since the report has them all."""
    log = logging.getLogger("poise.app.runtime")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _refused(program: str, exc: DeclarationError) -> Line:
    """Return the finding about a program whose declarations can't be compiled."""
    from poise.app.lint_report import Line
    from poise.app.linting import CORE
    from poise.hooks.findings import Finding, Severity

    finding = Finding("catalog.invalid", program, str(exc.mistake), Severity.ERROR, exc.place)
    return Line("", program, exc.place, finding, CORE)


def _checks_of(report: Report) -> Iterator[str]:
    from poise.app.checks import CHECKS

    for check in (*CHECKS, *(line.finding.check for line in report.lines)):
        yield check
        yield check.partition(".")[0]


def _warn_of_unknown(names: Sequence[str], known: Collection[str]) -> None:
    from poise.cli.tables import write

    for name in dict.fromkeys(names):
        # What a plugin's check is called shows only where it has found something.
        if name not in known and name.partition(".")[0] not in known:
            write(f"poise: there is no check {name!r}, and no plugin of that name", err=True)


# -- printing --


def _printed(report: Report, program: str, form: str) -> str:
    if form == "json":
        return json.dumps(_json_of(report, program), ensure_ascii=False, indent=2)
    if form == "sarif":
        from poise.app.sarif import sarif_of

        return json.dumps(sarif_of(report), ensure_ascii=False, indent=2)
    return _text_of(report, program)


def _json_of(report: Report, program: str) -> dict[str, Any]:
    return {
        "program": program,
        "agents": list(report.agents),
        "findings": [
            {
                "agent": line.agent,
                "severity": line.finding.severity.value,
                "check": line.finding.check,
                "checker": line.checker,
                "subject": line.finding.subject,
                "name": line.name,
                "message": line.finding.message,
                "place": line.place or None,
            }
            for line in report.lines
        ],
        "counts": {severity.value: count for severity, count in report.counts.items()},
    }


def _text_of(report: Report, program: str) -> str:
    from poise.cli.tables import faint, heading, one_line

    printed: list[str] = []
    for agent in ("", *report.agents):
        lines = [line for line in report.lines if line.agent == agent]
        if lines:
            printed.append(heading(one_line(agent or program)))
        for line in lines:
            where = f"  {faint(one_line(line.place))}" if line.place else ""
            severity = line.finding.severity.value
            printed.append(f"  {severity}  {line.finding.check}  {one_line(line.name)}{where}")
            printed.append(f"    {one_line(line.finding.message)}")
    counted = [
        f"{count} {severity.value}{'' if count == 1 else 's'}"
        for severity, count in report.counts.items()
        if count
    ]
    agents = f"{len(report.agents)} agent{'' if len(report.agents) == 1 else 's'}"
    printed.append(f"{', '.join(counted) or 'nothing found'} in {agents}")
    return "\n".join(printed)


def _write(text: str, output: Path | None) -> None:
    from poise.cli.tables import write

    if output is None:
        write(text)
    else:
        output.write_text(f"{click.unstyle(text)}\n", encoding="utf-8")
