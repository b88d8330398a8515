"""Fees and charges, and the plan that decides them."""

from __future__ import annotations

import poise
from poise_example_bank.config import bank
from poise_example_bank.domains.fees.tools import latest_payments
from poise_example_bank.domains.plain import Row, install_rows


async def is_on_standard_plan(turn: poise.TurnContext) -> bool:
    """Say whether the customer is on the plan that can be upgraded."""
    return await bank().plan(turn.customer.id) == "Standard"


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules, tools and wording."""
    await agent.create_term(
        name="Harbour Plus",
        description="The paid plan: free transfers abroad and free cash everywhere.",
        synonyms=["plus plan", "premium plan"],
    )
    topic = await agent.create_observation(
        title="About fees",
        when="the customer talks about fees, charges or what something costs",
        signals=["about a fee", "what does it cost", "a charge on my account"],
    )
    await agent.create_policy(
        title="Unknown charge",
        when="the customer does not recognise a charge",
        then="list the latest payments, and say how to dispute one",
        signals=[
            "I don't recognise a charge",
            "there is a payment I did not make",
            "what is this charge on my account",
            "somebody charged me 12.99",
            "strange transaction on my statement",
            "unknown payment from streamly",
            "i never bought anything there",
        ],
        tools=[latest_payments],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "Your latest payments are: {payments}. If one of them is not yours, open it in the app "
            "and tap Dispute: you have the money back while we look into it."
        ],
    )
    standard = await agent.create_observation(
        title="On the Standard plan",
        when="the customer is on the Standard plan",
        matcher=is_on_standard_plan,
    )
    await agent.create_policy(
        title="Offer the Plus plan",
        when="the customer minds what things cost",
        then="mention that the Plus plan has no such fees",
        signals=[
            "why is that so expensive",
            "too many fees",
            "your fees are too high",
            "how can I avoid these fees",
            "is there a cheaper plan",
            "i pay way too much for transfers",
            "tell me about harbour plus",
        ],
        dependencies=[topic, standard],
        canned_responses=[
            "With Harbour Plus, at 6.90 a month, there are no fees for cash and for transfers "
            "abroad. You can try it free for 30 days in the app under Plans."
        ],
        tags=["sales"],
    )
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "Card payment fee",
        "the customer was charged for a card payment",
        [
            "why was I charged for paying by card",
            "fee for a card payment",
            "card payment cost extra",
            "what is the fee on my card purchase",
            "extra charge when i paid with my card",
            "do card payments cost anything",
        ],
        "Card payments in euros are free. In another currency we add one percent.",
    ),
    (
        "Cash withdrawal fee",
        "the customer was charged for taking out cash",
        [
            "fee for withdrawing cash",
            "why did the cash machine charge me",
            "atm fee",
            "what does it cost to take out money",
            "charged for a cash withdrawal",
            "how many free withdrawals do i have",
        ],
        "Three withdrawals a month are free, each further one costs 2 euros. Some machines charge a "
        "fee of their own and show it before.",
    ),
    (
        "Transfer fee",
        "the customer asks what a transfer costs",
        [
            "how much does a transfer cost",
            "fee for bank transfer",
            "are transfers free",
            "why did i pay for my transfer",
            "charge for sending money abroad",
            "cost of an international transfer",
        ],
        "Transfers in euros are free. Transfers abroad cost 0.5 percent, at least 3 euros.",
    ),
    (
        "Exchange rate",
        "the customer asks about an exchange rate",
        [
            "what is your exchange rate",
            "exchange rate for dollars",
            "the rate you applied is wrong",
            "how do you convert currencies",
            "euro to pound rate today",
            "bad exchange rate on my holiday payment",
        ],
        "We use the network's rate of the day without a surcharge. You see it in the payment's "
        "details.",
    ),
    (
        "Duplicate charge",
        "the customer was charged twice",
        [
            "I was charged twice",
            "double payment on my account",
            "same purchase appears two times",
            "shop took the money twice",
            "duplicate transaction",
            "paid once but debited twice",
        ],
        "When a payment shows twice, one of the two is usually a reservation and falls away within "
        "seven days. If both are booked, tap Dispute on the second one.",
    ),
    (
        "Refund missing",
        "the customer waits for a refund",
        [
            "where is my refund",
            "the shop refunded me but the money isn't there",
            "refund not received",
            "how long does a refund take",
            "still no refund after a week",
            "merchant says they sent the money back",
        ],
        "A refund takes up to ten working days from the day the shop sends it. Please ask the shop "
        "for its confirmation if it is later than that.",
    ),
    (
        "Monthly fee",
        "the customer asks about the monthly fee",
        [
            "what does the account cost per month",
            "monthly account fee",
            "why do you take 2 euros every month",
            "is the account free",
            "price of my account",
            "subscription fee of the bank",
        ],
        "The Standard account is free. Harbour Plus costs 6.90 a month.",
    ),
    (
        "Overdraft",
        "the customer asks about going below zero",
        [
            "can I overdraw my account",
            "overdraft fee",
            "my balance is negative",
            "what happens if i go below zero",
            "interest for being in the red",
            "set up an overdraft",
        ],
        "You can ask for an overdraft in the app under Account, Overdraft. It costs 9 percent a "
        "year on what you use.",
    ),
    (
        "Statement",
        "the customer wants a statement",
        [
            "I need a bank statement",
            "download my statement",
            "statement for last month",
            "where do I find my account statements",
            "pdf of my transactions",
            "proof of account for my landlord",
        ],
        "Your statements are in the app under Account, Statements, as PDF for every month.",
    ),
]
