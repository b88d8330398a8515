"""A composer and a term finder that do the simplest thing that keeps their promises."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar

from poise.ports.composition import Composer, TermFinder
from poise.turn.context import TurnContext
from poise.turn.speech import Revision, Utterance, UtteranceKind
from poise.values.agents import CompositionMode
from poise.values.canned import FIELD, Role
from poise.values.terms import Term


class ScriptedComposer(Composer):
    """Answers the customer's last message from a script.

    Where the script has nothing, it says the first response of the active rules that this turn's
    tool results and hook fields can fill, else the agent's no-match text.

    Attributes:
        turns: Every turn that it was asked to compose, oldest first.
    """

    modes: ClassVar[frozenset[CompositionMode]] = frozenset(CompositionMode)

    def __init__(self, script: Mapping[str, str] | None = None) -> None:
        self._script = dict(script or {})
        self.turns: list[TurnContext] = []

    async def compose(
        self, turn: TurnContext, revision: Revision | None = None
    ) -> AsyncIterator[Utterance]:
        self.turns.append(turn)
        if not turn.new_messages:
            yield Utterance(UtteranceKind.SILENCE, "nothing new was said")
            return
        scripted = self._script.get(turn.new_messages[-1])
        if scripted is not None:
            yield Utterance(UtteranceKind.MESSAGE, scripted)
            return
        yield _first_fillable(turn) or Utterance(UtteranceKind.MESSAGE, turn.agent.no_match)


def _first_fillable(turn: TurnContext) -> Utterance | None:
    known: dict[str, Any] = dict(turn.fields)
    for outcome in turn.results:
        if outcome.succeeded and outcome.result is not None:
            known.update(outcome.result.fields)
    for rule in turn.active_rules:
        for name in rule.canned_responses:
            response = turn.snapshot.canned_responses[name]
            if response.role is not Role.REPLY or not known.keys() >= set(response.fields):
                continue
            filled = {field: str(known[field]) for field in response.fields}
            text = _filled(response.template, filled)
            if text.strip():
                return Utterance(UtteranceKind.MESSAGE, text, chosen=(name,), fields=filled)
    return None


def _filled(template: str, values: Mapping[str, str]) -> str:
    return FIELD.sub(lambda match: values[match[1] or match[2]], template)


class ScriptedTermFinder(TermFinder):
    """Looks for each term in turn: slow, and simple enough to check others against."""

    async def find(self, turn: TurnContext) -> Sequence[Term]:
        text = _folded("\n".join(event.text[:100_000] for event in turn.history.messages))
        found = [
            term
            for term in turn.snapshot.terms.values()
            if any(_mentions(text, _folded(name)) for name in (term.name, *term.synonyms))
        ]
        return tuple(sorted(found, key=lambda term: (_folded(term.name), term.id)))


def _mentions(text: str, name: str) -> bool:
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _folded(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in decomposed if not unicodedata.combining(each)).strip()
