"""Tags as authors write them: by name or as values, alone on rules, within ends in relations."""

from __future__ import annotations

import re

from poise.errors import InvalidValueError
from poise.sdk.arguments import text
from poise.values import relationships
from poise.values.customers import Tag
from poise.values.ids import TagId, stable_id
from poise.values.relationships import TagEnd

_ID = re.compile(r"tag_[a-z2-7]{20}")


def tag_named(name: str) -> Tag:
    """Return the tag of that name: the same name, the same tag.

    Raises:
        InvalidValueError: The name is empty.
    """
    return Tag(tag_id(name), name)


def tag_id(tag: object) -> TagId:
    """Return the id of a tag that is given as a value, by its name, or by its id.

    Raises:
        InvalidValueError: It is no tag, or its name is empty.
    """
    if isinstance(tag, Tag):
        return tag.id
    name = text("tag", "name", tag)
    if _ID.fullmatch(name):
        return TagId(name)
    if not name.strip():
        raise InvalidValueError("tag", "name", "is empty")
    return TagId(stable_id("tag", "", name))


def any_of(tag: Tag | str) -> TagEnd:
    """Return the end of a relation that any rule with `tag` satisfies."""
    return relationships.any_of(tag_id(tag))


def all_of(tag: Tag | str) -> TagEnd:
    """Return the end of a relation that takes every rule with `tag`."""
    return relationships.all_of(tag_id(tag))
