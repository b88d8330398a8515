"""The strict composer: everything it says is approved wording with its fields filled."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import ClassVar

import attrs

from poise import Composer
from poise.turn.context import TurnContext, Wake
from poise.turn.queries import clip_words
from poise.turn.speech import Revision, Utterance, UtteranceKind
from poise.values.agents import DEFAULT_NO_MATCH, CompositionMode
from poise.values.canned import Role
from poise.values.ids import CannedResponseId
from poise_compose.asking import Questions
from poise_compose.choosing import Chooser, Part, arranged
from poise_compose.fields import Fields
from poise_compose.nearness import Comparer, Nearness
from poise_compose.plain import Writing
from poise_compose.pool import Approved, Pool, Pools
from poise_compose.readings import Readings, read_rules
from poise_compose.segments import Heard, heard
from poise_compose.settings import ComposeSettings
from poise_compose.templates import Rendering, Wording

logger = logging.getLogger(__name__)

_BETWEEN = "\n\n"
_NOTED = 5  # problems that a note names
_CERTAIN = 0.6  # evidence from which the only thing to say needs no comparing


@attrs.frozen
class _Choice:
    """What is to be said, and how it came about."""

    parts: Sequence[Part]
    in_view: Sequence[CannedResponseId]
    note: str


class CannedComposer(Composer):
    """Says approved responses as they stand, and nothing else.

    A response of an active rule comes first; one that no rule carries is said where its own words
    fit the message; otherwise the agent's no-match text. A rule whose tool still needs something
    asks for it instead, and one whose tool failed says so, in words that the author or the
    operator owns. It needs no language model, and without an embedder shared words decide.
    """

    modes: ClassVar[frozenset[CompositionMode]] = frozenset({CompositionMode.CANNED_STRICT})

    def __init__(self, settings: ComposeSettings) -> None:
        self._settings = settings
        self._writing = Writing(
            settings.yes, settings.no, settings.conjunction, settings.value_limit
        )
        self._pools = Pools(self._writing)
        self._comparer = Comparer(settings.cached_vectors)
        self._failed = Wording.of(settings.failed, self._writing)
        self._questions = Questions(
            Wording.of(settings.ask, self._writing), Wording.of(settings.ask_again, self._writing)
        )

    async def compose(
        self, turn: TurnContext, revision: Revision | None = None
    ) -> AsyncIterator[Utterance]:
        pool = self._pools.of(turn)
        fields = Fields(turn, self._writing)
        spent = revision.draft if revision is not None else ""
        readings = read_rules(
            turn, pool, fields, questions=self._questions, failed=self._failed, spent=spent
        )
        renderer = _Renderer(fields, spent, dict(readings.problems))
        if turn.wake is Wake.UTTER:
            choice = await self._requested(turn, pool, readings, renderer)
        else:
            choice = await self._answers(turn, pool, readings, renderer)
        if choice.parts:
            for utterance in self._spoken(choice):
                yield utterance
        elif turn.new_messages and turn.wake is not Wake.UTTER:
            yield self._no_match(turn, pool, fields, choice)
        else:
            yield Utterance(
                UtteranceKind.SILENCE,
                "no approved response is near to what was asked for"
                if turn.wake is Wake.UTTER
                else "the customer has said nothing new, and no rule has anything to say",
                candidates=tuple(choice.in_view),
                note=choice.note,
            )

    async def _answers(
        self, turn: TurnContext, pool: Pool, readings: Readings, renderer: _Renderer
    ) -> _Choice:
        listening = heard(turn.new_messages)
        wide = pool.nearest_wide(listening.texts, self._settings.wide_limit)
        nearness = await self._compared(turn, listening, readings, wide)
        chooser = Chooser(
            turn.snapshot, nearness, listening.requests, turn.language, self._settings.fit
        )
        parts = list(chooser.from_rules(readings.rules))
        parts += chooser.from_wide(wide, renderer.render, parts)
        if not parts:
            parts += chooser.standing(readings.rules)
        said = arranged(
            parts,
            limit=self._settings.max_parts,
            limit_with_questions=self._settings.max_parts_with_questions,
        )
        return _choice(said, parts, readings, renderer.problems, note=nearness.note)

    async def _compared(
        self, turn: TurnContext, listening: Heard, readings: Readings, wide: Sequence[Approved]
    ) -> Nearness:
        only = readings.rules[0] if len(readings.rules) == 1 else None
        if only is not None and not wide and len(only.usable) < 2 and only.evidence >= _CERTAIN:
            return Nearness()  # there is nothing to choose, so nothing is embedded
        texts = [
            *(text for reading in readings.rules for text in reading.texts),
            *(text for approved in wide for text in approved.texts),
        ]
        return await self._comparer.compare(listening.texts, texts, turn.models)

    async def _requested(
        self, turn: TurnContext, pool: Pool, readings: Readings, renderer: _Renderer
    ) -> _Choice:
        requests = tuple(clip_words(text) for text in turn.requested if text.strip())
        usable = {
            each.approved: each.rendering for reading in readings.rules for each in reading.usable
        }
        for approved in pool.nearest_wide(requests, self._settings.wide_limit):
            rendering = renderer.render(approved)
            if rendering.text is not None and approved.speaks(turn.language):
                usable[approved] = rendering
        texts = [text for approved in usable for text in approved.texts]
        nearness = await self._comparer.compare(requests, texts, turn.models)
        parts = [
            Part(usable[best].text or "", near, best.id, usable[best].values)
            for place in range(len(nearness.heard))
            for near, best in (_nearest(usable, nearness, place),)
            if near >= self._settings.fit_request
        ]
        limit = self._settings.max_parts
        said = arranged(parts, limit=limit, limit_with_questions=limit)
        return _choice(said, parts, readings, renderer.problems, note=nearness.note)

    def _spoken(self, choice: _Choice) -> Iterable[Utterance]:
        groups = (
            [[part] for part in choice.parts]
            if self._settings.separate_messages
            else [list(choice.parts)]
        )
        for group in groups:
            yield Utterance(
                UtteranceKind.MESSAGE,
                _BETWEEN.join(part.text for part in group),
                chosen=tuple(part.response for part in group if part.response is not None),
                candidates=tuple(choice.in_view),
                fields={name: value for part in group for name, value in part.fields.items()},
                note=choice.note,
            )

    def _no_match(
        self, turn: TurnContext, pool: Pool, fields: Fields, choice: _Choice
    ) -> Utterance:
        if choice.note:
            logger.warning(
                "no approved response could be said", extra={"turn": turn.id, "why": choice.note}
            )
        carried = (
            each for rule in turn.active_rules for each in pool.carried_by(rule, Role.NO_MATCH)
        )
        approved = sorted(
            dict.fromkeys((*carried, *pool.no_match)),
            key=lambda each: not (each.response.language and each.speaks(turn.language)),
        )
        for each in approved:
            rendering = each.wording.render(fields)
            if rendering.text is not None and each.speaks(turn.language):
                return _said_instead(rendering, choice, each.id)
        own = Wording.of(turn.agent.no_match, self._writing).render(fields)
        if own.text is None:
            own = Rendering(DEFAULT_NO_MATCH)
        return _said_instead(own, choice)


@attrs.frozen
class _Renderer:
    """Fills responses that no rule carries, and notes why one can't be said."""

    fields: Fields
    spent: str
    problems: dict[CannedResponseId, str]

    def render(self, approved: Approved) -> Rendering:
        rendering = approved.wording.render(self.fields)
        if rendering.text is not None and rendering.text in self.spent:
            rendering = Rendering(None, problem="was sent back")
        if rendering.text is None:
            self.problems[approved.id] = rendering.problem
        return rendering


def _nearest(usable: Iterable[Approved], nearness: Nearness, place: int) -> tuple[float, Approved]:
    comparable = sorted((each for each in usable if each.texts), key=lambda each: each.id)
    ranked = [(nearness.profile(each.texts)[place], each) for each in comparable]
    return max(ranked, key=lambda each: each[0])


def _choice(
    said: Sequence[Part],
    considered: Sequence[Part],
    readings: Readings,
    problems: Mapping[CannedResponseId, str],
    *,
    note: str,
) -> _Choice:
    in_view = dict.fromkeys(each.id for each in readings.in_view)
    in_view.update(dict.fromkeys(part.response for part in considered if part.response is not None))
    named = [f"{response}: {problem}" for response, problem in sorted(problems.items())]
    more = [f"and {len(named) - _NOTED} more"] if len(named) > _NOTED else []
    notes = [note] if note else []
    return _Choice(said, tuple(in_view), "; ".join((*notes, *named[:_NOTED], *more)))


def _said_instead(
    rendering: Rendering, choice: _Choice, response: CannedResponseId | None = None
) -> Utterance:
    reason = "no approved response fits"
    return Utterance(
        UtteranceKind.MESSAGE,
        rendering.text or DEFAULT_NO_MATCH,
        chosen=() if response is None else (response,),
        candidates=tuple(choice.in_view),
        fields=rendering.values,
        note=f"{reason}; {choice.note}" if choice.note else reason,
    )
