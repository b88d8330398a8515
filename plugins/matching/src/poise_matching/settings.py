"""The section `matching` of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class MatchingSettings(BaseModel):
    """How rules are judged, and how many may join on a turn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    admit_limit: int = Field(
        default=10, ge=1, description="How many newly sighted rules may join on a turn."
    )
    code_timeout: float = Field(
        default=5.0, gt=0, description="Seconds that one code matcher may take."
    )
    code_threads: int = Field(
        default=8, ge=1, description="How many plain (not async) code matchers run at a time."
    )
    examples: int = Field(
        default=12, ge=0, description="How many signals a question carries as examples."
    )
    counterexamples: int = Field(
        default=8, ge=0, description="How many anti-signals a question carries."
    )
