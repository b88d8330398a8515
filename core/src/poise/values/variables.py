"""Facts about a customer: what they are called, where they come from, how long they stay fresh."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs
from cronsim import CronSim, CronSimError

from poise.errors import InvalidValueError
from poise.values.ids import AgentId, CustomerId, ToolId, VariableId


@attrs.frozen
class Variable:
    """A fact that every turn loads for its customer.

    Attributes:
        id: Stable id.
        agent: The agent that reads it.
        name: As templates name it.
        description: What it means, for the model.
        tool: The tool that fetches it for the current customer; `None` when values are only set.
        freshness: A cron expression (UTC): a stored value is stale once a tick lies between its
            writing and now. `None` keeps a value for good.
    """

    id: VariableId
    agent: AgentId
    name: str
    description: str = ""
    tool: ToolId | None = None
    freshness: str | None = None

    def __attrs_post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidValueError("variable", "name", "is empty")
        if self.freshness is not None:
            try:
                CronSim(self.freshness, datetime(2000, 1, 1))  # noqa: DTZ001 - only parsed
            except CronSimError as exc:
                raise InvalidValueError(
                    f"variable {self.name!r}",
                    "freshness",
                    f"is not a cron expression ({exc}); write e.g. '*/15 * * * *'",
                ) from exc

    def is_stale(self, written: datetime, now: datetime) -> bool:
        """Say whether a value written then must be fetched again now."""
        if self.freshness is None:
            return False
        return bool(next(CronSim(self.freshness, written)) <= now)


@attrs.frozen
class VariableValue:
    """The value of one variable for one customer, with the moment it was written."""

    variable: VariableId
    customer: CustomerId
    data: Any  # whatever JSON the tool returned or the program set
    at: datetime

    @property
    def key(self) -> str:
        """The key under which a repository keeps it."""
        return f"{self.variable}/{self.customer}"
