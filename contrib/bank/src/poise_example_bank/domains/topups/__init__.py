"""Top-ups: putting money on the account by card, cash or another way."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.topups.answers import ANSWERS


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules and wording."""
    await agent.create_term(
        name="top-up",
        description="Putting money on the account from outside.",
        synonyms=["topping up", "recharge"],
    )
    topic = await agent.create_observation(
        title="About top-ups",
        when="the customer talks about topping up the account",
        signals=["about a top up", "topping up", "add money to my account"],
    )
    await install_answers(agent, ANSWERS, topic)
