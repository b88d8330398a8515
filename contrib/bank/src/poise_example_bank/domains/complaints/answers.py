"""Approved answers around complaints."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="State of a complaint",
        when="the customer asks how a complaint stands",
        signals=[
            "what about my complaint",
            "any news on my case",
            "I complained last week and heard nothing",
            "status of complaint C-3001",
            "when do i get an answer to my complaint",
            "is someone working on my complaint",
            "did you look at my complaint yet",
        ],
        anti_signals=[
            "I want to complain",
            "i want to file a complaint",
            "status of transfer T-2001",
        ],
        wording=(
            "A complaint is answered within two working days, by email and in the app under Help, "
            "Cases."
        ),
    ),
    Answer(
        title="Ombudsman",
        when="the customer asks who decides over a complaint outside the bank",
        signals=[
            "who is the ombudsman",
            "I will go to the regulator",
            "where can I complain about you officially",
            "financial ombudsman contact",
            "i'll report you to the authorities",
            "independent complaint office",
            "my lawyer will hear about this",
        ],
        anti_signals=[
            "let me talk to a human",
            "report the theft to the police",
            "I want to complain",
            "i want to file a complaint",
            "what about my complaint",
        ],
        wording=(
            "If our answer does not satisfy you, the financial ombudsman decides free of charge. "
            "You find the address in the app under Help, Complaints."
        ),
    ),
    Answer(
        title="Compensation",
        when="the customer asks for compensation",
        signals=[
            "I want compensation",
            "will you pay me for the trouble",
            "I lost money because of your mistake",
            "refund my fees because of the outage",
            "what do i get for this mess",
            "you owe me money for this",
            "i expect a voucher for the trouble",
        ],
        anti_signals=["where is my refund", "your fees are too high", "I want to complain"],
        wording=(
            "Whether we owe you something is decided with your complaint. Please add what it cost "
            "you in the app under Help, Cases."
        ),
    ),
    Answer(
        title="App outage",
        when="the app does not work",
        signals=[
            "your app is down",
            "the app keeps crashing",
            "is there an outage",
            "app doesn't open since this morning",
            "online banking not available",
            "nothing loads in the app",
            "the website is not working",
            "app not working",
        ],
        anti_signals=["I forgot my password", "my card doesn't work", "it wont let me send money"],
        wording=(
            "The state of all our services is on status.harbour.example. If it shows nothing, "
            "please install the latest version of the app."
        ),
    ),
)
