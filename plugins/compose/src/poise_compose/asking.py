"""How the agent asks for what a tool still needs, in words that somebody has approved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from poise.values.ids import CannedResponseId
from poise.values.tools import Parameter
from poise_compose.fields import Fields
from poise_compose.pool import Approved
from poise_compose.progress import Asked
from poise_compose.templates import Rendering, Wording

ASKS_FOR = frozenset({"std.missing_params", "std.invalid_params"})
"""The fields that make a response one that asks."""


def asks(approved: Approved) -> bool:
    """Say whether a response is there to ask for arguments."""
    return not ASKS_FOR.isdisjoint(approved.wording.fields)


@attrs.frozen
class Asking:
    """One question: its words, and the response that they come from, where one does."""

    rendering: Rendering
    response: CannedResponseId | None = None


@attrs.frozen
class Questions:
    """The wording for questions that settings hold."""

    ask: Wording
    ask_again: Wording

    def for_arguments(
        self, asked: Asked, fields: Fields, responses: Iterable[Approved]
    ) -> Sequence[Asking]:
        """Return what to ask, in the order of the arguments.

        A response that names what is missing comes first; then each argument's own question; for
        the others, and where a question has a field without a value, the operator's wording.
        """
        named = fields.asking_for(_names(asked.missing), _names(asked.invalid))
        for approved in responses:
            rendering = approved.wording.render(named)
            if rendering.text is not None:
                return (Asking(rendering, approved.id),)
        return (
            *self._own(asked.missing, self.ask, fields),
            *self._own(asked.invalid, self.ask_again, fields),
        )

    def _own(
        self, parameters: Sequence[Parameter], wording: Wording, fields: Fields
    ) -> Iterable[Asking]:
        rest: list[Parameter] = []
        for parameter in parameters:
            rendering = Wording.of(parameter.question or "", fields.writing).render(fields)
            if rendering.text is None:
                rest.append(parameter)
            else:
                yield Asking(rendering)
        if rest:
            names = _names(rest)
            rendering = wording.render(fields.asking_for(names, names))
            if rendering.text is not None:
                yield Asking(rendering)


def _names(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    return tuple(parameter.name.replace("_", " ").strip() for parameter in parameters)
