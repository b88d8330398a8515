"""The core's own settings: which offer fills each port, which model serves each route, limits.

Every field says what it means; `poise config show` and the reference page read it from here.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from poise.engine.settings import EngineLimits

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]


def _names(value: object) -> object:
    """Accept `a, b` for a list of names, as environment variables write it."""
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class PluginSettings(BaseModel):
    """The section `[plugins]`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    order: Names = ()
    """Plugins whose turn hooks run first, in this order; the others follow by name."""

    blocked: Names = ()
    """Plugins that are not even imported."""


class EngineSettings(BaseModel):
    """The section `[engine]`: the limits of a turn. Times are in seconds."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, protected_namespaces=()
    )

    turn_deadline: Seconds = 60.0
    """After it the customer gets the configured apology."""

    tool_timeout: Seconds = 30.0
    """For a tool that names none of its own; after it the call's outcome is unknown."""

    model_timeout: Seconds = 30.0
    """For one request to a model."""

    index_timeout: Seconds = 600.0
    """For one request to a model while a catalog is indexed."""

    settle_wait: Seconds = 2.0
    """How long the next turn waits for what follows the reply of the last one."""

    lease: Seconds = 20.0
    """How long a session stays claimed by a turn that shows no sign of life."""

    lease_renewal: Seconds = 7.0
    """How often a running turn renews its claim; shorter than `lease`."""

    history: Count = 40
    """How many messages and tool results a turn reads, the newest."""

    tool_result_limit: Count = 16_000
    """Characters of one tool result that a prompt may hold."""

    working_set: Count = 30
    """Above this many rules the working set is pruned."""

    working_set_after: Count = 20
    """How many rules are left after pruning; at most `working_set`."""

    @model_validator(mode="after")
    def _consistent(self) -> EngineSettings:
        if self.lease_renewal >= self.lease:
            raise ValueError(
                f"lease_renewal ({self.lease_renewal:g}) must be shorter than "
                f"lease ({self.lease:g})"
            )
        if self.working_set_after > self.working_set:
            raise ValueError(
                f"working_set_after ({self.working_set_after}) must be at most "
                f"working_set ({self.working_set})"
            )
        return self

    def limits(self) -> EngineLimits:
        """Return the limits as the engine takes them."""
        return EngineLimits(
            turn_deadline=self.turn_deadline,
            tool_timeout=self.tool_timeout,
            model_timeout=self.model_timeout,
            settle_wait=self.settle_wait,
            lease=self.lease,
            lease_renewal=self.lease_renewal,
            history=self.history,
            tool_result_limit=self.tool_result_limit,
            working_set=self.working_set,
            working_set_after=self.working_set_after,
        )
