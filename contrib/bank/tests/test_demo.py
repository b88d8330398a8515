"""The demo's conversation on the default plugins: what every turn says, decides and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
import pytest

import poise
from poise.turn.fates import Fate
from poise_example_bank.fake import FakeBank
from poise_example_bank.main import NO_MATCH, build
from poise_example_bank.playing import Played
from poise_example_bank.script import SCENES

COMPLAINT = (
    "I'm sorry about this. I have opened the complaint C-3001; a person looks at it and answers "
    "you within two working days."
)


@attrs.frozen
class Outcome:
    """What a turn comes to.

    Attributes:
        says: The reply, one text per part.
        follows: The policies that are acted on.
        set_aside: Who is not, although it matched: by name, its fate and who did it.
        implies: Whom a policy that is acted on brings in.
        calls: Tools with their arguments.
    """

    says: Sequence[str]
    follows: frozenset[str] = attrs.field(default=frozenset(), converter=frozenset)
    set_aside: Mapping[str, tuple[Fate, str]] = attrs.field(factory=dict)
    implies: frozenset[str] = attrs.field(default=frozenset(), converter=frozenset)
    calls: Sequence[tuple[str, Mapping[str, object]]] = attrs.field(default=(), converter=list)


EXPECTED: Mapping[str, Outcome] = {
    "hi": Outcome(["Hello, this is Harbour Bank. How can I help you?"], {"Greeting"}),
    "cant find my bank card anywhere!!": Outcome(
        ["Which card is it? Please tell me its last four digits."], {"Lost card"}
    ),
    "4417": Outcome(
        [
            "I have frozen the card ending in 4417: nobody can pay with it now. Shall I order a "
            "replacement?"
        ],
        {"Lost card"},
        calls=[("freeze_card", {"card_ending": "4417"})],
    ),
    "yes pls send me a new one": Outcome(
        ["A new card is on its way: it ends in 2220 and arrives by 08 December."],
        {"Replacement card"},
        calls=[("order_replacement", {"card_ending": "4417"})],
    ),
    "ok and whats my balance? and when r u open on saturday": Outcome(
        [
            "There are 2480.50 euros on your account.",
            "Our branches are open from 9 to 17 on weekdays. In the app we are there day and "
            "night.",
        ],
        {"Balance", "Opening hours"},
    ),
    "can u send 50 to DE89370400440532013000": Outcome(
        ["Done: 50.00 euros are on their way to DE89370400440532013000. The reference is T-2001."],
        {"Send money"},
        calls=[("send_money", {"recipient": "DE89370400440532013000", "amount": 50})],
    ),
    "transfer T-1987 still hasnt arived": Outcome(
        [
            "Transfer T-1987 to Ana Lopez: waiting for the other bank. Most transfers arrive "
            "within one working day."
        ],
        {"Where is my transfer"},
        calls=[("transfer_status", {"reference": "T-1987"})],
    ),
    "how much is it to take out money at the atm": Outcome(
        [
            "Three withdrawals a month are free, each further one costs 2 euros. Some machines "
            "charge a fee of their own and show it before."
        ],
        {"Cash withdrawal fee"},
    ),
    "tbh thats expensive, too many fees here": Outcome(
        [
            "With Harbour Plus, at 6.90 a month, there are no fees for cash and for transfers "
            "abroad. You can try it free for 30 days in the app under Plans."
        ],
        {"Offer the Plus plan"},
    ),
    "your fees are way too high, this is ridiculous, I want to complain": Outcome(
        [COMPLAINT],
        {"Take a complaint"},
        {"Offer the Plus plan": (Fate.OUTRANKED, "Take a complaint")},
        calls=[("open_complaint", {})],
    ),
    "you people are useless. how was your weekend btw": Outcome(
        [COMPLAINT],
        {"Take a complaint"},
        {"Small talk": (Fate.EXCLUDED, "Take a complaint")},
    ),
    "can you book me a table for two at luigis tonight": Outcome([NO_MATCH]),
    "omg somebody stole my credit card on the bus, it ends in 9020": Outcome(
        [
            "I'm sorry to hear that. The card ending in 9020 is frozen as of now.",
            "Please report the theft to the police and keep the report: we need its number if "
            "somebody used the card.",
        ],
        {"Stolen card"},
        {"Lost card": (Fate.OUTRANKED, "Stolen card")},
        implies={"Report a theft"},
        calls=[("freeze_card", {"card_ending": "9020"})],
    ),
    "and theres a payment of 12.99 i didnt make": Outcome(
        [
            "Your latest payments are: Streamly 12.99 on 28 November (P-1042); Corner Grocery "
            "43.20 on 27 November (P-1041); City Transport 2.80 on 27 November (P-1037). If one "
            "of them is not yours, open it in the app and tap Dispute: you have the money back "
            "while we look into it."
        ],
        {"Unknown charge"},
        calls=[("latest_payments", {})],
    ),
    "i moved to a new flat, also my phone number changed": Outcome(
        [
            "You change your address in the app under Profile, Address. It holds at once for "
            "letters and cards.",
            "You change your number in the app under Profile, Phone. If you no longer have the "
            "old one, we confirm it by a video call.",
        ],
        {"Change of address", "Change of phone number"},
    ),
    "como puedo cambiar el pin de mi tarjeta?": Outcome(
        [
            "You can see and change your PIN in the app under Cards, PIN. A blocked PIN is "
            "unblocked at any of our cash machines."
        ],
        {"Change the PIN"},
    ),
    "what happens with my complaint now": Outcome(
        [
            "A complaint is answered within two working days, by email and in the app under Help, "
            "Cases."
        ],
        {"State of a complaint"},
    ),
    "thx for your help": Outcome(["You're welcome. Is there anything else?"], {"Thanks"}),
    "let me talk to a real person pls": Outcome(
        ["I'm handing you over to a colleague, who can read all that we wrote."],
        {"Speak to a person"},
        calls=[("hand_over", {})],
    ),
}
IDLE = {Fate.NOT_APPLICABLE, Fate.UNDECIDED, Fate.ALREADY_APPLIED, Fate.OVER_BUDGET}


def outcome_of(played: Played) -> Outcome:
    """Return what a turn came to, read from its account."""
    ledger = played.record.ledger
    names = {line.subject: line.name for line in ledger.lines}
    policies = [line for line in ledger.lines if line.kind == "policy"]
    return Outcome(
        says=[part for reply in played.record.replies for part in reply.split("\n\n")],
        follows=(line.name for line in policies if line.fate == Fate.MATCHED.value),
        set_aside={
            line.name: (Fate(line.fate), ", ".join(names[each] for each in line.cause))
            for line in policies
            if Fate(line.fate) not in {*IDLE, Fate.MATCHED, Fate.IMPLIED}
        },
        implies=(line.name for line in policies if line.fate == Fate.IMPLIED.value),
        calls=[(call.tool, dict(call.arguments)) for call in ledger.calls],
    )


def in_any_order(outcome: Outcome) -> Outcome:
    return attrs.evolve(outcome, says=sorted(outcome.says))


@pytest.mark.parametrize("at", range(len(SCENES)), ids=[scene.said for scene in SCENES])
def test_turn_comes_to_what_the_script_shows(conversation: Sequence[Played], at: int) -> None:
    found = outcome_of(conversation[at])

    assert in_any_order(found) == in_any_order(EXPECTED[SCENES[at].said])


def test_nothing_fails_on_the_way(conversation: Sequence[Played]) -> None:
    for each in conversation:
        assert each.record.ledger.outcome == "sent"
        assert not each.record.ledger.degradations
        assert all(call.outcome == "finished" for call in each.record.ledger.calls)


@pytest.mark.anyio
async def test_after_the_hand_over_the_agent_is_silent(
    open_application: Callable[[], poise.Application],
) -> None:
    async with open_application() as app:
        session = await app.open_session(await build(app, FakeBank()))
        await session.say(SCENES[-1].said)

        reply = await session.say("hello?")

        modes = await session.events(kinds=[poise.EventKind.MODE])
    assert reply.messages == ()
    assert [event.data["mode"] for event in modes] == ["manual"]


def test_the_script_is_as_long_and_as_varied_as_a_demo_needs() -> None:
    assert len(SCENES) >= 15
    assert set(EXPECTED) == {scene.said for scene in SCENES}
    assert all(scene.shows for scene in SCENES)
