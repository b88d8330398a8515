"""What the stub model of the neutral scenarios answers to Poise: verdicts by the markers.

Imported in the stub's process, which has the scenarios' own modules on its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracles import RATIONALE_NO, RATIONALE_YES, Call, last_customer_message, markers

_PART = re.compile(r"^For `(\w+)`:", re.MULTILINE)
_QUESTION = re.compile(r"^- id (\S+?): (.*)$", re.MULTILINE)
_CONDITION = re.compile(r"The customer .+?\[\[[A-Za-z]+\d+\]\]")
"""A condition of the scenarios, wherever it stands in a question."""
_SAID_AGAIN = ("question", "condition")


def holds(question: str, call: Call) -> bool:
    """Say whether what a question asks about is in the newest message of the customer."""
    return bool(markers(question) & markers(last_customer_message(call)))


class PoiseOracle:
    """Fills in a verdict for every question of the prompt, whatever the schema's shape.

    A list whose objects have an `id` and a `verdict` takes the questions that stand in the prompt
    under the name of the field that holds it. Texts beside the verdict are as long as the neutral
    oracle's, so that their output tokens cost time: where the question is to be said again, the
    condition is repeated; a reason is a sentence.
    """

    name = "poise"

    def answer(self, call: Call) -> Any:
        """Return the object; `None`, for the neutral oracle, where no verdicts are asked for."""
        if call.schema is None or not _asks_for_verdicts(call.schema, call.schema):
            return None
        return _Filling(call).value(call.schema, ())


class _Filling:
    """One answer in the making."""

    def __init__(self, call: Call) -> None:
        assert call.schema is not None
        self._root = call.schema
        self._call = call
        self._asked = dict(_asked_in(call.prompt))

    def value(self, schema: Mapping[str, Any], path: Sequence[str]) -> Any:
        shape = _resolved(schema, self._root)
        if "const" in shape:
            return shape["const"]
        if shape.get("enum"):
            return shape["enum"][0]
        match _type_of(shape):
            case "object":
                fields = shape.get("properties", {})
                return {name: self.value(each, (*path, name)) for name, each in fields.items()}
            case "array" if _is_line(_items(shape, self._root)):
                return [
                    self._line(_items(shape, self._root), each, said)
                    for each, said in self._questions_at(path)
                ]
            case "array":
                return []
            case "boolean":
                return False
            case "number" | "integer":
                return 0
            case _:
                return ""

    def _questions_at(self, path: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return ids and words of the questions for the list at `path`."""
        for name in path:
            if name in self._asked:
                return self._asked[name]
        return self._asked.get("", ())

    def _line(self, line: Mapping[str, Any], question: str, said: str) -> dict[str, Any]:
        truth = holds(said, self._call)
        return {
            name: self._field(name, _resolved(each, self._root), question, said, truth=truth)
            for name, each in line["properties"].items()
        }

    def _field(
        self, name: str, shape: Mapping[str, Any], question: str, said: str, *, truth: bool
    ) -> Any:
        if name == "id":
            return question
        if name == "verdict":
            return "yes" if truth else "no"
        if shape.get("enum") or "const" in shape:
            return self.value(shape, ())
        match _type_of(shape):
            case "string":
                told = f"{name} {shape.get('description', '')}".lower()
                if name in _SAID_AGAIN or "own words" in told:
                    return _again(said)
                if "empty" in told and not truth:
                    return ""
                return RATIONALE_YES if truth else RATIONALE_NO
            case "array":
                parts = _items(shape, self._root)
                if _type_of(parts) != "object":  # what holds of it, or what does not
                    return [_again(said)] if truth is not name.startswith("not") else []
                filled = {
                    key: self._part(_resolved(each, self._root), said, truth=truth)
                    for key, each in parts.get("properties", {}).items()
                }
                return [filled]
            case "boolean":
                return truth and "hold" in name
            case _:
                return self.value(shape, ())

    def _part(self, shape: Mapping[str, Any], said: str, *, truth: bool) -> Any:
        match _type_of(shape):
            case "boolean":
                return truth
            case "string":
                return _again(said)
            case _:
                return self.value(shape, ())


def _again(question: str) -> str:
    found = _CONDITION.search(question)
    return found.group() if found else question


def _asked_in(prompt: str) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """Yield the questions of each part of a prompt by its name; those before any under none."""
    first, *rest = _PART.split(prompt)
    yield "", _QUESTION.findall(first)
    for name, part in zip(rest[::2], rest[1::2], strict=True):
        yield name, _QUESTION.findall(part)


def _asks_for_verdicts(schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    shape = _resolved(schema, root)
    if _type_of(shape) == "array":
        return _is_line(_items(shape, root))
    return any(_asks_for_verdicts(each, root) for each in shape.get("properties", {}).values())


def _is_line(shape: Mapping[str, Any]) -> bool:
    return {"id", "verdict"} <= set(shape.get("properties", {}))


def _items(shape: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    return _resolved(shape.get("items", {}), root)


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references and take the first choice that is not null."""
    found = schema
    while True:
        if "$ref" in found:
            node: Any = root
            for step in found["$ref"].lstrip("#/").split("/"):
                node = node[step]
            found = {**node, **{key: each for key, each in found.items() if key != "$ref"}}
            continue
        choices = next((found[key] for key in ("anyOf", "oneOf", "allOf") if key in found), None)
        if choices is None:
            return found
        found = next((each for each in choices if each.get("type") != "null"), choices[0])


def _type_of(shape: Mapping[str, Any]) -> str:
    kind = shape.get("type", "object" if "properties" in shape else "")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "")
    return str(kind)
