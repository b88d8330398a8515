"""What a settings model looks like from outside: which keys it knows, and what may stand there."""

from __future__ import annotations

import json
import types
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretBytes, SecretStr
from pydantic.fields import FieldInfo

Loc = Sequence[str | int]


def fields_of(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """Return the fields of a model by the key that settings write."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def model_within(annotation: object) -> type[BaseModel] | None:
    """Return the model that an annotation stands for, `Optional` or not, or `None`."""
    return next(
        (
            each
            for each in _alternatives(annotation)
            if isinstance(each, type) and issubclass(each, BaseModel)
        ),
        None,
    )


def follow(model: type[BaseModel], loc: Loc) -> tuple[str, type[BaseModel] | None, object]:
    """Return where a location of a validation error leads.

    Returns:
        The dotted key; the model whose table it is in, when it names a key of one; and the
        annotation of the deepest field on the way.
    """
    table: type[BaseModel] | None = model
    annotation: object = model
    owner: type[BaseModel] | None = model
    path = ""
    for step in loc:
        if isinstance(step, int):
            path += f"[{step}]"
            continue
        if table is not None:
            owner = table
            field = fields_of(table).get(step)
            if field is None:
                return f"{path}.{step}" if path else step, owner, annotation
            annotation = field.annotation
            table = model_within(annotation)
        elif is_collection(annotation):
            owner = None
        else:
            break  # the branch of a union, which no reader of settings knows by name
        path = f"{path}.{step}" if path else step
    return path, owner, annotation


def entry_of(annotation: object) -> object | None:
    """Return the annotation of a table's entries, or `None` where it is no table of entries."""
    for each in _alternatives(annotation):
        kind = get_origin(each)
        if isinstance(kind, type) and issubclass(kind, Mapping):
            entry: object = get_args(each)[1]
            return entry
    return None


def annotation_at(model: type[BaseModel], key: Sequence[str]) -> object | None:
    """Return what may stand at a key, through tables of entries too; `None`: nothing may."""
    annotation: object | None = model
    for step in key:
        table = model_within(annotation)
        if table is not None:
            field = fields_of(table).get(step)
            annotation = field.annotation if field else None
        else:
            annotation = entry_of(annotation)
        if annotation is None:
            return None
    return annotation


def is_secret(annotation: object) -> bool:
    """Say whether a value of this annotation is to be masked."""
    if annotation in (SecretStr, SecretBytes):
        return True
    return any(is_secret(each) for each in get_args(annotation))


def is_collection(annotation: object) -> bool:
    """Say whether a value of this annotation is a list, a table or the like."""
    for each in _alternatives(annotation):
        kind = get_origin(each) or each
        if (
            isinstance(kind, type)
            and not issubclass(kind, str | bytes)
            and issubclass(kind, Collection | BaseModel)
        ):
            return True
    return False


def decode_text(model: type[BaseModel], key: Sequence[str], text: str) -> Any:  # as JSON
    """Return the value that a text stands for at a key: JSON for lists and tables, else the text.

    A list may also be written `a,b`. Text that is no JSON stays text, and validation refuses it.
    """
    path, _, annotation = follow(model, key)
    if path != ".".join(key) or not is_collection(annotation) or len(key) > _depth(model, key):
        return text
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError:
            return text
    if any(_is_sequence(each) for each in _alternatives(annotation)):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _depth(model: type[BaseModel], key: Sequence[str]) -> int:
    """Return how many steps of `key` are fields; what is below them is an entry of a table."""
    table: type[BaseModel] | None = model
    for index, step in enumerate(key):
        field = fields_of(table).get(step) if table is not None else None
        if field is None:
            return index
        table = model_within(field.annotation)
    return len(key)


def _is_sequence(annotation: object) -> bool:
    kind = get_origin(annotation) or annotation
    return isinstance(kind, type) and issubclass(kind, list | tuple | set | frozenset | Sequence)


def _alternatives(annotation: object) -> tuple[object, ...]:
    kind = get_origin(annotation)
    if kind is Annotated:
        return _alternatives(get_args(annotation)[0])
    if kind in (Union, types.UnionType):
        return tuple(found for each in get_args(annotation) for found in _alternatives(each))
    return (annotation,)
