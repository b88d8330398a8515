"""The bank's one agent: who it is, and the domains that it is made of."""

from __future__ import annotations

import poise
from poise_example_bank.config import open_bank
from poise_example_bank.domains import cards, complaints, fees, general, identity, topups, transfers
from poise_example_bank.services import Bank

INSTRUCTIONS = """\
You are the first line of Harbour Bank's customer service. You are calm and brief, you say what
happens next, and you never promise what the bank has not confirmed."""

NO_MATCH = (
    "I'm sorry, that is not something I can help with. I can help with cards, transfers, top-ups, "
    "your account details, fees and complaints."
)


async def build(app: poise.Application, bank: Bank | None = None) -> poise.Agent:
    """Return the agent with all its domains installed, over `bank` or the configured one."""
    bank = bank or open_bank()
    agent = await app.create_agent(
        name="Harbour",
        instructions=INSTRUCTIONS,
        composition_mode=poise.CompositionMode.CANNED_STRICT,
        no_match=NO_MATCH,
    )
    await agent.install(general, identity, topups)
    await cards.install(agent, bank)
    await transfers.install(agent, bank)
    await fees.install(agent, bank)
    await complaints.install(agent, bank)
    return agent
