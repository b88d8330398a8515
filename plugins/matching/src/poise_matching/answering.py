"""The matcher for rules that asked the customer for something: an answer keeps them in force.

A bare "4417" says nothing about a lost card. It does when the last reply asked for the card's last
digits on behalf of a rule, and the digits are there now.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise import Extractor, Matcher, StashKey
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.tooling import Fact, Field
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import RuleId
from poise_matching.decision_batch import DecisionBatchMatcher
from poise_matching.settings import MatchingSettings


@attrs.frozen
class _Answered:
    """The verdicts that were clear before anything was asked."""

    verdicts: dict[RuleId, Verdict]


_ANSWERED = StashKey("matching.answering", _Answered)


class AnsweringMatcher(Matcher):
    """Judges the rules for whose sake the last reply asked for a tool's arguments.

    One whose argument stands in the new messages applies; the others are asked about like any
    rule, since the customer may have turned to something else.
    """

    name = "answering"

    def __init__(self, extractor: Extractor, settings: MatchingSettings) -> None:
        self._extractor = extractor
        self._batch = DecisionBatchMatcher(settings)

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.matcher is None and candidate.rule.id in turn.state.awaiting

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        answered: dict[RuleId, Verdict] = {}
        for candidate in candidates:
            fact = await self._answer(candidate.rule.id, turn)
            if fact is not None:
                answered[candidate.rule.id] = Verdict(
                    candidate.rule.id,
                    VerdictKind.APPLIES,
                    judged_by=self.name,
                    rationale=f"the customer answered for {fact.field}: {fact.source!r}",
                )
        turn.stash.put(_ANSWERED, _Answered(answered))
        left = [each for each in candidates if each.rule.id not in answered]
        return await self._batch.inquire(left, turn) if left else list(answered.values())

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        kept = turn.stash.get(_ANSWERED)
        answered = kept.verdicts if kept else {}
        left = [each for each in candidates if each.rule.id not in answered]
        return [*answered.values(), *self._batch.conclude(left, answers, turn)]

    async def _answer(self, rule: RuleId, turn: TurnContext) -> Fact | None:
        """Return what the new messages say for an argument that was asked for, or `None`."""
        awaited = turn.state.awaiting[rule]
        tool = turn.snapshot.tool_named(awaited.tool)
        if tool is None:
            return None
        wanted = [tool.parameter(name) for name in awaited.parameters]
        fields = [Field(parameter, tool.name) for parameter in wanted if parameter is not None]
        facts = await self._extractor.extract(fields, turn)
        return next(
            (fact for fact in facts if fact.offset is not None and fact.offset >= turn.base), None
        )
