"""Cards: lost, stolen, broken, declined, on their way."""

from __future__ import annotations

import poise
from poise_example_bank.domains.cards.tools import freeze_card, list_cards, order_replacement
from poise_example_bank.domains.plain import Row, install_rows


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules, tools and wording."""
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
            "i think i left my card somewhere",
            "my debit card has gone missing",
            "cant find my bank card anywhere",
            "I misplaced my credit card",
            "dropped my card on the bus i think",
            "my wallet with my card is lost",
        ],
        anti_signals=["my card was declined", "my card has not arrived yet", "my card is broken"],
        tools=[freeze_card],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "I have frozen the card ending in {card_ending}: nobody can pay with it now. "
            "Shall I order a replacement?"
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
        ],
        tools=[freeze_card],
        weight=poise.Weight.HIGH,
        dependencies=[topic],
        canned_responses=[
            "I'm sorry to hear that. The card ending in {card_ending} is frozen as of now."
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
            "yes order a new card please",
            "can you replace my card",
            "my card is damaged and I need another one",
            "the chip on my card is broken",
            "my card snapped in half",
            "order me a replacement",
        ],
        anti_signals=["I want to open an account", "where is my new card"],
        tools=[order_replacement],
        dependencies=[topic],
        canned_responses=[
            "A new card is on its way: it ends in {new_card_ending} and arrives by "
            "{new_card_arrives}."
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
        ],
        tools=[list_cards],
        dependencies=[topic],
        canned_responses=["You have these cards: {cards}."],
    )
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "Declined card payment",
        "the customer's card payment was declined",
        [
            "my card was declined",
            "card payment did not go through at the shop",
            "why was my card refused",
            "the terminal rejected my card",
            "my card doesnt work at the till",
            "payment declined in a store",
            "card got declined twice today",
        ],
        "A card is usually declined because of its limit, a wrong PIN or a frozen card. You can "
        "check all three in the app under Cards, and then try the payment again.",
    ),
    (
        "Card has not arrived",
        "the customer is waiting for a card in the post",
        [
            "where is my new card",
            "my card hasn't arrived yet",
            "still waiting for my card in the mail",
            "how long does card delivery take",
            "card was supposed to come last week",
            "when will my new debit card get here",
            "its been two weeks and no card",
        ],
        "A new card takes five to seven working days. If it is not there after ten, tell us and we "
        "send another one free of charge.",
    ),
    (
        "Change the PIN",
        "the customer wants to change a PIN or has forgotten it",
        [
            "how do I change my PIN",
            "I forgot my card pin",
            "reset the pin of my card",
            "what is my PIN number",
            "I want a different pin code",
            "entered the wrong pin three times",
            "my pin is blocked",
        ],
        "You can see and change your PIN in the app under Cards, PIN. A blocked PIN is unblocked at "
        "any of our cash machines.",
    ),
    (
        "Contactless does not work",
        "contactless payment does not work for the customer",
        [
            "contactless isn't working",
            "tap to pay does not work",
            "cant pay contactless any more",
            "the reader does not react when I hold my card to it",
            "contactless payments keep failing",
            "my card wont tap",
        ],
        "Contactless works again after one payment with your PIN. If it still doesn't, switch it "
        "off and on under Cards, Contactless.",
    ),
    (
        "Raise the card limit",
        "the customer wants another spending limit on a card",
        [
            "raise my card limit",
            "I want to spend more with my card",
            "increase the daily limit of my credit card",
            "my card limit is too low",
            "how can i change my spending limit",
            "need a higher limit for a big purchase",
        ],
        "You set your card's limit yourself in the app under Cards, Limits; it holds at once, up to "
        "5,000 a day.",
    ),
    (
        "Virtual card",
        "the customer asks about a virtual card",
        [
            "how do I get a virtual card",
            "can I have a digital card for online shopping",
            "set up a virtual debit card",
            "do you offer online only cards",
            "want a disposable card for the internet",
            "virtual card details",
        ],
        "You can add a virtual card in the app under Cards, Add. It is ready at once and free.",
    ),
    (
        "Card abroad",
        "the customer wants to use a card while travelling",
        [
            "can I use my card abroad",
            "I am travelling to Japan, will my card work",
            "do I need to tell you that I go on holiday",
            "using my card in another country",
            "going to spain next week does my card work there",
            "travel notice for my card",
        ],
        "Your card works in every country that takes its network, and you need not tell us before "
        "you travel.",
    ),
    (
        "Activate a card",
        "the customer wants to activate a card",
        [
            "how do I activate my card",
            "my new card came, what now",
            "activate my debit card",
            "card arrived but it is not active",
            "got the new card how to start using it",
            "card activation",
        ],
        "Your new card is active after its first payment with PIN, or at once in the app under "
        "Cards, Activate.",
    ),
    (
        "Cancel a card",
        "the customer wants to give a card back for good",
        [
            "cancel my credit card",
            "I don't want this card any more",
            "close my card for good",
            "terminate my credit card contract",
            "please get rid of my second card",
            "how do I cancel a card",
        ],
        "You can end a card's contract in the app under Cards, End contract. What is open on it is "
        "settled from your account.",
    ),
]
