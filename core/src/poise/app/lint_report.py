"""What `poise lint` reports of an application: every finding with its agent, name and place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from poise.app.linting import Found
from poise.hooks.findings import Examination, Finding, Severity
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import AgentId, CannedResponseId, TermId, VariableId

if TYPE_CHECKING:
    from poise.app.runtime import Runtime

_NAMED = 60  # characters of a template that stand for a response


@attrs.frozen
class Line:
    """One finding as a report has it.

    Attributes:
        agent: The name of the agent; empty where it is about the program as a whole.
        name: What people call the subject.
        place: `file:line`, relative to the current folder where it lies there; empty if unknown.
        finding: What was found.
        checker: By whom.
    """

    agent: str
    name: str
    place: str
    finding: Finding
    checker: str


@attrs.frozen
class Report:
    """What was found in an application.

    Attributes:
        agents: The names of the agents that were looked at, in declared order.
        lines: By agent, then the gravest first, then by check, then in declared order.
    """

    agents: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def counts(self) -> Mapping[Severity, int]:
        """How many findings there are of each severity, the gravest first."""
        counted = Counter(line.finding.severity for line in self.lines)
        return {severity: counted[severity] for severity in reversed(Severity)}

    def reaches(self, severity: Severity) -> bool:
        """Say whether a finding matters at least that much."""
        return any(line.finding.severity.reaches(severity) for line in self.lines)

    def narrowed(self, only: Collection[str], ignored: Collection[str]) -> Report:
        """Return the report without the checks that are not asked for.

        Args:
            only: Names of checks, or of families (what stands before the dot); empty for all.
            ignored: Likewise, to be left out.
        """
        kept = (
            line
            for line in self.lines
            if (not only or _is_named(line.finding.check, only))
            and not _is_named(line.finding.check, ignored)
        )
        return attrs.evolve(self, lines=tuple(kept))


def _is_named(check: str, names: Collection[str]) -> bool:
    return check in names or check.partition(".")[0] in names


async def lint(
    runtime: Runtime, agents: Sequence[AgentId], place_of: Callable[[AgentId, str], str]
) -> Report:
    """Return all that core and plugins find doubtful; the agents' catalogs are published.

    Args:
        runtime: What would run the agents.
        agents: Whose catalogs, in declared order.
        place_of: Says where the author declared something; empty if that is not known.
    """
    names: list[str] = []
    lines: list[Line] = []
    for agent in agents:
        catalog = runtime.catalogs.current(agent)
        if catalog is None:
            continue  # nothing was published for it, so nobody can talk to it either
        names.append(catalog.agent.name)
        quick = runtime.checks.quick(catalog)
        examination = Examination(catalog, runtime.discoverer, runtime.models)
        thorough = await runtime.checks.thorough(examination)
        failures = (*quick.failures, *thorough.failures)
        found = (
            *quick.found,
            *thorough.found,
            *(failure.as_found(catalog) for failure in failures),
        )
        lines.extend(
            Line(
                catalog.agent.name,
                name_of(each.finding.subject, catalog),
                short_place(each.finding.place or place_of(agent, each.finding.subject)),
                each.finding,
                each.checker,
            )
            for each in sorted(found, key=_order(catalog))
        )
    return Report(tuple(names), tuple(lines))


def _order(catalog: CatalogSnapshot) -> Callable[[Found], tuple[object, ...]]:
    declared = (
        catalog.rules,
        catalog.journeys,
        catalog.tools,
        catalog.canned_responses,
        catalog.terms,
        catalog.variables,
    )
    every = (subject for things in declared for subject in things)
    ranks = {str(subject): rank for rank, subject in enumerate(every)}
    gravity = {severity: rank for rank, severity in enumerate(reversed(Severity))}

    def key(found: Found) -> tuple[object, ...]:
        each = found.finding
        rank = ranks.get(each.subject, len(ranks))
        return gravity[each.severity], each.check, rank, each.subject, each.message

    return key


def name_of(subject: str, catalog: CatalogSnapshot) -> str:
    """Return what people call the subject of a finding; the subject itself where unknown."""
    if subject == catalog.agent.id:
        return catalog.agent.name
    response = catalog.canned_responses.get(CannedResponseId(subject))
    if response is not None:
        words = " ".join(response.template.split())
        return words if len(words) <= _NAMED else f"{words[: _NAMED - 1]}…"
    other = catalog.terms.get(TermId(subject)) or catalog.variables.get(VariableId(subject))
    return other.name if other is not None else catalog.name_of(subject)


def short_place(place: str) -> str:
    """Return `file:line` with the file relative to the current folder, where it lies within."""
    file, colon, line = place.rpartition(":")
    path = Path(file)
    if colon and path.is_absolute() and path.is_relative_to(Path.cwd()):
        return f"{path.relative_to(Path.cwd()).as_posix()}:{line}"
    return place
