"""Record and replay: a provider that wraps another and keeps its answers in files."""

from __future__ import annotations

__all__ = ["CassetteDriftError", "UnreadableCassetteError", "UnrecordedModelError", "plugin"]

from poise_cassettes.errors import (
    CassetteDriftError,
    UnreadableCassetteError,
    UnrecordedModelError,
)
