"""The default planner: the effort table, the agent's iterations, the operator's limits."""

from __future__ import annotations

from poise import Planner
from poise.turn.context import Plan, TurnContext
from poise.turn.models import Capability
from poise_matching.effort import TABLE
from poise_matching.settings import MatchingSettings

VERDICT_ROUTE = "matching.verdict"
"""The route over which verdicts are asked for."""


class EffortPlanner(Planner):
    """Plans by the effort table, and judges more rules where a decision model serves verdicts."""

    def __init__(self, settings: MatchingSettings) -> None:
        self._settings = settings

    async def plan(self, turn: TurnContext) -> Plan:
        spending = TABLE[turn.effort]
        decides = turn.models.way(VERDICT_ROUTE, Capability.DECIDE) is Capability.DECIDE
        return Plan(
            effort=turn.effort,
            max_iterations=turn.agent.max_iterations,
            judged=spending.judged_by_decisions if decides else spending.judged,
            one_request=spending.one_request,
            explain=spending.explain,
            admit_limit=self._settings.admit_limit,
            reconsider="matching.reconsider",
        )
