"""Customers of an application: set-up programs run again and again, and make nobody twice."""

from __future__ import annotations

from typing import Any

import pytest

from poise import ConflictError, Customer, InvalidValueError
from poise.memory.stores import MemoryStores
from poise.ports.stores import Repository
from poise.sdk.customers import create_customer
from poise.testing.clock import CountingIds, FrozenClock
from poise.values.scope import Scope

pytestmark = pytest.mark.anyio


@pytest.fixture
def customers() -> Repository[Customer]:
    return MemoryStores(FrozenClock()).scope(Scope.local()).customers


async def create(customers: Repository[Customer], name: str, **said: Any) -> Customer:
    given: dict[str, Any] = {"id": None, "groups": (), "metadata": None, "replace": False, **said}
    return await create_customer(customers, CountingIds(), name, **given)


# case B-078
async def test_running_the_set_up_again_makes_nobody_twice(
    customers: Repository[Customer],
) -> None:
    for _ in range(3):
        await create(customers, "Ann", id="ann", groups=["trade"])

    assert len((await customers.find()).items) == 1


# case B-078
async def test_taken_id_with_other_content_is_a_conflict(customers: Repository[Customer]) -> None:
    await create(customers, "Ann", id="ann")

    with pytest.raises(ConflictError, match="replace=True"):
        await create(customers, "Anna", id="ann")

    assert [each.name for each in (await customers.find()).items] == ["Ann"]


async def test_replacing_was_asked_for(customers: Repository[Customer]) -> None:
    await create(customers, "Ann", id="ann")

    await create(customers, "Anna", id="ann", replace=True)

    assert [each.name for each in (await customers.find()).items] == ["Anna"]


async def test_customer_without_an_id_gets_a_new_one(customers: Repository[Customer]) -> None:
    customer = await create(customers, "Ann")

    assert customer.id.startswith("customer_")


@pytest.mark.parametrize(
    "said",
    [
        {"name": ""},
        {"name": "a\0"},
        {"id": ""},
        {"id": "guest"},
        {"groups": "trade"},
        {"metadata": {"a": 1}},
    ],
    ids=repr,
)
async def test_what_can_not_be_is_refused(
    customers: Repository[Customer], said: dict[str, Any]
) -> None:
    with pytest.raises(InvalidValueError):
        await create(customers, **{"name": "Ann", **said})

    assert not (await customers.find()).items
