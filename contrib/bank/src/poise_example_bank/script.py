"""The demo's conversation: what one customer writes, message by message."""

from __future__ import annotations

import attrs


@attrs.frozen
class Scene:
    """One message, and what its turn is there to show."""

    said: str
    shows: str


SCENES = (
    Scene("hi", "a greeting"),
    Scene("cant find my bank card anywhere!!", "a tool needs a fact, so the agent asks for it"),
    Scene("4417", "the fact: the rule that asked stays in force, and its tool runs"),
    Scene("yes pls send me a new one", "an answer to the agent's question; 4417 is remembered"),
    Scene("ok and whats my balance? and when r u open on saturday", "two requests in one message"),
    Scene("can u send 50 to DE89370400440532013000", "amount and account, read where they stand"),
    Scene("transfer T-1987 still hasnt arived", "a typo, and a reference to look up"),
    Scene("how much is it to take out money at the atm", "another topic"),
    Scene("tbh thats expensive, too many fees here", "the sales rule: here it may sell"),
    Scene(
        "your fees are way too high, this is ridiculous, I want to complain",
        "the same rule matches, and the complaint outranks it",
    ),
    Scene(
        "you people are useless. how was your weekend btw",
        "a complaint excludes small talk; the case that is open is not opened twice",
    ),
    Scene("can you book me a table for two at luigis tonight", "nothing that a bank does"),
    Scene(
        "omg somebody stole my credit card on the bus, it ends in 9020",
        "theft outranks loss, and implies what to say about the police",
    ),
    Scene("and theres a payment of 12.99 i didnt make", "a look-up"),
    Scene("i moved to a new flat, also my phone number changed", "two requests again"),
    Scene("como puedo cambiar el pin de mi tarjeta?", "rules in English, a customer in Spanish"),
    Scene("what happens with my complaint now", "back to an earlier topic"),
    Scene("thx for your help", "thanks"),
    Scene("let me talk to a real person pls", "a person takes over; the agent is silent from here"),
)
