"""The JSON forms of stored entities, one codec per repository."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from poise.ports.stores import Codec
from poise.values.customers import Customer, Tag
from poise.values.ids import CustomerId, GroupId, TagId, VariableId
from poise.values.spending import DaySpent
from poise.values.variables import VariableValue


def _customer_out(customer: Customer) -> Mapping[str, Any]:
    return {
        "id": customer.id,
        "name": customer.name,
        "groups": sorted(customer.groups),
        "metadata": dict(customer.metadata),
    }


def _customer_in(body: Mapping[str, Any]) -> Customer:
    return Customer(
        id=CustomerId(body["id"]),
        name=body["name"],
        groups=[GroupId(each) for each in body.get("groups", ())],
        metadata=body.get("metadata", {}),
    )


def _value_out(value: VariableValue) -> Mapping[str, Any]:
    return {
        "variable": value.variable,
        "customer": value.customer,
        "data": value.data,
        "at": value.at.isoformat(),
    }


def _value_in(body: Mapping[str, Any]) -> VariableValue:
    return VariableValue(
        variable=VariableId(body["variable"]),
        customer=CustomerId(body["customer"]),
        data=body["data"],
        at=datetime.fromisoformat(body["at"]),
    )


CUSTOMERS: Codec[Customer] = Codec("customer", lambda each: each.id, _customer_out, _customer_in)
TAGS: Codec[Tag] = Codec(
    "tag",
    lambda each: each.id,
    lambda each: {"id": each.id, "name": each.name},
    lambda body: Tag(TagId(body["id"]), body["name"]),
)
SPENDING: Codec[DaySpent] = Codec(
    "day's spending",
    lambda each: each.day,
    lambda each: {"day": each.day, "dollars": each.dollars},
    lambda body: DaySpent(body["day"], body["dollars"]),
)
VALUES: Codec[VariableValue] = Codec("variable value", lambda each: each.key, _value_out, _value_in)
