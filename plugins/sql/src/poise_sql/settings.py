"""The `sql` section of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class SqlSettings(BaseModel):
    """Where everything is kept, and how hard the disk is asked to hold on to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(
        default=Path(".poise/poise.db"),
        description="The database file; it and its folder are made when they are missing.",
    )
    synchronous: Literal["NORMAL", "FULL"] = Field(
        default="NORMAL",
        description="NORMAL loses nothing when the process dies; FULL neither when power fails.",
    )
    busy_timeout: float = Field(
        default=5.0,
        gt=0.0,
        le=600.0,
        allow_inf_nan=False,
        description="Seconds that a write waits for another process that is writing.",
    )

    @field_validator("path")
    @classmethod
    def _is_a_file(cls, path: Path) -> Path:
        if str(path) in (":memory:", "."):
            raise ValueError("names no file; for stores that forget set stores = 'memory'")
        return path
