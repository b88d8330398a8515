"""Makes the checks of core and plugins on one catalog: the quick ones, and those that take long."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import attrs

from poise.app import checks
from poise.hooks.caller import Implementation
from poise.hooks.findings import Examination, Finding, Severity
from poise.values.agents import CompositionMode
from poise.values.catalog import CatalogSnapshot

CORE = "poise"
"""Who makes core's own checks."""


@attrs.frozen
class Found:
    """A finding, and who made the check: a plugin's name, or `CORE`."""

    finding: Finding
    checker: str


@attrs.frozen(eq=False)
class Failure:
    """A plugin's check that raised, or returned something else than findings."""

    checker: str
    hook: str
    error: Exception

    def as_found(self, catalog: CatalogSnapshot) -> Found:
        """Return the failure as a finding about the agent as a whole."""
        said = f"{type(self.error).__name__}: {self.error}"
        return Found(
            Finding(
                "lint.failed",
                catalog.agent.id,
                f"the plugin {self.checker!r} could not make its checks: {self.hook} raised {said}",
                Severity.ERROR,
            ),
            self.checker,
        )


@attrs.frozen
class Checked:
    """What came of a round of checks."""

    found: tuple[Found, ...]
    failures: tuple[Failure, ...]


class Checks:
    """The checks of one application.

    Args:
        implementations: Returns the ordered implementations of a hook.
        modes: In which some composer here words replies.
    """

    def __init__(
        self,
        implementations: Callable[[str], Sequence[Implementation]],
        modes: Collection[CompositionMode],
    ) -> None:
        self._implementations = implementations
        self._modes = frozenset(modes)

    def quick(self, catalog: CatalogSnapshot) -> Checked:
        """Make the checks that every start makes; nothing is raised."""
        found = [Found(each, CORE) for each in checks.findings_of(catalog, self._modes)]
        failures: list[Failure] = []
        for each in self._implementations("poise_lint"):
            try:
                given = each.function(**dict.fromkeys(each.arguments, catalog))
                found.extend(_checked(given, each.plugin))
            except Exception as exc:
                failures.append(Failure(each.plugin, "poise_lint", exc))
        return Checked(tuple(found), tuple(failures))

    async def thorough(self, examination: Examination) -> Checked:
        """Make the checks that take their time; nothing is raised."""
        found: list[Found] = []
        failures: list[Failure] = []
        for each in self._implementations("poise_examine"):
            try:
                given = await each.function(**dict.fromkeys(each.arguments, examination))
                found.extend(_checked(given, each.plugin))
            except Exception as exc:
                failures.append(Failure(each.plugin, "poise_examine", exc))
        return Checked(tuple(found), tuple(failures))


def _checked(given: Any, plugin: str) -> list[Found]:  # whatever the plugin returned
    findings = list(given)
    for each in findings:
        if not isinstance(each, Finding):
            raise TypeError(f"it returned {each!r}, which is no Finding")
    return [Found(each, plugin) for each in findings]
