"""Transfers: sending, tracing, limits, standing orders."""

from __future__ import annotations

import poise
from poise_example_bank.domains.plain import Row, install_rows
from poise_example_bank.domains.transfers.tools import load_balance, send_money, transfer_status


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules, tools and wording."""
    await agent.create_term(
        name="IBAN",
        description="The international number of a bank account.",
        synonyms=["account number"],
    )
    await agent.create_variable(
        name="balance",
        description="What is on the customer's account, in euros",
        tool=load_balance,
        freshness_rules="*/15 * * * *",
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
        ],
        anti_signals=["my transfer has not arrived", "how much does a transfer cost"],
        tools=[send_money],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "Done: {transfer_amount} euros are on their way to {transfer_recipient}. The reference "
            "is {transfer_reference}."
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
        ],
        tools=[transfer_status],
        dependencies=[topic],
        canned_responses=[
            "Transfer {status_reference} to {status_recipient}: {status}. Most transfers arrive "
            "within one working day."
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
        ],
        anti_signals=["I want to send money"],
        canned_responses=["There are {std.variables.balance} euros on your account."],
    )
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "Wrong recipient",
        "the customer sent money to the wrong account",
        [
            "I sent money to the wrong person",
            "wrong iban, can I get my money back",
            "transferred to the wrong account",
            "i mistyped the account number of my transfer",
            "money went to a stranger by mistake",
            "how to reverse a transfer sent to the wrong account",
        ],
        "If the transfer is still pending you can cancel it in the app. If it is booked we ask the "
        "other bank to send it back; that takes up to ten working days.",
    ),
    (
        "Cancel a transfer",
        "the customer wants to cancel a transfer",
        [
            "cancel my transfer",
            "stop the payment I just made",
            "I changed my mind about a transfer",
            "can i undo a bank transfer",
            "abort the transfer from this morning",
            "please stop that transfer",
        ],
        "You can cancel a transfer in the app as long as it is pending: Payments, the transfer, "
        "Cancel.",
    ),
    (
        "Transfer limit",
        "the customer asks how much can be transferred",
        [
            "how much can I transfer a day",
            "transfer limit",
            "maximum amount for a bank transfer",
            "is there a cap on transfers",
            "i want to transfer 20000, is that possible",
            "raise my transfer limit",
        ],
        "You can transfer up to 10,000 euros a day. For more, raise the limit for a day in the app "
        "under Payments, Limits.",
    ),
    (
        "International transfer",
        "the customer wants to send money to another country",
        [
            "send money abroad",
            "transfer to a bank in the United States",
            "international transfer",
            "how do I send dollars to my brother in Canada",
            "swift payment to another country",
            "wire money overseas",
        ],
        "You can send money to 60 countries in the app under Payments, Abroad. You see the rate and "
        "the fee before you confirm.",
    ),
    (
        "Standing order",
        "the customer asks about a standing order",
        [
            "set up a standing order",
            "pay my rent automatically every month",
            "change my standing order",
            "recurring transfer on the first of the month",
            "monthly payment to my landlord",
            "delete a standing order",
        ],
        "Standing orders are in the app under Payments, Standing orders: there you add, change and "
        "delete them.",
    ),
    (
        "Failed transfer",
        "a transfer of the customer failed",
        [
            "my transfer failed",
            "transfer was rejected",
            "the app says my transfer could not be done",
            "transfer got declined",
            "error when sending money",
            "why did my transfer fail",
        ],
        "A transfer fails when the account number is wrong, the limit is reached or the balance is "
        "too low. Nothing was taken from your account.",
    ),
    (
        "Receive money",
        "the customer wants to receive money from somebody",
        [
            "what is my iban",
            "how can somebody send me money",
            "my employer needs my account details",
            "where do I find my account number",
            "receive a transfer from my company",
            "details for my salary",
        ],
        "Your account details are in the app under Account, Details; you can share them from there.",
    ),
    (
        "Money received late",
        "the customer waits for money from somebody else",
        [
            "my salary has not arrived",
            "waiting for a payment from my employer",
            "someone sent me money and I don't see it",
            "incoming transfer is missing",
            "when does my wage arrive",
            "expected money but nothing came in",
        ],
        "Money from another bank arrives within one working day after it was sent. If it does not, "
        "ask the sender for a proof of payment and send it to us.",
    ),
]
