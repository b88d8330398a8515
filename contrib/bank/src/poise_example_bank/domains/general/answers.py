"""Approved answers that belong to no domain."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Greeting",
        when="the customer greets",
        signals=[
            "hello",
            "hi",
            "hi there",
            "hey",
            "heyy",
            "good morning",
            "good evening",
            "hello, anybody there?",
        ],
        anti_signals=["bye", "goodbye", "thank you", "how are you", "see you"],
        wording="Hello, this is Harbour Bank. How can I help you?",
    ),
    Answer(
        title="Thanks",
        when="the customer says thank you",
        signals=[
            "thank you",
            "thanks a lot",
            "great, thanks",
            "cheers mate",
            "thank you so much",
            "thx",
            "perfect thanks for your help",
            "ty",
        ],
        anti_signals=["bye", "hello", "no thanks for nothing, you are useless"],
        wording="You're welcome. Is there anything else?",
    ),
    Answer(
        title="Goodbye",
        when="the customer takes leave",
        signals=[
            "bye",
            "goodbye",
            "that is all, bye",
            "see you later",
            "have a nice day, bye",
            "nothing else, bye",
            "ok bye then",
            "good night, talk to you later",
        ],
        anti_signals=[
            "hi",
            "hello",
            "hey",
            "good morning",
            "how is it going",
            "how are you",
            "I want to leave your bank",
        ],
        wording="Goodbye, and have a good day.",
    ),
    Answer(
        title="Who is speaking",
        when="the customer asks whether this is a machine",
        signals=[
            "are you a robot",
            "am I talking to a human",
            "who are you",
            "is this a bot",
            "are you a real person",
            "what are you exactly",
            "are you chatgpt",
            "is this an automatic reply",
        ],
        anti_signals=["let me talk to a human", "who am I for you", "verify who I am"],
        wording=(
            "I'm Harbour, the bank's assistant: a program. I can hand you over to a person "
            "whenever you like."
        ),
    ),
    Answer(
        title="Opening hours",
        when="the customer asks when the bank is open",
        signals=[
            "what are your opening hours",
            "when are you open",
            "is the branch open on saturday",
            "until when can I come to the bank",
            "are you open tomorrow",
            "branch hours",
            "what time do you close today",
            "can i come by on sunday",
        ],
        anti_signals=["open an account", "when will my transfer arrive"],
        wording=(
            "Our branches are open from 9 to 17 on weekdays. In the app we are there day and night."
        ),
    ),
)
