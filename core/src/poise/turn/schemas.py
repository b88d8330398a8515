"""The one schema subset in which models are asked for JSON; every vendor can take it.

An object at the root; every field required, nullable in place of optional; no extra fields; no
limits on numbers, lengths or patterns (they are checked locally, when the answer is read); fields
in the order in which they are to be thought of. Unions other than with null, recursion, and
references are refused.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from poise.errors import InvalidValueError

if TYPE_CHECKING:
    from pydantic import BaseModel

MAX_DEPTH = 5
"""Objects and arrays within each other."""

MAX_ENUM = 50
"""Values that a field can choose from."""

_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")
_KEPT = ("type", "description", "properties", "required", "items", "enum", "additionalProperties")


@attrs.frozen
class Schema:
    """A JSON schema within the subset.

    Attributes:
        name: Letters, digits, `_` and `-`; some vendors show it to the model.
        body: The schema. Read it, never change it: it is shared.
    """

    name: str
    body: Mapping[str, Any] = attrs.field(hash=False)

    def __attrs_post_init__(self) -> None:
        for problem in problems(self.body):
            raise InvalidValueError(f"schema {self.name!r}", problem.where, problem.what)

    def plain(self) -> dict[str, Any]:
        """Return the schema as JSON values of its own, to be translated in place."""
        return copy.deepcopy(dict(self.body))


@attrs.frozen
class Problem:
    """Where a schema leaves the subset, and how."""

    where: str
    what: str


def schema_of(model: type[BaseModel]) -> Schema:
    """Return the schema of a pydantic model, brought into the subset.

    Defaults, limits and formats are left to the local validation; an optional field becomes a
    nullable one; a constant becomes an enum of one; references are written out.

    Raises:
        InvalidValueError: The model can't be said in the subset: it is recursive, or holds a
            union, a free mapping, a tuple of mixed types; the message names the field.
    """
    told = model.model_json_schema()
    definitions = told.get("$defs", {})
    return Schema(model.__name__, _neutral(told, definitions, (), model.__name__))


def problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every place where a schema leaves the subset."""
    if body.get("type") != "object":
        yield Problem("root", "is no object; wrap it in one")
        return
    yield from _problems(body, "root", 1)


def _problems(node: Mapping[str, Any], where: str, depth: int) -> Iterator[Problem]:
    for key in node:
        if key not in _KEPT:
            yield Problem(where, f"uses {key!r}, which not every vendor takes")
    kinds = node.get("type")
    named = kinds if isinstance(kinds, list) else [kinds]
    if "enum" not in node and (not named or any(each not in _TYPES for each in named)):
        yield Problem(where, f"has the type {kinds!r}")
    if len([each for each in named if each != "null"]) > 1:
        yield Problem(where, "is a union; only null may stand beside a type")
    if len(node.get("enum", ())) > MAX_ENUM:
        yield Problem(where, f"chooses from more than {MAX_ENUM} values")
    if depth > MAX_DEPTH:
        yield Problem(where, f"is nested deeper than {MAX_DEPTH}")
        return
    if "object" in named:
        properties = node.get("properties", {})
        if list(node.get("required", ())) != list(properties):
            yield Problem(where, "must require all its fields, in their order")
        if node.get("additionalProperties") is not False:
            yield Problem(where, "must refuse extra fields")
        for name, inner in properties.items():
            yield from _problems(inner, name if where == "root" else f"{where}.{name}", depth + 1)
    if "array" in named:
        if not isinstance(node.get("items"), Mapping):
            yield Problem(where, "is an array of anything; say of what")
        else:
            yield from _problems(node["items"], f"{where}[]", depth + 1)


def _neutral(
    node: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...], where: str
) -> dict[str, Any]:
    reference = node.get("$ref") or (
        node["allOf"][0].get("$ref") if len(node.get("allOf", ())) == 1 else None
    )
    if reference is not None:
        name = reference.rpartition("/")[2]
        if name in within:
            raise InvalidValueError(f"model {where!r}", name, "is recursive; models can't be asked")
        target = _neutral(definitions[name], definitions, (*within, name), where)
        return {**target, **_said(node)}
    choices = node.get("anyOf") or node.get("oneOf")
    if choices is not None:
        real = [each for each in choices if each.get("type") != "null"]
        if len(real) != 1:
            raise InvalidValueError(
                f"model {where!r}", str(node.get("title", "a field")), "is a union; use one type"
            )
        inner = {**_neutral(real[0], definitions, within, where), **_said(node)}
        return _nullable(inner) if len(real) < len(choices) else inner
    if "const" in node:
        node = {**node, "enum": [node["const"]]}
    if "enum" in node:
        kinds = {_kind(value) for value in node["enum"]}
        kind = kinds.pop() if len(kinds) == 1 else None
        return {
            **({"type": kind} if kind else {}),
            **_said(node),
            "enum": list(node["enum"]),
        }
    kind = node.get("type")
    if kind == "object" or "properties" in node:
        properties = node.get("properties")
        if not properties:
            raise InvalidValueError(
                f"model {where!r}",
                str(node.get("title", "a field")),
                "is a free mapping; use a list of objects with named fields",
            )
        return {
            "type": "object",
            **_said(node),
            "properties": {
                name: _neutral(inner, definitions, within, where)
                for name, inner in properties.items()
            },
            "required": list(properties),
            "additionalProperties": False,
        }
    if kind == "array":
        items = node.get("items")
        if not isinstance(items, Mapping) or "prefixItems" in node:
            raise InvalidValueError(
                f"model {where!r}", str(node.get("title", "a field")), "is a list of mixed types"
            )
        return {
            "type": "array",
            **_said(node),
            "items": _neutral(items, definitions, within, where),
        }
    if kind not in _TYPES:
        raise InvalidValueError(
            f"model {where!r}", str(node.get("title", "a field")), "can hold anything; type it"
        )
    return {"type": kind, **_said(node)}


def _said(node: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": node["description"]} if node.get("description") else {}


def _nullable(node: dict[str, Any]) -> dict[str, Any]:
    if "enum" in node:
        node = {**node, "enum": [*node["enum"], None]}
    return {**node, "type": [node["type"], "null"]} if "type" in node else node


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "null" if value is None else "string"
