"""What the agent can look up about the account: charges, balance, plan."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs

import poise
from poise_example_bank.services import Bank


@attrs.frozen
class AccountTools:
    """The domain's tools."""

    latest_payments: poise.DeclaredTool[..., Any]
    load_balance: poise.DeclaredTool[..., Any]


def account_tools(bank: Bank) -> AccountTools:
    """Return the tools over one bank."""

    @poise.tool
    async def latest_payments(context: poise.ToolContext) -> dict[str, str]:
        """List the customer's latest payments."""
        payments = await bank.payments(context.customer)
        listed = "; ".join(
            f"{each.merchant} {each.amount:.2f} on {each.on:%d %B} ({each.reference})"
            for each in payments
        )
        return {"payments": listed}

    @poise.tool
    async def load_balance(context: poise.ToolContext) -> str:
        """Load what is on the customer's account."""
        return f"{await bank.balance(context.customer):.2f}"

    return AccountTools(latest_payments, load_balance)


def standard_plan(bank: Bank) -> Callable[[poise.TurnContext], Awaitable[bool]]:
    """Return the matcher that tells whom the paid plan can be offered to."""

    async def is_on_standard_plan(turn: poise.TurnContext) -> bool:
        return await bank.plan(turn.customer.id) == "Standard"

    return is_on_standard_plan
