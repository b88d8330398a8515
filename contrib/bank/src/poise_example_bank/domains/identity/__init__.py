"""Identity: who the customer is, and how the bank knows."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.identity.answers import ANSWERS


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules and wording."""
    topic = await agent.create_observation(
        title="About identity",
        when="the customer talks about who they are or about their personal details",
        signals=["my identity", "my personal details", "logging in to my account"],
    )
    await install_answers(agent, ANSWERS, topic)
