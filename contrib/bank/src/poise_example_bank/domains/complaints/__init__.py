"""Complaints: taken seriously, and before anything else."""

from __future__ import annotations

import poise
from poise_example_bank.domains.complaints.tools import hand_over, open_complaint
from poise_example_bank.domains.plain import Row, install_rows


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules, tools and wording; complaints outrank sales everywhere."""
    topic = await agent.create_observation(
        title="About a complaint",
        when="the customer is unhappy with the bank",
        signals=["I am unhappy with your bank", "this is unacceptable", "I want to complain"],
        weight=poise.Weight.HIGH,
    )
    complaint = await agent.create_policy(
        title="Take a complaint",
        when="the customer complains",
        then="say sorry, open a complaint and name its reference",
        signals=[
            "I want to make a complaint",
            "this is a disgrace",
            "your service is terrible",
            "I am really angry with you",
            "worst bank ever",
            "i've been waiting for weeks and nobody helps",
            "this is ridiculous, I want to complain",
            "you people are useless",
        ],
        tools=[open_complaint],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        labels=["complaint"],
        canned_responses=[
            "I'm sorry about this. I have opened the complaint {case}; a person looks at it and "
            "answers you within two working days."
        ],
    )
    await complaint.prioritize_over(poise.any_of("sales"))
    small_talk = await agent.create_policy(
        title="Small talk",
        when="the customer makes small talk",
        then="answer kindly and come back to the bank",
        signals=[
            "how are you today",
            "nice weather today",
            "what do you do for fun",
            "how was your weekend",
            "do you like your job",
            "tell me a joke",
        ],
        canned_responses=["I'm fine, thank you. What can I do for you at the bank?"],
    )
    await complaint.exclude(small_talk)
    await agent.create_policy(
        title="Speak to a person",
        when="the customer wants to speak to a person",
        then="hand the conversation over",
        signals=[
            "I want to talk to a human",
            "get me a real person",
            "speak to an agent",
            "connect me to an employee",
            "can i talk to somebody",
            "let me speak to your supervisor",
            "no more robots please",
        ],
        tools=[hand_over],
        weight=poise.Weight.HIGH,
        canned_responses=["I'm handing you over to a colleague, who reads along from the start."],
    )
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "State of a complaint",
        "the customer asks how a complaint stands",
        [
            "what about my complaint",
            "any news on my case",
            "I complained last week and heard nothing",
            "status of complaint C-3001",
            "when do i get an answer to my complaint",
            "is someone working on my complaint",
        ],
        "A complaint is answered within two working days, by email and in the app under Help, Cases.",
    ),
    (
        "Ombudsman",
        "the customer asks who decides over a complaint outside the bank",
        [
            "who is the ombudsman",
            "I will go to the regulator",
            "where can I complain about you officially",
            "financial ombudsman contact",
            "i'll report you to the authorities",
            "independent complaint office",
        ],
        "If our answer does not satisfy you, the financial ombudsman decides free of charge. You find "
        "the address in the app under Help, Complaints.",
    ),
    (
        "Compensation",
        "the customer asks for compensation",
        [
            "I want compensation",
            "will you pay me for the trouble",
            "I lost money because of your mistake",
            "refund my fees because of the outage",
            "what do i get for this mess",
            "you owe me money for this",
        ],
        "Whether we owe you something is decided with your complaint. Please add what it cost you in "
        "the app under Help, Cases.",
    ),
    (
        "App outage",
        "the app does not work",
        [
            "your app is down",
            "the app keeps crashing",
            "is there an outage",
            "app doesn't open since this morning",
            "online banking not available",
            "nothing loads in the app",
        ],
        "The state of all our services is on status.harbour.example. If it shows nothing, please "
        "install the latest version of the app.",
    ),
]
