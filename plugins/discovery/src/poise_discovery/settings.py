"""The `discovery` section of the settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class DiscoverySettings(BaseModel):
    """How much discovery lets through, how long a rule stays, and what is made of rules before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    recall: float = Field(
        default=0.97,
        ge=0.5,
        le=0.995,
        description=(
            "Share of messages that must bring their rule up; thresholds are fitted to it. "
            "A higher one admits more rules per message."
        ),
    )
    stale_after: int = Field(
        default=5,
        ge=1,
        le=100,
        description=(
            "Customer messages after which a rule that none of them brought up, and that was not "
            "matched meanwhile, leaves the working set when it is pruned. HIGH weight stays."
        ),
    )
    passing: float = Field(
        default=0.25,
        ge=0.0,
        le=1.0,
        description=(
            "A rule that one message brought up with a probability below this, and that was not "
            "matched, is considered on that turn and does not stay in the working set."
        ),
    )
    annotations: str | None = Field(
        default="poise.annotations.json",
        min_length=1,
        description=(
            "File of what models said about rules, for you to review and to keep with your code; "
            "a relative path starts at the working directory. `null` keeps none."
        ),
    )
    propose_signals: bool = Field(
        default=True,
        description=(
            "Whether a model, where one serves the route `index.signals`, proposes signals and "
            "anti-signals for rules that have few."
        ),
    )
    propose_below: int = Field(
        default=5,
        ge=1,
        le=100,
        description="Rules with fewer signals of their own than this get proposals.",
    )
