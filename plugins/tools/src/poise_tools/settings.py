"""The settings section `tools`."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator


class ToolSettings(BaseModel):
    """How arguments are read, results reused, and functions run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    freshness: float = Field(
        default=300.0,
        ge=0,
        description="Seconds for which a look-up of an earlier turn is as good as a new one",
    )
    timezone: str = Field(
        default="UTC", description="Where `today` and `at 3pm` are meant, as an IANA name"
    )
    threads: int = Field(
        default=32, ge=1, description="How many sync functions may run at the same time"
    )

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name != "UTC":  # which needs no time zone data on the machine
            try:
                ZoneInfo(name)
            except (ValueError, OSError, LookupError) as exc:
                raise ValueError(
                    f"{name!r} is no time zone known here; write e.g. Europe/Vienna, and install "
                    f"tzdata where the system has none"
                ) from exc
        return name
