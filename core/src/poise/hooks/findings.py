"""What a check finds doubtful about a catalog."""

from __future__ import annotations

from enum import Enum

import attrs


class Severity(Enum):
    """How much a finding matters."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@attrs.frozen
class Finding:
    """One doubtful thing: which check, about what, and what to do."""

    check: str
    subject: str
    message: str
    severity: Severity = Severity.WARNING
