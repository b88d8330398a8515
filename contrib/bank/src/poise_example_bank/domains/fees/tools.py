"""What the agent can look up about charges and plans."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import poise
from poise_example_bank.services import Bank


def payments_tool(bank: Bank) -> poise.DeclaredTool[..., Any]:
    """Return the look-up of payments over one bank."""

    @poise.tool
    async def latest_payments(context: poise.ToolContext) -> dict[str, str]:
        """List the customer's latest payments."""
        payments = await bank.payments(context.customer)
        listed = "; ".join(
            f"{each.merchant} {each.amount:.2f} on {each.on:%d %B} ({each.reference})"
            for each in payments
        )
        return {"payments": listed}

    return latest_payments


def standard_plan(bank: Bank) -> Callable[[poise.TurnContext], Awaitable[bool]]:
    """Return the matcher that tells whom the paid plan can be offered to."""

    async def is_on_standard_plan(turn: poise.TurnContext) -> bool:
        return await bank.plan(turn.customer.id) == "Standard"

    return is_on_standard_plan
