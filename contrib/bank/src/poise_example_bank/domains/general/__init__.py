"""What belongs to no domain: greetings, small talk, and the way to a person."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.general.answers import ANSWERS
from poise_example_bank.domains.general.tools import hand_over

SMALL_TALK = "small talk"
"""The tag of what is said for the sake of talking; a complaint removes it."""


async def install(agent: poise.Agent) -> None:
    """Declare what holds for every conversation."""
    await install_answers(agent, ANSWERS)
    await agent.create_policy(
        title="Small talk",
        when="the customer makes small talk",
        then="answer kindly and come back to the bank",
        signals=[
            "how are you today",
            "how are you doing",
            "how is it going",
            "nice weather today",
            "its so hot outside isnt it",
            "what do you do for fun",
            "how was your weekend",
            "do you like your job",
            "tell me a joke",
            "did you see the match last night",
        ],
        anti_signals=["hello", "who are you", "when are you open", "have a nice day, bye"],
        tags=[SMALL_TALK],
        canned_responses=["I'm fine, thank you. What can I do for you at the bank?"],
    )
    await agent.create_policy(
        title="Speak to a person",
        when="the customer wants to speak to a person",
        then="hand the conversation over",
        signals=[
            "I want to talk to a human",
            "get me a real person",
            "speak to an agent",
            "connect me to an employee",
            "can i talk to somebody on the phone",
            "let me speak to your supervisor",
            "no more robots please",
            "human please!!",
            "is there anyone who can actually help me",
        ],
        anti_signals=["are you a robot", "are you a real person", "can you help me"],
        tools=[hand_over],
        weight=poise.Weight.HIGH,
        canned_responses=["I'm handing you over to a colleague, who can read all that we wrote."],
    )
