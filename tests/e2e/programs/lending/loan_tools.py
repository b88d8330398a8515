"""What the agent may look up about loans."""

from __future__ import annotations

import catalogue

import poise as p


@p.tool
async def list_loans(context: p.ToolContext) -> p.ToolResult:
    """List what the reader has on loan."""
    return p.ToolResult(catalogue.READERS.get(context.customer, []))


@p.tool
async def get_loan_status(context: p.ToolContext, loan_number: str) -> p.ToolResult:
    """Say when a loan is due.

    Args:
        loan_number: The number of the loan, such as L-100.
    """
    loan = catalogue.LOANS.get(loan_number)
    if loan is None:
        return p.ToolResult(error=f"there is no loan {loan_number}")
    return p.ToolResult(loan, fields=loan)
