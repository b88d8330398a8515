"""What the agent can do with transfers."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

import poise
from poise_example_bank.services import Bank, NotEnoughMoneyError, UnknownReferenceError

Amount = Annotated[
    float,
    poise.ToolParameter(
        description="How much to send, in euros",
        question="How much would you like to send?",
        precedence=2,
    ),
]
Recipient = Annotated[
    str,
    poise.ToolParameter(
        description="The account of the recipient: an IBAN",
        pattern=r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}",
        question="Which account shall it go to? Please give me the IBAN.",
        precedence=1,
    ),
]
Reference = Annotated[
    str,
    poise.ToolParameter(
        description="The transfer's reference",
        pattern=r"T-\d{4}",
        question="What is the transfer's reference? It looks like T-1234.",
    ),
]


@attrs.frozen
class TransferTools:
    """The domain's tools."""

    send_money: poise.DeclaredTool[..., Any]
    transfer_status: poise.DeclaredTool[..., Any]


def transfer_tools(bank: Bank) -> TransferTools:
    """Return the tools over one bank."""

    @poise.tool(consequential=True)
    async def send_money(
        context: poise.ToolContext, recipient: Recipient, amount: Amount
    ) -> dict[str, str]:
        """Send money from the customer's account to an IBAN."""
        try:
            sent = await bank.transfer(context.customer, recipient, amount, context.key)
        except NotEnoughMoneyError as exc:
            return {"transfer_problem": str(exc)}
        return {
            "transfer_reference": sent.reference,
            "transfer_amount": f"{sent.amount:.2f}",
            "transfer_recipient": sent.recipient,
        }

    @poise.tool
    async def transfer_status(context: poise.ToolContext, reference: Reference) -> dict[str, str]:
        """Look up where a transfer is."""
        try:
            found = await bank.find_transfer(context.customer, reference)
        except UnknownReferenceError as exc:
            return {"status_problem": str(exc)}
        return {
            "status_reference": found.reference,
            "status_recipient": found.recipient,
            "status": found.state,
        }

    return TransferTools(send_money, transfer_status)
