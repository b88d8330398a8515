"""A pytest plugin: runs the suites of `plugin_check` over one plugin, and reports as JSON.

`pytest -p poise.testing.plugin_selection --poise-plugin NAME …/poise/testing/plugin_check.py`
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from poise.errors import AuthenticationError
from poise.testing.plugin_subjects import PluginSubjects, Subject

SUBJECTS = pytest.StashKey[PluginSubjects]()
"""Where pytest's configuration keeps what the plugin offers."""

_ROWS = pytest.StashKey[dict[tuple[str, str], dict[str, Any]]]()
_OF = "poise"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what `poise plugins check` wants to know."""
    group = parser.getgroup("poise")
    group.addoption("--poise-plugin", help="The plugin to check.")
    group.addoption("--poise-settings", type=Path, help="The settings file to read.")
    group.addoption("--poise-every-model", action="store_true", help="Check all models.")
    group.addoption("--poise-report", type=Path, help="Where to write what came of it, as JSON.")


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugin: what it offers decides which tests there are."""
    config.stash[_ROWS] = {}
    config.stash[SUBJECTS] = PluginSubjects(
        config.getoption("--poise-plugin"),
        config.getoption("--poise-settings"),
        every_model=config.getoption("--poise-every-model"),
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a suite once per subject of its port."""
    port = getattr(metafunc.cls, "port", None)
    if port is not None and "chosen" in metafunc.fixturenames:
        subjects = metafunc.config.stash[SUBJECTS].of(port)
        metafunc.parametrize(
            "chosen", subjects, indirect=True, ids=[subject.name for subject in subjects]
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the suites that the plugin has nothing for, and say whose every test is."""
    kept = []
    for item in items:
        callspec = getattr(item, "callspec", None)
        chosen = callspec.params.get("chosen") if callspec else None
        owner = getattr(item, "cls", None)
        if isinstance(chosen, Subject) and owner is not None:
            suite = owner.__name__.removeprefix("Test")
            item.user_properties.append((_OF, (suite, chosen.name)))
            config.stash[_ROWS].setdefault((suite, chosen.name), _row(suite, chosen.name))
            kept.append(item)
    items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a test as skipped that wants a key, and put its result into its suite's row."""
    report = yield
    refused = next(_keyless(call.excinfo.value), None) if call.excinfo else None
    if refused is not None:
        report.outcome = "skipped"
        report.longrepr = ("", 0, f"Skipped: {refused}")
    owner: Any = dict(item.user_properties).get(_OF)  # the key of a row
    row = item.config.stash[_ROWS].get(owner)
    if row is not None:
        _count(row, report)
        row["keyless"] += refused is not None
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down what came of it."""
    path: Path | None = session.config.getoption("--poise-report")
    if path is not None:
        rows = list(session.config.stash[_ROWS].values())
        path.write_text(json.dumps([*rows, *_unchecked(session.config)]), encoding="utf-8")


def _row(suite: str, subject: str, note: str = "") -> dict[str, Any]:  # JSON
    return {
        "suite": suite,
        "subject": subject,
        "passed": 0,
        "failed": 0,
        "skipped": 0,
        "keyless": 0,
        "seconds": 0.0,
        "failures": [],
        "skips": {},
        "note": note,
    }


def _count(row: dict[str, Any], report: pytest.TestReport) -> None:
    row["seconds"] += report.duration
    name = report.nodeid.rpartition("::")[2]
    if report.failed:
        row["failed"] += 1
        row["failures"].append(
            {"test": name, "reason": _reason(report), "report": report.longreprtext}
        )
    elif report.skipped:
        row["skipped"] += 1
        reason = _reason(report)
        row["skips"][reason] = row["skips"].get(reason, 0) + 1
    elif report.when == "call":
        row["passed"] += 1


def _reason(report: pytest.TestReport) -> str:
    found: Any = report.longrepr  # pytest has several kinds of them
    if isinstance(found, tuple):
        return str(found[2]).removeprefix("Skipped: ")
    crash = getattr(found, "reprcrash", None)
    lines = str(crash.message if crash else found).strip().splitlines()
    return lines[0].removeprefix("AssertionError: ") if lines else "no reason given"


def _keyless(exc: BaseException) -> Iterator[AuthenticationError]:
    if isinstance(exc, AuthenticationError):
        yield exc
    elif isinstance(exc, BaseExceptionGroup):
        for each in exc.exceptions:
            yield from _keyless(each)


def _unchecked(config: pytest.Config) -> Iterator[dict[str, Any]]:  # JSON
    checked = {suite for suite, _ in config.stash[_ROWS]}
    for offer in config.stash[SUBJECTS].offers:
        if offer.port.__name__ not in checked:
            note = "has no suite that runs without a sample of its own"
            yield _row(offer.port.__name__, offer.name, note)
