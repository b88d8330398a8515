"""What the agent can do for a customer who is unhappy."""

from __future__ import annotations

import poise
from poise_example_bank.config import bank


@poise.tool(consequential=True)
async def open_complaint(context: poise.ToolContext) -> dict[str, str]:
    """Open a complaint for the customer, once per conversation turn."""
    case = await bank().open_case(context.customer, "complaint", context.key)
    return {"case": case}


@poise.tool
async def hand_over(context: poise.ToolContext) -> poise.ToolResult:
    """Hand the conversation over to a person."""
    return poise.ToolResult(data="handed over", mode="manual", labels=["handed-over"])
