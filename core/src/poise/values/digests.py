"""The content hash of a value: the same for equal content on every machine and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any

import attrs

from poise.values.ids import digest


def content_digest(*values: object) -> str:
    """Return a digest of everything in `values`: attrs classes, enums, collections, JSON scalars.

    Order counts in sequences and not in sets or mappings.

    Raises:
        TypeError: Something in there has no canonical form (a function, an open file).
    """
    return digest(*(json.dumps(_plain(value), sort_keys=True) for value in values))


def _plain(value: object) -> Any:  # JSON by construction
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return [type(value).__name__, value.name]
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return ["set", *sorted(json.dumps(_plain(each), sort_keys=True) for each in value)]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    kind: Any = type(value)
    if attrs.has(kind):
        return [
            kind.__name__,
            {field.name: _plain(getattr(value, field.name)) for field in attrs.fields(kind)},
        ]
    raise TypeError(f"{type(value).__name__} has no canonical form")
