"""Approved answers about fees, charges and the account."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Card payment fee",
        when="the customer was charged for a card payment",
        signals=[
            "why was I charged for paying by card",
            "fee for a card payment",
            "card payment cost extra",
            "what is the fee on my card purchase",
            "extra charge when i paid with my card",
            "do card payments cost anything",
            "does it cost something to pay with the card in dollars",
        ],
        anti_signals=["my card was declined", "atm fee", "top up with my card"],
        wording="Card payments in euros are free. In another currency we add one percent.",
    ),
    Answer(
        title="Cash withdrawal fee",
        when="the customer was charged for taking out cash",
        signals=[
            "fee for withdrawing cash",
            "why did the cash machine charge me",
            "atm fee",
            "what does it cost to take out money",
            "charged for a cash withdrawal",
            "how many free withdrawals do i have",
            "the atm took 2 euros extra",
        ],
        anti_signals=["pay in cash at a machine", "why do transfers cost so much"],
        wording=(
            "Three withdrawals a month are free, each further one costs 2 euros. Some machines "
            "charge a fee of their own and show it before."
        ),
    ),
    Answer(
        title="Transfer fee",
        when="the customer asks what a transfer costs",
        signals=[
            "how much does a transfer cost",
            "fee for bank transfer",
            "are transfers free",
            "why did i pay for my transfer",
            "charge for sending money abroad",
            "cost of an international transfer",
            "do you take a fee when i wire money",
        ],
        anti_signals=["I want to send money", "where is my transfer", "transfer limit"],
        wording="Transfers in euros are free. Transfers abroad cost 0.5 percent, at least 3 euros.",
    ),
    Answer(
        title="Exchange rate",
        when="the customer asks about an exchange rate",
        signals=[
            "what is your exchange rate",
            "exchange rate for dollars",
            "the rate you applied is wrong",
            "how do you convert currencies",
            "euro to pound rate today",
            "bad exchange rate on my holiday payment",
            "how many yen do i get for 100 euro",
        ],
        anti_signals=["interest rate of the overdraft", "can I use my card abroad"],
        wording=(
            "We use the network's rate of the day without a surcharge. You see it in the payment's "
            "details."
        ),
    ),
    Answer(
        title="Duplicate charge",
        when="the customer was charged twice",
        signals=[
            "I was charged twice",
            "double payment on my account",
            "same purchase appears two times",
            "shop took the money twice",
            "duplicate transaction",
            "paid once but debited twice",
            "the same amount was taken 2 times",
        ],
        anti_signals=["there is a payment I did not make", "card got declined twice"],
        wording=(
            "When a payment shows twice, one of the two is usually a reservation and falls away "
            "within seven days. If both are booked, tap Dispute on the second one."
        ),
    ),
    Answer(
        title="Refund missing",
        when="the customer waits for a refund",
        signals=[
            "where is my refund",
            "the shop refunded me but the money isn't there",
            "refund not received",
            "how long does a refund take",
            "still no refund after a week",
            "merchant says they sent the money back",
            "returned the shoes and never got my money back from the store",
        ],
        anti_signals=["I want compensation", "where is my transfer", "my top up was reverted"],
        wording=(
            "A refund takes up to ten working days from the day the shop sends it. Please ask the "
            "shop for its confirmation if it is later than that."
        ),
    ),
    Answer(
        title="Monthly fee",
        when="the customer asks about the monthly fee",
        signals=[
            "what does the account cost per month",
            "monthly account fee",
            "why do you take money every month for the account",
            "is the account free",
            "price of my account",
            "subscription fee of the bank",
            "is there a yearly fee for having an account",
        ],
        anti_signals=["pay my rent every month", "what is my balance", "your fees are too high"],
        wording="The Standard account is free. Harbour Plus costs 6.90 a month.",
    ),
    Answer(
        title="Overdraft",
        when="the customer asks about going below zero",
        signals=[
            "can I overdraw my account",
            "overdraft fee",
            "my balance is negative",
            "what happens if i go below zero",
            "interest for being in the red",
            "set up an overdraft",
            "account is at minus 40",
            "what if i spend more than there is",
        ],
        anti_signals=["what is my balance", "how much money do I have"],
        wording=(
            "You can ask for an overdraft in the app under Account, Overdraft. It costs 9 percent "
            "a year on what you use."
        ),
    ),
    Answer(
        title="Statement",
        when="the customer wants a statement",
        signals=[
            "I need a bank statement",
            "download my statement",
            "statement for last month",
            "where do I find my account statements",
            "pdf of my transactions",
            "proof of account for my landlord",
            "i need my statements for taxes",
        ],
        anti_signals=["strange transaction on my statement", "code on my statement"],
        wording="Your statements are in the app under Account, Statements, as PDF for every month.",
    ),
)
