"""What the agent can look up about charges."""

from __future__ import annotations

import poise
from poise_example_bank.config import bank


@poise.tool
async def latest_payments(context: poise.ToolContext) -> dict[str, str]:
    """List the customer's latest payments."""
    payments = await bank().payments(context.customer)
    listed = "; ".join(
        f"{each.merchant} {each.amount:.2f} on {each.on:%d %B} ({each.reference})"
        for each in payments
    )
    return {"payments": listed}
