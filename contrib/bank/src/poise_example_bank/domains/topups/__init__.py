"""Top-ups: putting money on the account by card, cash or another way."""

from __future__ import annotations

import poise
from poise_example_bank.domains.plain import Row, install_rows


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
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "Top up by card",
        "the customer wants to top up with a card",
        [
            "how do I top up with my card",
            "add money with a debit card",
            "top up my account using a credit card",
            "can i charge my account from another bank's card",
            "put money on the account by card",
            "topup via visa",
        ],
        "In the app tap Add money, choose the card and the amount. The money is there at once.",
    ),
    (
        "Failed top-up",
        "a top-up of the customer failed",
        [
            "my top up failed",
            "top-up was declined",
            "adding money did not work",
            "i tried to top up and got an error",
            "topup rejected by the app",
            "the top up didn't go through",
        ],
        "A top-up fails when the other bank refuses the card or asks for a confirmation. Please "
        "confirm it in the other bank's app and try again.",
    ),
    (
        "Pending top-up",
        "a top-up of the customer is still pending",
        [
            "my top up is pending",
            "top-up still not on my account",
            "when will my topup show up",
            "I added money an hour ago and don't see it",
            "top up is taking forever",
            "pending topup",
        ],
        "A top-up by card is there within a few minutes, by bank within one working day. If it is "
        "not, it goes back to where it came from.",
    ),
    (
        "Top-up limit",
        "the customer asks how much can be topped up",
        [
            "what is the top up limit",
            "maximum top-up",
            "how much money can I add at once",
            "can i top up 5000",
            "limit for adding money",
            "smallest amount i can top up",
        ],
        "You can add between 10 and 2,000 euros at a time, and up to 5,000 a month.",
    ),
    (
        "Automatic top-up",
        "the customer asks about automatic top-ups",
        [
            "set up automatic top-up",
            "auto top up when my balance is low",
            "turn off auto top-up",
            "recharge my account automatically",
            "automatic topup every month",
            "stop topping up by itself",
        ],
        "Automatic top-ups are in the app under Add money, Automatic: set the balance below which "
        "to add money, and how much.",
    ),
    (
        "Top up with cash",
        "the customer wants to pay in cash or a cheque",
        [
            "can I pay in cash",
            "deposit cash into my account",
            "top up with a cheque",
            "where can i put cash on my account",
            "pay in notes and coins",
            "bring a cheque to you",
        ],
        "You can pay in cash at every Harbour cash machine with a slot for notes. We do not take "
        "cheques.",
    ),
    (
        "Top up by phone wallet",
        "the customer wants to top up with a phone's wallet",
        [
            "top up with apple pay",
            "can I add money with google pay",
            "topping up from my phone wallet",
            "use my watch to add money",
            "does apple pay work for top ups",
            "add funds by mobile wallet",
        ],
        "Yes: in Add money choose your phone's wallet instead of a card.",
    ),
    (
        "Top-up reverted",
        "a top-up was taken back",
        [
            "my top up was reverted",
            "the money I added disappeared again",
            "topup was cancelled by itself",
            "why was my top-up returned",
            "top up gone from my balance",
            "you took my topup back",
        ],
        "A top-up is taken back when the other bank does not confirm it. The money is on its way "
        "back to your card and arrives within five working days.",
    ),
    (
        "Verify a top-up",
        "the customer is asked to verify a top-up",
        [
            "why do I have to verify my top-up",
            "it asks for a code when I add money",
            "top up verification code",
            "verify top up with code from statement",
            "what is the topup code",
            "prove that the card is mine for a top up",
        ],
        "For a new card we ask for the code that stands beside the test payment on its statement. "
        "Enter it in the app under Add money, Verify.",
    ),
]
