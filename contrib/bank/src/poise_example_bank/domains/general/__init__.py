"""What belongs to no domain: greetings, thanks, who is speaking."""

from __future__ import annotations

import poise

ROWS = [
    (
        "Greeting",
        "the customer greets",
        ["hello", "hi there", "good morning", "hey", "good evening", "hi", "hello, anybody there?"],
        "Hello, this is Harbour Bank. How can I help you?",
    ),
    (
        "Thanks",
        "the customer says thank you",
        ["thank you", "thanks a lot", "great, thanks", "cheers", "thank you so much", "thx"],
        "You're welcome. Is there anything else?",
    ),
    (
        "Goodbye",
        "the customer takes leave",
        ["bye", "goodbye", "that is all, bye", "see you", "have a nice day", "nothing else, bye"],
        "Goodbye, and have a good day.",
    ),
    (
        "Who is speaking",
        "the customer asks whether this is a machine",
        [
            "are you a robot",
            "am I talking to a human",
            "who are you",
            "is this a bot",
            "are you a real person",
            "what are you",
        ],
        "I'm Harbour, the bank's assistant: a program. I can hand you over to a person whenever you "
        "like.",
    ),
    (
        "Opening hours",
        "the customer asks when the bank is open",
        [
            "what are your opening hours",
            "when are you open",
            "is the branch open on saturday",
            "until when can I come to the bank",
            "are you open tomorrow",
            "branch hours",
        ],
        "Our branches are open from 9 to 17 on weekdays. In the app we are there day and night.",
    ),
]


async def install(agent: poise.Agent) -> None:
    """Declare what holds for every conversation."""
    for title, when, signals, wording in ROWS:
        await agent.create_policy(
            title=title,
            when=when,
            then="answer in one sentence",
            signals=signals,
            canned_responses=[wording],
        )
