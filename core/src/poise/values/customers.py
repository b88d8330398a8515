"""The people an agent talks to, the groups they belong to, and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from poise.values.ids import GUEST, CustomerId, GroupId, TagId


def _groups(value: Iterable[GroupId]) -> frozenset[GroupId]:
    return frozenset(value)


def _frozen_text(value: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(value))


@attrs.frozen
class Customer:
    """A person who talks to agents; `metadata` is read by code, never put into a prompt."""

    id: CustomerId
    name: str
    groups: frozenset[GroupId] = attrs.field(default=(), converter=_groups)
    metadata: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen_text, hash=False)

    @classmethod
    def guest(cls) -> Customer:
        """Return the customer of a session that names none."""
        return cls(id=GUEST, name="Guest")


@attrs.frozen
class Tag:
    """A name that rules carry; relations use it as `any_of(tag)` or `all_of(tag)`."""

    id: TagId
    name: str
