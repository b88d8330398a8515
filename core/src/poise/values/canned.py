"""Approved wording: templates with fields, each with a role."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

import attrs

from poise.errors import InvalidValueError
from poise.values.ids import AgentId, CannedResponseId, TagId


class Role(Enum):
    """What an approved response is for."""

    REPLY = "reply"
    NO_MATCH = "no_match"
    APOLOGY = "apology"
    PREAMBLE = "preamble"
    HAND_OVER = "hand_over"
    EXAMPLE = "example"


FIELD = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*\}\}|(?<!\{)\{\s*([A-Za-z_][\w.]*)\s*\}(?!\})")
"""A field of a template: `{name}` and `{{name}}` mean the same; dots reach into records."""

TEMPLATE_LIMIT = 4096
"""Characters that a template may have."""


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _tags(value: Iterable[TagId]) -> frozenset[TagId]:
    return frozenset(value)


@attrs.frozen
class CannedResponse:
    """A template that the agent may say as it stands once its fields are filled.

    Attributes:
        id: Stable id.
        agent: The owning agent.
        template: The wording. Braces that don't enclose a name are plain text.
        role: Default REPLY.
        signals: What the reply answers, or other words for what it says; helps to choose it.
        tags: Names it carries.
        language: BCP 47 code of the wording, when the author says so.
    """

    id: CannedResponseId
    agent: AgentId
    template: str
    role: Role = Role.REPLY
    signals: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    tags: frozenset[TagId] = attrs.field(default=frozenset(), converter=_tags)
    language: str | None = None

    def __attrs_post_init__(self) -> None:
        thing = f"canned response {self.template[:40]!r}"
        if not self.template.strip():
            raise InvalidValueError("canned response", "template", "is empty")
        if len(self.template) > TEMPLATE_LIMIT:
            raise InvalidValueError(
                thing, "template", f"is longer than {TEMPLATE_LIMIT} characters"
            )
        for name in self.fields:
            if any(part.startswith("_") for part in name.split(".")):
                raise InvalidValueError(
                    thing, "template", f"names the private field {name!r}; drop the underscore"
                )

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the template's fields, each once, in order."""
        found = (match[1] or match[2] for match in FIELD.finditer(self.template))
        return tuple(dict.fromkeys(found))
