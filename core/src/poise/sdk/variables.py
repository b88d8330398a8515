"""A variable as its author holds it: values are set and read per customer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poise.errors import InvalidValueError, NotFoundError
from poise.values import variables
from poise.values.customers import Customer
from poise.values.ids import CustomerId, VariableId
from poise.values.variables import VariableValue

if TYPE_CHECKING:
    from poise.ports.stores import Repository
    from poise.values.clock import Clock


class Variable:
    """A fact about a customer. Made by `Agent.create_variable`."""

    def __init__(
        self, variable: variables.Variable, values: Repository[VariableValue], clock: Clock
    ) -> None:
        self._variable = variable
        self._values = values
        self._clock = clock

    @property
    def id(self) -> VariableId:
        """The variable's stable id."""
        return self._variable.id

    @property
    def name(self) -> str:
        """As templates name it."""
        return self._variable.name

    def __repr__(self) -> str:
        return f"<Variable {self.name!r}>"

    async def set_value(self, customer: Customer | str, data: Any) -> None:  # any JSON
        """Set the value for a customer; counts as fetched now. `None` is a value.

        Raises:
            InvalidValueError: The data is no JSON.
        """
        try:
            json.dumps(data, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as exc:
            raise InvalidValueError(
                f"variable {self.name!r}", "data", f"is no JSON value ({exc})"
            ) from exc
        await self._values.put(self._value(customer, data))

    async def get_value(self, customer: Customer | str, default: Any = None) -> Any:  # any JSON
        """Return the value that is stored for a customer, or `default` where none is."""
        try:
            return (await self._values.get(self._value(customer, None).key)).value.data
        except NotFoundError:
            return default

    def _value(self, customer: Customer | str, data: Any) -> VariableValue:  # any JSON
        key = customer.id if isinstance(customer, Customer) else CustomerId(customer)
        return VariableValue(self.id, key, data, self._clock.now())
