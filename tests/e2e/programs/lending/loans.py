"""The domain of loans: its words, its facts, its one policy."""

from __future__ import annotations

import loan_tools as tools

import poise as p


async def install(agent: p.Agent) -> None:
    await agent.create_term(
        name="due date",
        description="The day on which a loan must be back. Renewing it sets a new one.",
        synonyms=["return date", "back by"],
    )

    await agent.create_variable(
        name="loans_out",
        description="What the reader has on loan now",
        tool=tools.list_loans,
        freshness_rules="*/10 * * * *",
    )

    await agent.create_policy(
        title="Loan status",
        content="When a reader asks when a loan is due, look it up with `get_loan_status` "
        "and tell them the due date.",
        tools=[tools.get_loan_status],
        canned_responses=["{{title}} is due on {{due}}."],
    )
