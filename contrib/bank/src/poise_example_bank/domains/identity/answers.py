"""Approved answers about identity and access."""

from __future__ import annotations

from poise_example_bank.domains.answers import Answer

ANSWERS = (
    Answer(
        title="Verify identity",
        when="the customer wants to verify their identity",
        signals=[
            "how do I verify my identity",
            "verify my account",
            "upload my passport",
            "do the identity check",
            "i need to prove who i am",
            "complete the id verification",
            "where do i send a photo of my passport",
            "which documents do i need for the verification",
        ],
        anti_signals=[
            "why do I have to verify",
            "verify my top-up",
            "my verification was rejected",
        ],
        wording=(
            "In the app open Profile, Verify. Have your passport or identity card at hand; it "
            "takes about three minutes."
        ),
    ),
    Answer(
        title="Why verification",
        when="the customer asks why their identity must be verified",
        signals=[
            "why do I need to verify my identity",
            "what do you need my passport for",
            "is the identity check really necessary",
            "why are you asking for my id",
            "i dont want to send you my passport",
            "do i have to verify",
            "whats the point of this id check",
        ],
        anti_signals=[
            "how do I verify my identity",
            "which documents do i need for the verification",
            "why do you ask where my money comes from",
        ],
        wording=(
            "The law asks every bank to know its customers. Until you are verified you can look "
            "at your account and not pay from it."
        ),
    ),
    Answer(
        title="Verification refused",
        when="the customer's documents were refused",
        signals=[
            "my verification was rejected",
            "you did not accept my passport",
            "identity check failed",
            "why was my id refused",
            "the app cannot verify me",
            "verification keeps failing",
            "you rejected my drivers licence",
        ],
        anti_signals=["my card was refused", "my transfer was rejected"],
        wording=(
            "A document is refused when the photo is blurred or the document has expired. Please "
            "take the photo again in daylight, with all four corners in the picture."
        ),
    ),
    Answer(
        title="Change of name",
        when="the customer's name has changed",
        signals=[
            "I got married and changed my name",
            "change the name on my account",
            "my surname is different now",
            "my name is spelled wrong",
            "how can i update my last name",
            "new name on my card",
            "got divorced, need my old name back on the account",
        ],
        anti_signals=["change my address", "my card's name is virtual"],
        wording=(
            "Please send a photo of the document with your new name in the app under Profile, "
            "Name. We change it within two working days and send you new cards."
        ),
    ),
    Answer(
        title="Change of address",
        when="the customer has moved",
        signals=[
            "I moved to a new flat",
            "change my address",
            "I have a new postal address",
            "update where I live",
            "moving house next month",
            "my address is wrong in the app",
            "i dont live in berlin any more, new address",
        ],
        anti_signals=["change my phone number", "change my name"],
        wording=(
            "You change your address in the app under Profile, Address. It holds at once for "
            "letters and cards."
        ),
    ),
    Answer(
        title="Change of phone number",
        when="the customer has another phone number",
        signals=[
            "I have a new phone number",
            "change my mobile number",
            "update my phone",
            "lost access to my old number",
            "got a new sim card with another number",
            "my telephone number changed",
            "pls use my other number from now on",
        ],
        anti_signals=["I have a new phone, move the app", "change my address"],
        wording=(
            "You change your number in the app under Profile, Phone. If you no longer have the "
            "old one, we confirm it by a video call."
        ),
    ),
    Answer(
        title="Forgotten passcode",
        when="the customer can't log in since a passcode is forgotten",
        signals=[
            "I forgot my passcode",
            "reset my password",
            "cannot log in to the app",
            "locked out of my account",
            "my login does not work",
            "forgot the password for online banking",
            "cant log in, forgot the code for the app",
        ],
        anti_signals=["I forgot my card pin", "the app keeps crashing"],
        wording=(
            "Tap Forgotten on the login page: we send a link to your phone, and you choose a new "
            "passcode."
        ),
    ),
    Answer(
        title="New device",
        when="the customer wants to use the app on another device",
        signals=[
            "I have a new phone, how do I move the app",
            "use the app on my tablet too",
            "register a new device",
            "switch to another phone",
            "log in on a second device",
            "my old phone broke, need the app on the new one",
            "bought an iphone how do i get the bank app on it",
        ],
        anti_signals=["my phone number changed", "I forgot my password", "top up with my phone"],
        wording=(
            "Install the app on the new device and log in. You confirm it on the old one, or by a "
            "video call if you no longer have it."
        ),
    ),
    Answer(
        title="Source of funds",
        when="the customer is asked where money comes from",
        signals=[
            "why do you ask where my money comes from",
            "source of funds request",
            "proof of income needed",
            "you want documents about my money",
            "explain the source of wealth letter",
            "what do i send for source of funds",
            "you ask for a payslip, why",
        ],
        anti_signals=["why do I need to verify my identity", "my salary has not arrived"],
        wording=(
            "For larger amounts we must ask where the money comes from. A payslip, a contract of "
            "sale or a notary's letter is enough."
        ),
    ),
    Answer(
        title="Close the account",
        when="the customer wants to close the account",
        signals=[
            "I want to close my account",
            "delete my account",
            "leave your bank",
            "terminate my account",
            "how do i cancel my bank account",
            "i'm switching banks, close everything",
            "i want to leave and close my account",
        ],
        anti_signals=["cancel my credit card", "goodbye", "cancel my transfer"],
        wording=(
            "I'm sorry to see you go. You close your account in the app under Profile, Close "
            "account, once its balance is zero."
        ),
    ),
)
