"""Approved answers about transfers."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Wrong recipient",
        when="the customer sent money to the wrong account",
        signals=[
            "I sent money to the wrong person",
            "wrong iban, can I get my money back",
            "transferred to the wrong account",
            "i mistyped the account number of my transfer",
            "money went to a stranger by mistake",
            "how to reverse a transfer sent to the wrong account",
            "oh no i paid the wrong guy",
        ],
        anti_signals=["cancel my transfer", "where is my transfer"],
        wording=(
            "If the transfer is still pending you can cancel it in the app. If it is booked we ask "
            "the other bank to send it back; that takes up to ten working days."
        ),
    ),
    Answer(
        title="Cancel a transfer",
        when="the customer wants to cancel a transfer",
        signals=[
            "cancel my transfer",
            "stop the payment I just made",
            "I changed my mind about a transfer",
            "can i undo a bank transfer",
            "abort the transfer from this morning",
            "please stop that transfer",
            "dont send that money, cancel it",
        ],
        anti_signals=["cancel my card", "close my account", "delete a standing order"],
        wording=(
            "You can cancel a transfer in the app as long as it is pending: Payments, the "
            "transfer, Cancel."
        ),
    ),
    Answer(
        title="Transfer limit",
        when="the customer asks how much can be transferred",
        signals=[
            "how much can I transfer a day",
            "transfer limit",
            "maximum amount for a bank transfer",
            "is there a cap on transfers",
            "i want to transfer 20000, is that possible",
            "raise my transfer limit",
            "whats the most i can send at once",
        ],
        anti_signals=["raise my card limit", "maximum top-up", "what does a transfer cost"],
        wording=(
            "You can transfer up to 10,000 euros a day. For more, raise the limit for a day in the "
            "app under Payments, Limits."
        ),
    ),
    Answer(
        title="International transfer",
        when="the customer wants to send money to another country",
        signals=[
            "send money abroad",
            "transfer to a bank in the United States",
            "international transfer",
            "how do I send dollars to my brother in Canada",
            "swift payment to another country",
            "wire money overseas",
            "can i transfer to my family in india",
            "send money to an account in england",
        ],
        anti_signals=["can I use my card abroad", "fee for sending money abroad"],
        wording=(
            "You can send money to 60 countries in the app under Payments, Abroad. You see the "
            "rate and the fee before you confirm."
        ),
    ),
    Answer(
        title="Standing order",
        when="the customer asks about a standing order",
        signals=[
            "set up a standing order",
            "pay my rent automatically every month",
            "change my standing order",
            "recurring transfer on the first of the month",
            "monthly payment to my landlord",
            "delete a standing order",
            "how do i stop the automatic payment for my rent",
        ],
        anti_signals=["automatic top-up", "monthly account fee"],
        wording=(
            "Standing orders are in the app under Payments, Standing orders: there you add, change "
            "and delete them."
        ),
    ),
    Answer(
        title="Failed transfer",
        when="a transfer of the customer failed",
        signals=[
            "my transfer failed",
            "transfer was rejected",
            "the app says my transfer could not be done",
            "transfer got declined",
            "error when sending money",
            "why did my transfer fail",
            "it wont let me send money",
        ],
        anti_signals=[
            "my card was declined",
            "my top up failed",
            "where is my transfer",
            "cancel my transfer",
        ],
        wording=(
            "A transfer fails when the account number is wrong, the limit is reached or the "
            "balance is too low. Nothing was taken from your account."
        ),
    ),
    Answer(
        title="Receive money",
        when="the customer wants to receive money from somebody",
        signals=[
            "what is my iban",
            "how can somebody send me money",
            "my employer needs my account details",
            "where do I find my account number",
            "receive a transfer from my company",
            "account details for my salary",
            "my friend wants to pay me, what does she need",
        ],
        anti_signals=["my salary has not arrived", "I want to send money"],
        wording=(
            "Your account details are in the app under Account, Details; you can share them from "
            "there."
        ),
    ),
    Answer(
        title="Money received late",
        when="the customer waits for money from somebody else",
        signals=[
            "my salary has not arrived",
            "waiting for a payment from my employer",
            "someone sent me money and I don't see it",
            "incoming transfer is missing",
            "when does my wage arrive",
            "expected money but nothing came in",
            "my boss says he paid me but theres nothing",
        ],
        anti_signals=[
            "the money I sent is not there",
            "where is my refund",
            "my top up is pending",
        ],
        wording=(
            "Money from another bank arrives within one working day after it was sent. If it does "
            "not, ask the sender for a proof of payment and send it to us."
        ),
    ),
)
