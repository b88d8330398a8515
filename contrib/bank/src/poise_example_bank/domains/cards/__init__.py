"""Cards: lost, stolen, broken, declined, on their way."""

from __future__ import annotations

import poise
from poise_example_bank.domains.answers import install_answers
from poise_example_bank.domains.cards.answers import ANSWERS
from poise_example_bank.domains.cards.tools import card_tools
from poise_example_bank.services import Bank

PROBLEM = "I can't do that: {card_problem}."


async def install(agent: poise.Agent, bank: Bank) -> None:
    """Declare the domain's rules, tools and wording."""
    tools = card_tools(bank)
    await agent.create_term(
        name="virtual card",
        description="A card that exists in the app only, for paying online.",
        synonyms=["digital card", "online card"],
    )
    topic = await agent.create_observation(
        title="About cards",
        when="the customer talks about a bank card",
        signals=["my debit card", "question about my credit card", "the card you sent me"],
    )
    lost = await agent.create_policy(
        title="Lost card",
        when="the customer has lost a card",
        then="freeze the card first, then offer a replacement",
        signals=[
            "I can't find my card",
            "I lost my card",
            "my debit card has gone missing",
            "cant find my bank card anywhere",
            "I misplaced my credit card",
            "dropped my card on the bus i think",
            "my wallet with my card is lost",
            "please block my card, i dont have it any more",
            "left my card in a shop yesterday",
            "lost my visa on the way home",
        ],
        anti_signals=[
            "my card was declined",
            "my card has not arrived yet",
            "my card is broken",
            "cant pay contactless any more",
            "my card wont tap",
            "I don't want this card any more",
            "yes, order a replacement",
        ],
        tools=[tools.freeze_card],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "I have frozen the card ending in {card_ending}: nobody can pay with it now. "
            "Shall I order a replacement?",
            PROBLEM,
        ],
    )
    stolen = await agent.create_policy(
        title="Stolen card",
        when="the customer's card was stolen",
        then="freeze the card and report the theft",
        signals=[
            "my card was stolen",
            "someone stole my card",
            "a thief took my wallet and my card",
            "i got robbed and they took my bank card",
            "my purse was snatched with the credit card in it",
            "pickpocket took my debit card",
            "my card got nicked",
            "someone stole my credit card on the tram",
            "my bag was stolen and my card was inside",
        ],
        anti_signals=[
            "somebody charged me for something",
            "you stole my money with your fees",
            "my card is damaged and I need another one",
            "I lost my card",
            "i think i left my card somewhere",
        ],
        tools=[tools.freeze_card],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "I'm sorry to hear that. The card ending in {card_ending} is frozen as of now.",
            PROBLEM,
        ],
    )
    report = await agent.create_policy(
        title="Report a theft",
        then="tell the customer to report the theft to the police and to keep the report",
        way_in=poise.WayIn.DEPENDENCY,
        canned_responses=[
            "Please report the theft to the police and keep the report: we need its number if "
            "somebody used the card."
        ],
    )
    await stolen.entail(report)
    await stolen.prioritize_over(lost)
    await agent.create_policy(
        title="Replacement card",
        when="the customer wants a new card in place of an old one",
        then="order the replacement",
        signals=[
            "please send me a replacement card",
            "I need a new card",
            "can you replace my card",
            "my card is damaged and I need another one",
            "the chip on my card is broken",
            "my card snapped in half",
            "order me a replacement",
            "Shall I order a replacement? yes please",
            "yes please send me a new one",
            "yes, order a new card",
        ],
        anti_signals=[
            "where is my new card",
            "no, I don't need a new card",
            "my new card came, what now",
            "I lost my card",
            "my card is gone",
            "send money",
        ],
        tools=[tools.order_replacement],
        dependencies=[topic],
        canned_responses=[
            "A new card is on its way: it ends in {new_card_ending} and arrives by "
            "{new_card_arrives}.",
            PROBLEM,
        ],
    )
    await agent.create_policy(
        title="List cards",
        when="the customer wants to know which cards they have",
        then="list the cards with their state",
        signals=[
            "which cards do I have",
            "show me my cards",
            "what cards are on my account",
            "list all my bank cards",
            "how many cards do i have with you",
            "is my card active or frozen",
            "whats the state of my cards",
        ],
        anti_signals=[
            "what kinds of cards do you offer",
            "list my payments",
            "where is my card",
            "when is my card coming",
        ],
        tools=[tools.list_cards],
        dependencies=[topic],
        canned_responses=["You have these cards: {cards}."],
    )
    await install_answers(agent, ANSWERS, topic)
