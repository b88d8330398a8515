"""The bank's one agent: who it is, and the domains that it is made of."""

from __future__ import annotations

import poise
from poise_example_bank.domains import cards, complaints, fees, general, identity, topups, transfers

INSTRUCTIONS = """\
You are the first line of Harbour Bank's customer service. You are calm and brief, you say what
happens next, and you never promise what the bank has not confirmed."""

NO_MATCH = (
    "I'm sorry, that is not something I can help with. I can help with cards, transfers, top-ups, "
    "your account details, fees and complaints."
)


async def build(app: poise.Application) -> poise.Agent:
    """Return the agent with all its domains installed."""
    agent = await app.create_agent(
        name="Harbour",
        instructions=INSTRUCTIONS,
        composition_mode=poise.CompositionMode.CANNED_STRICT,
        no_match=NO_MATCH,
    )
    await general.install(agent)
    for domain in (cards, transfers, topups, identity, fees):
        await domain.install(agent)
    await complaints.install(agent)
    return agent
