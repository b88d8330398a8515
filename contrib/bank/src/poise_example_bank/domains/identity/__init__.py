"""Identity: who the customer is, and how the bank knows."""

from __future__ import annotations

import poise
from poise_example_bank.domains.plain import Row, install_rows


async def install(agent: poise.Agent) -> None:
    """Declare the domain's rules and wording."""
    topic = await agent.create_observation(
        title="About identity",
        when="the customer talks about who they are or about their personal details",
        signals=["my identity", "my personal details", "logging in to my account"],
    )
    await install_rows(agent, topic, ROWS)


ROWS: list[Row] = [
    (
        "Verify identity",
        "the customer wants to verify their identity",
        [
            "how do I verify my identity",
            "verify my account",
            "upload my passport",
            "identity check",
            "i need to prove who i am",
            "complete the id verification",
        ],
        "In the app open Profile, Verify. Have your passport or identity card at hand; it takes "
        "about three minutes.",
    ),
    (
        "Why verification",
        "the customer asks why their identity must be verified",
        [
            "why do I need to verify my identity",
            "what do you need my passport for",
            "is the identity check really necessary",
            "why are you asking for my id",
            "i dont want to send you my passport",
            "do i have to verify",
        ],
        "The law asks every bank to know its customers. Until you are verified you can look at your "
        "account and not pay from it.",
    ),
    (
        "Verification refused",
        "the customer's documents were refused",
        [
            "my verification was rejected",
            "you did not accept my passport",
            "identity check failed",
            "why was my id refused",
            "the app cannot verify me",
            "verification keeps failing",
        ],
        "A document is refused when the photo is blurred or the document has expired. Please take "
        "the photo again in daylight, with all four corners in the picture.",
    ),
    (
        "Change of name",
        "the customer's name has changed",
        [
            "I got married and changed my name",
            "change the name on my account",
            "my surname is different now",
            "my name is spelled wrong",
            "how can i update my last name",
            "new name on my card",
        ],
        "Please send a photo of the document with your new name in the app under Profile, Name. We "
        "change it within two working days and send you new cards.",
    ),
    (
        "Change of address",
        "the customer has moved",
        [
            "I moved to a new flat",
            "change my address",
            "I have a new postal address",
            "update where I live",
            "moving house next month",
            "my address is wrong in the app",
        ],
        "You change your address in the app under Profile, Address. It holds at once for letters "
        "and cards.",
    ),
    (
        "Change of phone number",
        "the customer has another phone number",
        [
            "I have a new phone number",
            "change my mobile number",
            "update my phone",
            "lost access to my old number",
            "got a new sim card with another number",
            "my telephone number changed",
        ],
        "You change your number in the app under Profile, Phone. If you no longer have the old one, "
        "we confirm it by a video call.",
    ),
    (
        "Forgotten passcode",
        "the customer can't log in since a passcode is forgotten",
        [
            "I forgot my passcode",
            "reset my password",
            "cannot log in to the app",
            "locked out of my account",
            "my login does not work",
            "forgot the password for online banking",
        ],
        "Tap Forgotten on the login page: we send a link to your phone, and you choose a new "
        "passcode.",
    ),
    (
        "New device",
        "the customer wants to use the app on another device",
        [
            "I have a new phone, how do I move the app",
            "use the app on my tablet too",
            "register a new device",
            "switch to another phone",
            "log in on a second device",
            "my old phone broke, need the app on the new one",
        ],
        "Install the app on the new device and log in. You confirm it on the old one, or by a video "
        "call if you no longer have it.",
    ),
    (
        "Source of funds",
        "the customer is asked where money comes from",
        [
            "why do you ask where my money comes from",
            "source of funds request",
            "proof of income needed",
            "you want documents about my money",
            "explain the source of wealth letter",
            "what do i send for source of funds",
        ],
        "For larger amounts we must ask where the money comes from. A payslip, a contract of sale "
        "or a notary's letter is enough.",
    ),
    (
        "Close the account",
        "the customer wants to close the account",
        [
            "I want to close my account",
            "delete my account",
            "leave your bank",
            "terminate my account",
            "how do i cancel my bank account",
            "i'm switching banks, close everything",
        ],
        "I'm sorry to see you go. You close your account in the app under Profile, Close account, "
        "once its balance is zero.",
    ),
]
