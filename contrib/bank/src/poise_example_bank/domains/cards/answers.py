"""Approved answers about cards."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Declined card payment",
        when="the customer's card payment was declined",
        signals=[
            "my card was declined",
            "card payment did not go through at the shop",
            "why was my card refused",
            "the terminal rejected my card",
            "my card doesnt work at the till",
            "payment declined in a store",
            "card got declined twice today",
            "couldnt pay at the supermarket with my card",
            "my payment was declined",
        ],
        anti_signals=[
            "my top up was declined",
            "my transfer was rejected",
            "I lost my card",
            "cant find my card",
        ],
        wording=(
            "A card is usually declined because of its limit, a wrong PIN or a frozen card. You "
            "can check all three in the app under Cards, and then try the payment again."
        ),
    ),
    Answer(
        title="Card has not arrived",
        when="the customer is waiting for a card in the post",
        signals=[
            "where is my new card",
            "my card hasn't arrived yet",
            "still waiting for my card in the mail",
            "how long does card delivery take",
            "card was supposed to come last week",
            "when will my new debit card get here",
            "its been two weeks and no card",
            "the card you sent never came",
        ],
        anti_signals=[
            "I lost my card",
            "cant find my card",
            "please send me a new card",
            "my transfer has not arrived",
            "my new card came today",
        ],
        wording=(
            "A new card takes five to seven working days. If it is not there after ten, tell us "
            "and we send another one free of charge."
        ),
    ),
    Answer(
        title="Change the PIN",
        when="the customer wants to change a PIN or has forgotten it",
        signals=[
            "how do I change my PIN",
            "I forgot my card pin",
            "reset the pin of my card",
            "what is my PIN number",
            "I want a different pin code",
            "entered the wrong pin three times",
            "my pin is blocked",
            "cant remember my pin",
        ],
        anti_signals=["I forgot my password for the app", "what is the top up code"],
        wording=(
            "You can see and change your PIN in the app under Cards, PIN. A blocked PIN is "
            "unblocked at any of our cash machines."
        ),
    ),
    Answer(
        title="Contactless does not work",
        when="contactless payment does not work for the customer",
        signals=[
            "contactless isn't working",
            "tap to pay does not work",
            "cant pay contactless any more",
            "the reader does not react when I hold my card to it",
            "contactless payments keep failing",
            "my card wont tap",
            "have to insert the card every time, tapping does nothing",
            "nfc of my card stopped",
        ],
        anti_signals=["my card was declined", "top up with apple pay"],
        wording=(
            "Contactless works again after one payment with your PIN. If it still doesn't, switch "
            "it off and on under Cards, Contactless."
        ),
    ),
    Answer(
        title="Raise the card limit",
        when="the customer wants another spending limit on a card",
        signals=[
            "raise my card limit",
            "I want to spend more with my card",
            "increase the daily limit of my credit card",
            "my card limit is too low",
            "how can i change my spending limit",
            "need a higher limit for a big purchase",
            "how much can i pay with my card per day",
        ],
        anti_signals=["transfer limit", "maximum top-up"],
        wording=(
            "You set your card's limit yourself in the app under Cards, Limits; it holds at once, "
            "up to 5,000 a day."
        ),
    ),
    Answer(
        title="Virtual card",
        when="the customer asks about a virtual card",
        signals=[
            "how do I get a virtual card",
            "can I have a digital card for online shopping",
            "set up a virtual debit card",
            "do you offer online only cards",
            "want a disposable card for the internet",
            "virtual card details",
            "do you have one time cards",
        ],
        anti_signals=["I need a new card", "online banking does not work"],
        wording=(
            "You can add a virtual card in the app under Cards, Add. It is ready at once and free."
        ),
    ),
    Answer(
        title="Card abroad",
        when="the customer wants to use a card while travelling",
        signals=[
            "can I use my card abroad",
            "I am travelling to Japan, will my card work",
            "do I need to tell you that I go on holiday",
            "using my card in another country",
            "going to spain next week does my card work there",
            "travel notice for my card",
            "will my debit card work overseas",
        ],
        anti_signals=[
            "send money abroad",
            "exchange rate for my holiday",
            "lost my card on holiday",
        ],
        wording=(
            "Your card works in every country that takes its network, and you need not tell us "
            "before you travel."
        ),
    ),
    Answer(
        title="Activate a card",
        when="the customer wants to activate a card",
        signals=[
            "how do I activate my card",
            "my new card came, what now",
            "activate my debit card",
            "card arrived but it is not active",
            "got the new card how to start using it",
            "card activation",
            "just received my card in the post, how do i switch it on",
        ],
        anti_signals=["where is my new card", "is my card frozen"],
        wording=(
            "Your new card is active after its first payment with PIN, or at once in the app under "
            "Cards, Activate."
        ),
    ),
    Answer(
        title="Cancel a card",
        when="the customer wants to give a card back for good",
        signals=[
            "cancel my credit card",
            "I don't want this card any more",
            "close my card for good",
            "terminate my credit card contract",
            "please get rid of my second card",
            "how do I cancel a card",
            "i never use the credit card so take it back",
        ],
        anti_signals=[
            "close my account",
            "cancel my transfer",
            "I lost my card, block it",
            "left my card in a shop",
            "my card does not work any more",
        ],
        wording=(
            "You can end a card's contract in the app under Cards, End contract. What is open on "
            "it is settled from your account."
        ),
    ),
)
