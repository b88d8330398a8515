"""Values between JSON and what a Python function's annotations name, in both directions."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import attrs

LISTS: Mapping[Any, Callable[..., Any]] = types.MappingProxyType(
    {
        list: list,
        tuple: tuple,
        set: set,
        frozenset: frozenset,
        collections.abc.Sequence: list,
        collections.abc.Collection: list,
        collections.abc.Iterable: list,
        collections.abc.Set: frozenset,
    }
)
"""Annotations that stand for a LIST, and what makes one."""


def stripped(annotation: Any) -> Any:  # any annotation
    """Return `annotation` without `Annotated`, `NewType`, `Required` and `NotRequired`."""
    while True:
        origin = get_origin(annotation)
        if origin in (typing.Annotated, typing.Required, typing.NotRequired):
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        else:
            return annotation


def members_of(annotation: Any) -> tuple[Any, ...]:  # any annotation
    """Return what a union is made of; for anything else, the annotation itself."""
    if get_origin(annotation) in (Union, types.UnionType):
        return get_args(annotation)
    return (annotation,)


def is_pydantic(annotation: Any) -> bool:  # any annotation
    """Say whether it is a pydantic model, without importing pydantic."""
    return isinstance(annotation, type) and hasattr(annotation, "model_fields")


def record_types(record: Any) -> Mapping[str, Any]:  # a dataclass, attrs class or TypedDict
    """Return the annotations of a record's fields by their names as arguments.

    Raises:
        NameError: An annotation names something that its module does not know at run time.
    """
    hints = typing.get_type_hints(record, include_extras=True)
    if attrs.has(record):
        return {
            field.alias or field.name: hints.get(field.name, field.type)
            for field in attrs.fields(record)
            if field.init
        }
    if dataclasses.is_dataclass(record):
        return {field.name: hints[field.name] for field in dataclasses.fields(record) if field.init}
    return hints


def is_record(annotation: Any) -> bool:  # any annotation
    """Say whether it is a dataclass, an attrs class or a TypedDict."""
    return isinstance(annotation, type) and (
        attrs.has(annotation)
        or dataclasses.is_dataclass(annotation)
        or typing.is_typeddict(annotation)
    )


def optional_keys(record: Any) -> frozenset[str]:  # a TypedDict
    """Return the keys that may be left out."""
    # `__optional_keys__` does not see into annotations that are kept as texts.
    hints = typing.get_type_hints(record, include_extras=True)
    found = set(record.__optional_keys__)
    for name, hint in hints.items():
        if get_origin(hint) is typing.NotRequired:
            found.add(name)
        elif get_origin(hint) is typing.Required:
            found.discard(name)
    return frozenset(found)


def _may_be_none(annotation: Any) -> bool:  # any annotation
    return type(None) in members_of(stripped(annotation))


def from_json(annotation: Any, value: Any) -> Any:  # any annotation; JSON, or dates already read
    """Return `value` as what `annotation` names.

    The value has been checked against the parameter that was derived from the same annotation.
    Dates may come as ISO text or as dates.
    """
    if value is None:
        return None
    kind = stripped(annotation)
    members = [each for each in members_of(kind) if each is not type(None)]
    if len(members) != 1:
        # `int | float` is the one union of several kinds that a parameter can have.
        return value
    kind = stripped(members[0])
    origin = get_origin(kind) or kind
    if origin is Literal or not isinstance(origin, type):
        return value
    if origin in LISTS:
        return LISTS[origin](_elements(kind, value))
    if issubclass(origin, Enum):
        return origin(value)
    if origin is Decimal:
        return Decimal(str(value))
    if origin is float:
        return float(value)
    if origin is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    if origin is date and isinstance(value, str):
        return date.fromisoformat(value)
    if is_pydantic(origin):
        return typing.cast(Any, origin).model_validate(value)
    if isinstance(value, Mapping) and is_record(origin):
        known = record_types(origin)
        absent = optional_keys(origin) if typing.is_typeddict(origin) else frozenset()
        return origin(
            **{
                name: from_json(known[name], each)
                for name, each in value.items()
                if each is not None or name not in absent or _may_be_none(known[name])
            }
        )
    return value


def _elements(kind: Any, values: Any) -> list[Any]:  # a list's annotation, and its JSON
    arguments = get_args(kind)
    item = arguments[0] if arguments else Any
    return [from_json(item, each) for each in values]


def to_json(value: Any) -> Any:  # whatever a function returns or has as a default
    """Return `value` with the Python types that JSON lacks written as JSON.

    Enums become their values, dates ISO text, decimals numbers, dataclasses, attrs classes and
    pydantic models records, sets sorted lists. Anything else stays as it is.
    """
    if isinstance(value, Enum):
        return to_json(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Mapping):
        return {_key(key): to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((to_json(each) for each in value), key=repr)
    kind = type(value)
    if attrs.has(kind):
        return {
            field.alias or field.name: to_json(getattr(value, field.name))
            for field in attrs.fields(kind)
        }
    if dataclasses.is_dataclass(value):
        return {
            field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if is_pydantic(kind):
        return value.model_dump(mode="json", by_alias=True)
    return value


def _key(key: Any) -> Any:  # JSON has texts for keys
    plain = to_json(key)
    return plain if isinstance(plain, str) else str(plain)
