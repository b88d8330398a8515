"""Approved answers about top-ups."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Top up by card",
        when="the customer wants to top up with a card",
        signals=[
            "how do I top up with my card",
            "add money with a debit card",
            "top up my account using a credit card",
            "can i charge my account from another bank's card",
            "put money on the account by card",
            "topup via visa",
            "add 100 from my visa to the account",
        ],
        anti_signals=["my top up failed", "top up with apple pay", "my card was declined"],
        wording=(
            "In the app tap Add money, choose the card and the amount. The money is there at once."
        ),
    ),
    Answer(
        title="Failed top-up",
        when="a top-up of the customer failed",
        signals=[
            "my top up failed",
            "top-up was declined",
            "adding money did not work",
            "i tried to top up and got an error",
            "topup rejected by the app",
            "the top up didn't go through",
            "could not add money, error message",
        ],
        anti_signals=[
            "my card was declined in a shop",
            "my transfer failed",
            "my top up is pending",
        ],
        wording=(
            "A top-up fails when the other bank refuses the card or asks for a confirmation. "
            "Please confirm it in the other bank's app and try again."
        ),
    ),
    Answer(
        title="Pending top-up",
        when="a top-up of the customer is still pending",
        signals=[
            "my top up is pending",
            "top-up still not on my account",
            "when will my topup show up",
            "I added money an hour ago and don't see it",
            "top up is taking forever",
            "pending topup",
            "topped up this morning, where is it",
        ],
        anti_signals=["my transfer is pending", "my top up failed", "my salary has not arrived"],
        wording=(
            "A top-up by card is there within a few minutes, by bank within one working day. If "
            "it is not, it goes back to where it came from."
        ),
    ),
    Answer(
        title="Top-up limit",
        when="the customer asks how much can be topped up",
        signals=[
            "what is the top up limit",
            "maximum top-up",
            "how much money can I add at once",
            "can i top up 5000",
            "limit for adding money",
            "smallest amount i can top up",
            "whats the max i can load",
        ],
        anti_signals=["raise my card limit", "transfer limit"],
        wording="You can add between 10 and 2,000 euros at a time, and up to 5,000 a month.",
    ),
    Answer(
        title="Automatic top-up",
        when="the customer asks about automatic top-ups",
        signals=[
            "set up automatic top-up",
            "auto top up when my balance is low",
            "turn off auto top-up",
            "recharge my account automatically",
            "automatic topup every month",
            "stop topping up by itself",
            "does it refill itself when its empty",
        ],
        anti_signals=["set up a standing order", "how do I top up"],
        wording=(
            "Automatic top-ups are in the app under Add money, Automatic: set the balance below "
            "which to add money, and how much."
        ),
    ),
    Answer(
        title="Top up with cash",
        when="the customer wants to pay in cash or a cheque",
        signals=[
            "can I pay in cash",
            "deposit cash into my account",
            "top up with a cheque",
            "where can i put cash on my account",
            "pay in notes and coins",
            "bring a cheque to you",
            "i have 300 in notes, how do i pay it in",
        ],
        anti_signals=["fee for withdrawing cash", "take out money"],
        wording=(
            "You can pay in cash at every Harbour cash machine with a slot for notes. We do not "
            "take cheques."
        ),
    ),
    Answer(
        title="Top up by phone wallet",
        when="the customer wants to top up with a phone's wallet",
        signals=[
            "top up with apple pay",
            "can I add money with google pay",
            "topping up from my phone wallet",
            "use my watch to add money",
            "does apple pay work for top ups",
            "add funds by mobile wallet",
            "load money via google wallet",
        ],
        anti_signals=["contactless does not work", "top up with my debit card"],
        wording="Yes: in Add money choose your phone's wallet instead of a card.",
    ),
    Answer(
        title="Top-up reverted",
        when="a top-up was taken back",
        signals=[
            "my top up was reverted",
            "the money I added disappeared again",
            "topup was cancelled by itself",
            "why was my top-up returned",
            "top up gone from my balance",
            "you took my topup back",
            "the topup vanished from my account",
        ],
        anti_signals=["my refund is missing", "my top up failed"],
        wording=(
            "A top-up is taken back when the other bank does not confirm it. The money is on its "
            "way back to your card and arrives within five working days."
        ),
    ),
    Answer(
        title="Verify a top-up",
        when="the customer is asked to verify a top-up",
        signals=[
            "why do I have to verify my top-up",
            "it asks for a code when I add money",
            "top up verification code",
            "verify top up with code from statement",
            "what is the topup code",
            "prove that the card is mine for a top up",
            "wants a code from my card statement to add money",
        ],
        anti_signals=["verify my identity", "what is my pin"],
        wording=(
            "For a new card we ask for the code that stands beside the test payment on its "
            "statement. Enter it in the app under Add money, Verify."
        ),
    ),
)
