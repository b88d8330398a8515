"""What a check finds doubtful about a catalog, and what it may look at to find it."""

from __future__ import annotations

from enum import Enum

import attrs

from poise.ports.discovery import Discoverer
from poise.turn.models import TurnModels
from poise.values.catalog import CatalogSnapshot


class Severity(Enum):
    """How much a finding matters: a NOTE is worth knowing, an ERROR can't be meant."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    def reaches(self, other: Severity) -> bool:
        """Say whether this matters at least as much as `other`."""
        ranked = list(Severity)
        return ranked.index(self) >= ranked.index(other)


@attrs.frozen
class Finding:
    """One doubtful thing: which check, about what, and what to do.

    Attributes:
        check: The check's name: the plugin's, a dot, and what is doubtful.
        subject: The id of the rule, tool, response, ... or of the agent itself.
        message: What is doubtful about it, and the mend.
        severity: How much it matters.
        place: `file:line`, where the check knows better than that the subject was declared there.
    """

    check: str
    subject: str
    message: str
    severity: Severity = Severity.WARNING
    place: str = ""


@attrs.frozen(eq=False)
class Examination:
    """What a check that takes its time may use.

    Attributes:
        catalog: One agent's, annotated, as it would serve.
        discoverer: What would find its rules; the catalog is indexed.
        models: All models, bound to no turn.
    """

    catalog: CatalogSnapshot
    discoverer: Discoverer
    models: TurnModels
