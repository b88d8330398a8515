"""Chooses which of what could be said answers the customer, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from poise.values.catalog import CatalogSnapshot
from poise.values.ids import CannedResponseId, RuleId
from poise.values.rules import ALWAYS
from poise_compose.evidence import FRESH
from poise_compose.nearness import Nearness
from poise_compose.pool import Approved
from poise_compose.readings import Reading, Usable
from poise_compose.templates import Rendering

_NEARNESS = 0.5  # what wording counts beside evidence, when rules compete
_SHARE = 0.6  # of the best score, that a further topic needs
_FITS = 0.6  # the evidence of a rule whose wording fits the message, whatever brought it up
_FURTHER = 0.15  # nearer than what fits alone: a polite clause is no second request
_RESULT = 0.3  # a response that reports what a tool has just found goes first
_FOREIGN = 1.0  # wording in another language goes last


@attrs.frozen
class Part:
    """One thing to say.

    Attributes:
        text: The words.
        score: How well it answers, for the order of parts.
        response: The approved response it is, where it is one.
        fields: The values of its fields, as written.
        is_question: Whether it asks for something; questions come last.
        rule: The rule that it speaks for.
        covers: How near it is to each text heard.
    """

    text: str
    score: float
    response: CannedResponseId | None = None
    fields: Mapping[str, str] = attrs.field(factory=dict)
    is_question: bool = False
    rule: RuleId | None = None
    covers: tuple[float, ...] = ()


@attrs.frozen
class Chooser:
    """Chooses for one turn.

    Attributes:
        snapshot: The catalog, for who depends on whom.
        nearness: How near all wording in view is to what was heard.
        requests: Which of the texts heard may each want an answer.
        language: Of the customer, where known.
        fit: Nearness from which wording fits by itself.
    """

    snapshot: CatalogSnapshot
    nearness: Nearness
    requests: Sequence[int]
    language: str | None
    fit: float

    def from_rules(self, readings: Iterable[Reading]) -> Sequence[Part]:
        """Return the parts of the rules that are about the new message, the best first.

        One response for each rule. A further rule speaks where its score is not far below the
        best one's; an observation where no answered policy depends on it.
        """
        ranked = self._ranked(each for each in readings if self._evidence(each) >= FRESH)
        parts: list[Part] = []
        answered: list[Reading] = []
        for reading in (
            *(each for each in ranked if each.is_policy),
            *(each for each in ranked if not each.is_policy),
        ):
            if self._score(reading) < _SHARE * self._score(ranked[0]):
                continue
            if not reading.is_policy and self._is_needed(reading, answered):
                continue
            answered.append(reading)
            parts.extend(self._parts(reading))
        return parts

    def standing(self, readings: Iterable[Reading]) -> Sequence[Part]:
        """Return the best response of a rule that applies on every turn, whatever is said.

        Other rules that are not about the message are old topics, and are not taken up again.
        """
        idle = [each for each in readings if each.rule.matcher == ALWAYS and each.usable]
        return self._parts(self._ranked(idle)[0]) if idle else ()

    def from_wide(
        self,
        wide: Iterable[Approved],
        render: Callable[[Approved], Rendering],
        said: Sequence[Part] = (),
    ) -> Sequence[Part]:
        """Return the responses that fit a text heard which nothing `said` is nearer to.

        Args:
            wide: Responses that no rule carries.
            render: Fills one; asked only for those that are near enough.
            said: What is going to be said already.
        """
        found: list[Part] = []
        for approved in wide:
            near = self.nearness.to(approved.texts)
            if near + _RESULT < self.fit or not approved.speaks(self.language):
                continue
            rendering = render(approved)
            gain = _RESULT if rendering.from_results else 0.0
            if rendering.text is None or near + gain < self.fit:
                continue
            found.append(
                Part(
                    rendering.text,
                    near + gain,
                    approved.id,
                    rendering.values,
                    covers=self.nearness.profile(approved.texts),
                )
            )
        found.sort(key=lambda part: (-part.score, part.response or ""))
        kept: list[Part] = []
        for part in found:
            if self._adds(part, (*said, *kept)):
                kept.append(part)
        return kept

    def _adds(self, part: Part, said: Sequence[Part]) -> bool:
        """Say whether `part` answers a request that nothing `said` is as near to."""
        if not said:
            return True
        if len(self.requests) < 2 or not part.covers:
            return False
        best = max(self.requests, key=lambda place: part.covers[place])
        own = part.covers[best]
        return own >= self.fit + _FURTHER and all(
            not each.covers or own > each.covers[best] for each in said
        )

    def _ranked(self, readings: Iterable[Reading]) -> list[Reading]:
        return sorted(readings, key=lambda each: (-self._score(each), each.rule.id))

    def _evidence(self, reading: Reading) -> float:
        near = self.nearness.to(reading.texts)
        return max(reading.evidence, _FITS) if near >= self.fit else reading.evidence

    def _score(self, reading: Reading) -> float:
        near = self.nearness.to(reading.texts)
        return round(self._evidence(reading) + _NEARNESS * near + reading.bonus, 4)

    def _is_needed(self, observation: Reading, answered: Iterable[Reading]) -> bool:
        return any(
            observation.rule.id in self.snapshot.needed_by(each.rule.id) for each in answered
        )

    def _parts(self, reading: Reading) -> Sequence[Part]:
        score = self._score(reading)
        covers = self.nearness.profile(reading.texts)
        if reading.usable:
            best = max(reading.usable, key=self._response_score)
            return (
                Part(
                    best.rendering.text or "",
                    score,
                    best.approved.id,
                    best.rendering.values,
                    rule=reading.rule.id,
                    covers=covers,
                ),
            )
        asked = tuple(
            Part(
                each.rendering.text or "",
                score,
                each.response,
                each.rendering.values,
                is_question=True,
                rule=reading.rule.id,
                covers=covers,
            )
            for each in reading.questions
        )
        if asked or reading.failure is None:
            return asked
        return (Part(reading.failure.text or "", score, rule=reading.rule.id, covers=covers),)

    def _response_score(self, usable: Usable) -> float:
        score = self.nearness.to(usable.approved.texts)
        if usable.rendering.from_results:
            score += _RESULT
        if not usable.approved.speaks(self.language):
            score -= _FOREIGN
        return score


def arranged(parts: Sequence[Part], *, limit: int, limit_with_questions: int) -> Sequence[Part]:
    """Return what is said, each text once: statements, then questions, each the best first.

    At least one question stays where there is one, since the turn waits for its answer.
    """
    unique: dict[str, Part] = {}
    for part in parts:
        unique.setdefault(part.text, part)
    statements = [part for part in unique.values() if not part.is_question]
    questions = [part for part in unique.values() if part.is_question]
    if not questions:
        return statements[:limit]
    kept = statements[: min(limit, limit_with_questions - 1)]
    return (*kept, *questions[: limit_with_questions - len(kept)])
