"""Fees and charges, the plan that decides them, and what is on the account."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.fees.answers import ANSWERS
from poise_example_bank.domains.fees.tools import account_tools, standard_plan
from poise_example_bank.services import Bank

SALES = "sales"
"""The tag of what sells something; a complaint outranks it."""


async def install(agent: poise.Agent, bank: Bank) -> None:
    """Declare the domain's rules, tools and wording."""
    tools = account_tools(bank)
    await agent.create_term(
        name="Harbour Plus",
        description="The paid plan: free transfers abroad and free cash everywhere.",
        synonyms=["plus plan", "premium plan"],
    )
    await agent.create_variable(
        name="balance",
        description="What is on the customer's account, in euros",
        tool=tools.load_balance,
        freshness_rules="*/15 * * * *",  # so a balance that is told is at most 15 minutes old
    )
    topic = await agent.create_observation(
        title="About fees and the account",
        when="the customer talks about fees, charges or what is on the account",
        signals=[
            "about a fee",
            "what does it cost",
            "a charge on my account",
            "payments on my account",
            "pdf of my statement",
        ],
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
            "a transaction i never made",
            "who took 43 euros from me, that wasnt me",
        ],
        anti_signals=["I was charged twice", "why was I charged a fee", "download my statement"],
        tools=[tools.latest_payments],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "Your latest payments are: {payments}. If one of them is not yours, open it in the app "
            "and tap Dispute: you have the money back while we look into it."
        ],
    )
    await agent.create_policy(
        title="Balance",
        when="the customer asks how much money is on the account",
        then="tell the balance",
        signals=[
            "what is my balance",
            "how much money do I have",
            "account balance please",
            "whats left on my account",
            "how much is in my account right now",
            "check my balance",
            "how much have i got left",
        ],
        anti_signals=[
            "I want to send money",
            "how much does the account cost",
            "my balance is below zero",
        ],
        dependencies=[topic],
        canned_responses=["There are {std.variables.balance} euros on your account."],
    )
    standard = await agent.create_observation(
        title="On the Standard plan",
        when="the customer is on the Standard plan",
        matcher=standard_plan(bank),
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
            "these charges are insane",
        ],
        anti_signals=["what does the account cost per month", "how much does a transfer cost"],
        dependencies=[topic, standard],
        canned_responses=[
            "With Harbour Plus, at 6.90 a month, there are no fees for cash and for transfers "
            "abroad. You can try it free for 30 days in the app under Plans."
        ],
        tags=[SALES],
    )
    await install_answers(agent, ANSWERS, topic)
