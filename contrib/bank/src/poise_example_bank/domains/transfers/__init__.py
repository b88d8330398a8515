"""Transfers: sending, tracing, limits, standing orders."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.transfers.answers import ANSWERS
from poise_example_bank.domains.transfers.tools import transfer_tools
from poise_example_bank.services import Bank


async def install(agent: poise.Agent, bank: Bank) -> None:
    """Declare the domain's rules, tools and wording."""
    tools = transfer_tools(bank)
    await agent.create_term(
        name="IBAN",
        description="The international number of a bank account.",
        synonyms=["account number"],
    )
    topic = await agent.create_observation(
        title="About transfers",
        when="the customer talks about sending or receiving money",
        signals=["a bank transfer", "about my transfer", "money between accounts"],
    )
    await agent.create_policy(
        title="Send money",
        when="the customer wants to send money to somebody",
        then="order the transfer once recipient and amount are known",
        signals=[
            "I want to send money",
            "transfer 200 euros to DE89370400440532013000",
            "please send 50 to my sister",
            "make a bank transfer",
            "pay someone from my account",
            "i need to wire money to a friend",
            "can you transfer some cash for me",
            "send 75.50 euro to this iban",
            "pay 30 to FR7630006000011234567890189",
            "wire 300 to my brother",
        ],
        anti_signals=[
            "my transfer has not arrived",
            "how much does a transfer cost",
            "how do I send money to another country",
            "whats the most i can send at once",
            "somebody wants to send me money",
            "send me a new card",
        ],
        tools=[tools.send_money],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "Done: {transfer_amount} euros are on their way to {transfer_recipient}. The reference "
            "is {transfer_reference}.",
            "I can't send that: {transfer_problem}.",
        ],
    )
    await agent.create_policy(
        title="Where is my transfer",
        when="the customer asks where a transfer is",
        then="look the transfer up by its reference",
        signals=[
            "where is my transfer",
            "my transfer has not arrived",
            "the money I sent is not there yet",
            "transfer T-1987 is still pending",
            "track my bank transfer",
            "why does my transfer take so long",
            "recipient says they didnt get the money",
            "status of transfer T-2001",
            "what happened to the money i sent to ana",
        ],
        anti_signals=[
            "my salary has not arrived",
            "my top up is pending",
            "why did I pay so much for my transfer",
            "why did my transfer fail",
            "stop my transfer",
            "where is my refund",
        ],
        tools=[tools.transfer_status],
        dependencies=[topic],
        canned_responses=[
            "Transfer {status_reference} to {status_recipient}: {status}. Most transfers arrive "
            "within one working day.",
            "I can't find it: {status_problem}.",
        ],
    )
    await install_answers(agent, ANSWERS, topic)
