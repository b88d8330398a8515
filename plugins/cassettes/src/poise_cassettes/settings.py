"""The section `cassettes` of the settings."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


class Mode(Enum):
    """What becomes of a request to a wrapped model."""

    REPLAY = "replay"
    RECORD = "record"
    AUTO = "auto"


class CassetteSettings(BaseModel):
    """Where cassettes are, and whether they are played or made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path = Field(
        default=Path("cassettes"),
        description="Where cassettes are kept; put it under version control.",
    )
    mode: Mode = Field(
        default=Mode.REPLAY,
        description="`replay`: from the folder alone; `record`: ask, and replace what is there; "
        "`auto`: replay what is there, ask for and keep what is not.",
    )
    concurrency: PositiveInt = Field(
        default=4,
        description="Requests under way at once while models are asked; replay knows no limit.",
    )
