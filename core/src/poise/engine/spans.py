"""Names of the engine's spans and their attributes, in one place."""

from __future__ import annotations

TURN = "poise.turn"
STAGE = "poise.stage."
MODEL = "poise.model"
TOOL = "poise.tool"

SESSION_ID = "poise.session.id"
TURN_ID = "poise.turn.id"
AGENT_ID = "poise.agent.id"
WAKE = "poise.turn.wake"
END = "poise.turn.end"
ROUTE = "poise.route"
MODEL_NAME = "gen_ai.request.model"
OPERATION = "gen_ai.operation.name"
ITEMS = "poise.model.items"
TOOL_NAME = "poise.tool.name"
TOOL_KEY = "poise.tool.key"
TOOL_OUTCOME = "poise.tool.outcome"
