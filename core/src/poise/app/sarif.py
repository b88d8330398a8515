"""A lint report as SARIF 2.1.0, the form that code hosts and editors read findings in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from poise.app.checks import CHECKS
from poise.app.lint_report import Line, Report
from poise.app.linting import CORE
from poise.values.ids import digest

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
"""What the log says of its own form; nobody fetches it here."""

Json = Mapping[str, Any]


def sarif_of(report: Report) -> Json:
    """Return the report as a SARIF log with one run; severities are SARIF's levels by name."""
    checkers = {line.finding.check: line.checker for line in reversed(report.lines)}
    checks = sorted(checkers)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "poise",
                        "version": version("poise"),
                        "rules": [_rule(check, checkers[check]) for check in checks],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": True}],
                "results": [_result(line, checks) for line in report.lines],
            }
        ],
    }


def _rule(check: str, checker: str) -> Json:
    return {
        "id": check,
        "shortDescription": {"text": described(check)},
        "properties": {"checker": checker},
    }


def described(check: str) -> str:
    """Return what a check is about, in a few words; a plugin's by its name."""
    if check in CHECKS:
        return CHECKS[check]
    family, _, rest = check.rpartition(".")
    words = " ".join(rest.replace("_", " ").replace("-", " ").split())
    return f"{family or CORE}: {words}"


def _result(line: Line, checks: Sequence[str]) -> Json:
    finding = line.finding
    return {
        "ruleId": finding.check,
        "ruleIndex": checks.index(finding.check),
        "level": finding.severity.value,
        "message": {"text": finding.message},
        "locations": [_location(line)],
        "partialFingerprints": {
            "finding/v1": digest(finding.check, line.agent, finding.subject, finding.message)
        },
    }


def _location(line: Line) -> Json:
    parts = dict.fromkeys(part for part in (line.agent, line.name) if part)
    location: dict[str, Any] = {
        "logicalLocations": [{"name": line.name, "fullyQualifiedName": "/".join(parts)}]
    }
    file, _, number = line.place.rpartition(":")
    if file and number.isdigit():
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(file)},
            "region": {"startLine": int(number)},
        }
    return location


def _uri(file: str) -> str:
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
