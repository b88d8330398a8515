"""The JSON in which a model that writes answers yes/no questions, filled in for a test.

Matchers ask in forms of their own and ride in one request; this fills in any of them from the
schema and the prompt that the model was sent, so that a test says only what is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from poise.testing.scripted_generators import GenerationRequest, smallest_value

Verdicts = Callable[[str], str]
"""From a question's id to `yes`, `no` or `unclear`."""

_LIST = re.compile(r"^For `(\w+)`:", re.MULTILINE)
_QUESTION = re.compile(r"^- id (\S+?):", re.MULTILINE)


def asked_in(prompt: str) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of the questions in a prompt, by the list of the answer they belong to."""
    parts = _LIST.split(prompt)
    return {
        name: tuple(_QUESTION.findall(part))
        for name, part in zip(parts[1::2], parts[2::2], strict=True)
    }


def filled_in(schema: Mapping[str, Any], prompt: str, verdicts: Verdicts) -> dict[str, Any]:
    """Return an answer to every question: the verdict as given, all else as small as may be.

    Args:
        schema: The JSON schema that was asked for.
        prompt: What the model read.
        verdicts: Says what is true.
    """
    asked = asked_in(prompt)
    return {
        name: [
            {**smallest_value(lines["items"]), "id": each, "verdict": verdicts(each)}
            for each in asked.get(name, ())
        ]
        for name, lines in schema["properties"].items()
    }


def says(verdicts: Verdicts) -> Callable[[GenerationRequest], dict[str, Any]]:
    """Return a script for `ScriptedStructuredGenerator` that answers questions so."""

    def answer(request: GenerationRequest) -> dict[str, Any]:
        assert request.schema is not None
        return filled_in(request.schema.body, request.prompt.text, verdicts)

    return answer


def says_yes(request: GenerationRequest) -> dict[str, Any]:
    """Answer every question with yes."""
    return says(lambda _: "yes")(request)
