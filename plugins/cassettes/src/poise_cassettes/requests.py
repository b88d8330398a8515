"""Requests in their canonical form: readable, the same for the same request, and hashed by it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from poise.turn.generation import GenerationOptions
from poise.turn.models import Capability, DecisionRequest, Question
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema

Json = Any
"""A value that JSON has: texts, numbers, booleans, null, lists, and tables with texts as keys."""


@attrs.frozen
class Request:
    """What is asked of one model, in its canonical form.

    Attributes:
        model: `provider:model`, as the wrapped provider calls it.
        capability: What is asked for.
        body: All that can change the answer.
    """

    model: str
    capability: Capability
    body: Mapping[str, Json] = attrs.field(hash=False)

    @property
    def digest(self) -> str:
        """A hash of everything in here; equal requests have equal ones on every machine."""
        return digest([self.model, self.capability.value, self.body])

    @property
    def lines(self) -> list[str]:
        """The request as lines to be compared."""
        return pretty(self.body).splitlines()


def embedding(model: str, texts: Sequence[str]) -> Request:
    """Return the request to embed `texts`."""
    return Request(model, Capability.EMBED, {"texts": [lines(text) for text in texts]})


def moderation(model: str, texts: Sequence[str]) -> Request:
    """Return the request to moderate `texts`."""
    return Request(model, Capability.MODERATE, {"texts": [lines(text) for text in texts]})


def decision(model: str, request: DecisionRequest) -> Request:
    """Return the request to answer yes/no questions."""
    body = {
        "state": _prompt(request.state),
        "focus": [lines(text) for text in request.focus],
        "questions": [_question(question) for question in request.questions],
        "task": lines(request.task),
        "explain": request.explain,
    }
    return Request(model, Capability.DECIDE, body)


def text(model: str, prompt: Prompt, options: GenerationOptions) -> Request:
    """Return the request to write text."""
    body = {"prompt": _prompt(prompt), "options": _options(options)}
    return Request(model, Capability.TEXT, body)


def structured(
    model: str, prompt: Prompt, schema: Schema, *, options: GenerationOptions
) -> Request:
    """Return the request to write JSON of a schema."""
    body = {"prompt": _prompt(prompt), "schema": _schema(schema), "options": _options(options)}
    return Request(model, Capability.STRUCTURED, body)


def digest(value: Json) -> str:
    """Return a hash of JSON, in which the order of keys does not count."""
    plain = json.dumps(value, sort_keys=True)
    return hashlib.sha256(plain.encode("ascii")).hexdigest()[:16]


def pretty(value: Json) -> str:
    """Return JSON to be read and compared line by line: keys sorted, any script as it is."""
    written = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    # Half a surrogate pair is the one thing that UTF-8 can't hold.
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", written) + "\n"


def lines(text: str) -> str | list[str]:
    """Return a text as JSON: one of several lines as a list of them, so that a diff finds each."""
    return text.split("\n") if "\n" in text else text


def joined(said: str | list[str]) -> str:
    """Return the text that `lines` was given."""
    return said if isinstance(said, str) else "\n".join(said)


def _prompt(prompt: Prompt) -> Json:
    return [
        {
            "section": section.name,
            "stability": section.stability.name.lower(),
            "text": lines(section.text),
        }
        for section in prompt.sections
    ]


def _question(question: Question) -> Json:
    said: dict[str, Json] = {"id": question.id, "text": lines(question.text)}
    for name in ("yes_if", "no_if"):
        if getattr(question, name):
            said[name] = lines(getattr(question, name))
    for name in ("examples", "counterexamples"):
        if getattr(question, name):
            said[name] = [lines(each) for each in getattr(question, name)]
    if question.prior is not None:
        # An estimate of another model: its last digits differ from machine to machine.
        said["prior"] = _number(question.prior, 3)
    return said


def _options(options: GenerationOptions) -> Json:
    """Return what shapes an answer. The key of a cache does not, and differs between sessions."""
    said: dict[str, Json] = {}
    if options.max_output is not None:
        said["max_output"] = options.max_output
    if options.temperature is not None:
        said["temperature"] = _number(options.temperature)
    if options.reasoning is not None:
        said["reasoning"] = options.reasoning.value
    if options.tools:
        said["tools"] = [
            {
                "name": tool.name,
                "description": lines(tool.description),
                "parameters": _schema(tool.parameters),
            }
            for tool in options.tools
        ]
        said["tool_choice"] = options.tool_choice
    return said


def _schema(schema: Schema) -> Json:
    # Keys are sorted when it is written; the order of fields is in `required`, which lists all.
    return {"name": schema.name, "body": _canonical(schema.plain())}


def _canonical(value: Json) -> Json:
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(key): _canonical(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(each) for each in value]
    return value


def _number(value: float, digits: int = 6) -> float:
    return float(f"{float(value):.{digits}g}") + 0.0  # no minus before a zero
