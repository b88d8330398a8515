"""The default planner: the effort table, the agent's iterations, the operator's limits."""

from __future__ import annotations

from poise import Planner
from poise.turn.context import Plan, TurnContext
from poise.values.rules import Weight
from poise_matching.asking import has_decision_model
from poise_matching.effort import TABLE, judgement
from poise_matching.settings import MatchingSettings


class EffortPlanner(Planner):
    """Plans by the effort table, and judges more rules where a decision model serves verdicts."""

    def __init__(self, settings: MatchingSettings) -> None:
        self._settings = settings

    async def plan(self, turn: TurnContext) -> Plan:
        spending = TABLE[turn.effort]
        decides = has_decision_model(turn)
        return Plan(
            effort=turn.effort,
            max_iterations=turn.agent.max_iterations,
            judged=frozenset(
                weight
                for weight in Weight
                if judgement(turn.effort, weight, decides=decides, consequential=False).judged
            ),
            one_request=spending.one_request,
            explain=spending.explain,
            admit_limit=self._settings.admit_limit,
            reconsider=spending.reconsider,
        )
