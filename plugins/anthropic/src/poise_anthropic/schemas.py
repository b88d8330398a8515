"""The neutral schema in the vendor's words, and what fits into the grammar that it compiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from poise import Schema, ToolSpec

MAX_UNIONS = 16
"""Fields of more than one type in what one request has compiled, all strict schemas together."""

MAX_STRICT_TOOLS = 20
"""Tools of one request whose arguments are held to their schema."""


def input_schema(schema: Schema) -> dict[str, Any]:
    """Return the schema with `anyOf` for what may be null, fields in their order.

    Nothing is optional in a neutral schema, so the vendor's limit on optional fields is never met,
    and its habit of writing required fields first changes no order.
    """
    return _translated(schema.body)


def fits_grammar(schema: Schema) -> bool:
    """Say whether the vendor would compile the schema, as far as its published limits tell."""
    return _unions(schema) <= MAX_UNIONS


def strict_tools(tools: Sequence[ToolSpec]) -> frozenset[str]:
    """Return the names of the first tools that fit into one grammar together."""
    strict: list[str] = []
    unions = 0
    for tool in tools:
        unions += _unions(tool.parameters)
        if unions > MAX_UNIONS or len(strict) == MAX_STRICT_TOOLS:
            break
        strict.append(tool.name)
    return frozenset(strict)


def _translated(node: Mapping[str, Any]) -> dict[str, Any]:
    kinds = node.get("type")
    said = {key: node[key] for key in ("description",) if key in node}
    if "enum" in node:
        # A list of values needs no type, and two types beside it would count as a union.
        typed = {"type": kinds} if isinstance(kinds, str) else {}
        return {**typed, "enum": list(node["enum"]), **said}
    if isinstance(kinds, list) and len(kinds) > 1:
        variants = [_translated(_as(node, kind)) for kind in kinds]
        return {"anyOf": variants, **said}
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        return {
            "type": "object",
            **said,
            "properties": {
                name: _translated(inner) for name, inner in node.get("properties", {}).items()
            },
            "required": list(node.get("required", ())),
            "additionalProperties": False,
        }
    if kind == "array":
        return {"type": "array", **said, "items": _translated(node["items"])}
    return {"type": kind, **said}


def _as(node: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    if kind == "null":
        return {"type": "null"}
    return {**{key: value for key, value in node.items() if key != "description"}, "type": kind}


def _unions(schema: Schema) -> int:
    return sum(1 for node in _nodes(_translated(schema.body)) if "anyOf" in node)


def _nodes(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield node
    for inner in (
        *node.get("properties", {}).values(),
        *node.get("anyOf", ()),
        *([node["items"]] if "items" in node else []),
    ):
        yield from _nodes(inner)
