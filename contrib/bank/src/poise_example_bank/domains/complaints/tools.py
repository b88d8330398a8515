"""What the agent can do for a customer who is unhappy."""

from __future__ import annotations

from typing import Any

import poise
from poise_example_bank.services import Bank


def complaint_tool(bank: Bank) -> poise.DeclaredTool[..., Any]:
    """Return the tool that opens complaints at one bank."""

    @poise.tool(consequential=True)
    async def open_complaint(context: poise.ToolContext) -> dict[str, str]:
        """Open a complaint for the customer."""
        return {"case": await bank.open_case(context.customer, "complaint", context.key)}

    return open_complaint
