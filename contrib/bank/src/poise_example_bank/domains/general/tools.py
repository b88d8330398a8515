"""How the agent steps back."""

from __future__ import annotations

import poise


@poise.tool
async def hand_over(context: poise.ToolContext) -> poise.ToolResult:
    """Hand the conversation over to a person."""
    return poise.ToolResult(data="handed over", mode="manual", labels=["handed-over"])
