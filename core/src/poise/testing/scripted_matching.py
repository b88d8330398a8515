"""A matcher and a planner that follow a script, and a resolver so plain that it must be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from poise.ports.matching import Matcher, Planner
from poise.testing.naive_resolving import NaiveResolver
from poise.turn.candidates import Candidate
from poise.turn.context import Plan, TurnContext
from poise.turn.models import Question
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import RuleId

__all__ = ["NaiveResolver", "ScriptedMatcher", "ScriptedPlanner"]


class ScriptedMatcher(Matcher):
    """Claims every rule and answers from a script; what the script leaves out is undecided.

    Args:
        script: The verdict's kind, by rule.
        asks: Ask one question per candidate instead, and conclude from the answers.
    """

    name = "scripted"

    def __init__(
        self, script: Mapping[RuleId, VerdictKind] | None = None, *, asks: bool = False
    ) -> None:
        self._script = script or {}
        self._asks = asks

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return True

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        if self._asks:
            questions = tuple(Question(each.rule.id, each.rule.name) for each in candidates)
            return Inquiry("Answer the questions.", questions)
        return [
            Verdict(each.rule.id, self._script.get(each.rule.id, VerdictKind.UNDECIDED), self.name)
            for each in candidates
        ]

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        kinds = {True: VerdictKind.APPLIES, False: VerdictKind.DOES_NOT}
        found = ((each.rule.id, answers.get(each.rule.id)) for each in candidates)
        return [
            Verdict(
                rule,
                VerdictKind.UNDECIDED if answer.yes is None else kinds[answer.yes],
                f"{self.name}/{answer.judged_by}",
                answer.probability,
            )
            for rule, answer in found
        ]


class ScriptedPlanner(Planner):
    """Plans every turn alike, at the turn's own effort."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan or Plan()

    async def plan(self, turn: TurnContext) -> Plan:
        return attrs.evolve(self._plan, effort=turn.effort)
