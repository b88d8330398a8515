"""Complaints: taken seriously, and before anything else."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.complaints.answers import ANSWERS
from poise_example_bank.domains.complaints.tools import complaint_tool
from poise_example_bank.domains.fees import SALES
from poise_example_bank.domains.general import SMALL_TALK
from poise_example_bank.services import Bank


async def install(agent: poise.Agent, bank: Bank) -> None:
    """Declare the domain's rules, tools and wording; complaints outrank sales everywhere."""
    topic = await agent.create_observation(
        title="About a complaint",
        when="the customer is unhappy with the bank",
        signals=[
            "I am unhappy with your bank",
            "this is unacceptable",
            "so disappointed in you",
            "ridiculous how you treat people",
            "the way you treat customers is awful",
        ],
        weight=poise.Weight.HIGH,
    )
    complaint = await agent.create_policy(
        title="Take a complaint",
        when="the customer complains",
        then="say sorry, open a complaint and name its reference",
        signals=[
            "I want to complain",
            "this is a disgrace",
            "your service is terrible",
            "I am really angry with you",
            "worst bank ever",
            "i've been waiting for weeks and nobody helps",
            "this is ridiculous",
            "you people are useless",
            "I want to complain about your fees",
            "i want to file a complaint",
        ],
        anti_signals=[
            "what about my complaint",
            "who is the ombudsman",
            "how much does it cost",
            "is there a cheaper plan",
            "my washing machine is broken",
        ],
        tools=[complaint_tool(bank)],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        labels=["complaint"],
        canned_responses=[
            "I'm sorry about this. I have opened the complaint {case}; a person looks at it and "
            "answers you within two working days."
        ],
    )
    await complaint.prioritize_over(poise.any_of(SALES))
    await complaint.exclude(poise.any_of(SMALL_TALK))
    await install_answers(agent, ANSWERS, topic)
