"""What a turn hook may return: go on, end, leave out, or contribute."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs

from poise.values.rules import Rule
from poise.values.terms import Term


class Skippable(Enum):
    """The stages that a hook may leave out; all others can't be skipped."""

    DISCOVERY = "discovery"
    TOOLS = "tools"


@attrs.frozen
class Bail:
    """End the turn here, with `ready` and nothing more said."""

    reason: str = ""


@attrs.frozen
class Skip:
    """Leave out one stage of this turn."""

    stage: Skippable
    reason: str = ""


@attrs.frozen
class Contribution:
    """What a hook adds to the turn.

    Attributes:
        variables: Values by name, as if they had been loaded.
        rules: Transient rules: active for this turn, without relations.
        terms: Vocabulary for this turn.
        fields: Values for the fields of canned responses.
        draft: A reply, which passes composition mode and review like any other.
    """

    variables: Mapping[str, Any] = attrs.field(factory=dict)
    rules: tuple[Rule, ...] = ()
    terms: tuple[Term, ...] = ()
    fields: Mapping[str, Any] = attrs.field(factory=dict)
    draft: str | None = None
