"""The customers of one scope: made, read and found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from poise.errors import ConflictError, InvalidValueError
from poise.sdk.arguments import optional_text, text, text_mapping, texts
from poise.values.customers import Customer
from poise.values.ids import GUEST, CustomerId, GroupId, IdSource

if TYPE_CHECKING:
    from poise.ports.stores import Repository


async def create_customer(
    customers: Repository[Customer],
    ids: IdSource,
    name: str,
    *,
    id: str | None,
    groups: Sequence[str],
    metadata: Mapping[str, str] | None,
    replace: bool,
) -> Customer:
    """Store a customer and return them; the same one again changes nothing.

    Args:
        customers: Where to.
        ids: Makes an id where none is given.
        name: For people.
        id: As the program knows them.
        groups: Names of groups; rules may be for some of them only.
        metadata: Read by code, never put into a prompt.
        replace: Overwrite whoever has that id.

    Raises:
        InvalidValueError: Something that was said can't be.
        ConflictError: The id is taken by a customer with other content.
    """
    thing = f"customer {text('customer', 'name', name)!r}"
    if not name.strip():
        raise InvalidValueError("customer", "name", "is empty")
    wanted = optional_text(thing, "id", id)
    if wanted is not None and not wanted.strip():
        raise InvalidValueError(thing, "id", "is empty; leave it out for a new one")
    if wanted == GUEST:
        raise InvalidValueError(thing, "id", f"is {GUEST!r}, who is nobody in particular")
    customer = Customer(
        id=CustomerId(ids.new("customer") if wanted is None else wanted),
        name=name,
        groups=[GroupId(each) for each in texts(thing, "groups", groups)],
        metadata=text_mapping(thing, "metadata", metadata),
    )
    if replace:
        return (await customers.put(customer)).value
    try:
        return (await customers.create(customer)).value
    except ConflictError as exc:
        stored = await customers.get(customer.id)
        if stored.value == customer:
            return stored.value
        raise ConflictError(
            f"customer {customer.id!r} exists with other content (replace=True overwrites it)",
            0,
            stored.version,
        ) from exc
