"""Ten signals for every rule of a neutral scenario, as its author might write them.

Nothing but a marker ties a neutral rule to the turn that it holds on: rule and message speak of
different things. A judge that is shown every rule finds the marker; whoever discovers rules by
meaning can't. So rules that hold on a turn have five of their signals in that turn's wording, each
rule other ones, none of them the whole message or with a marker in it. The rest of theirs, and all
signals of other rules, come from the rule's own condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

SIGNALS = 10
OWN = 2
"""Signals at the least that are about the rule's condition, where it holds on several turns."""

# By words that only one of the situations has; {it} is "my refund", {how} is "over the phone".
_SITUATIONS: Mapping[str, Sequence[str]] = {
    "already contacted support": (
        "I wrote to you about {it} and nobody answered",
        "this is the third time I ask about {it}",
        "I contacted support {how} about {it} already",
        "still no answer about {it}",
        "why does nobody get back to me about {it}?",
        "I asked {how} about {it} last week and heard nothing",
        "your colleagues promised to call back about {it}",
        "no one replies to my messages about {it}",
        "I have been waiting for a reply about {it} for days",
        "support ignores me, it is about {it}",
    ),
    "deadline of their own": (
        "how long will {it} take? I leave on Friday",
        "I need {it} sorted out before the weekend",
        "when will {it} be done, I have a deadline",
        "can {it} be finished by the tenth?",
        "how many days does {it} take if I ask {how}?",
        "my birthday is next week, will {it} be through by then?",
        "I move house soon, how long does {it} take?",
        "is there a quick way for {it} {how}?",
        "what is the time frame for {it}? I am in a hurry",
        "{it} has to be settled this month, is that possible?",
    ),
    "somebody else in their household": (
        "can my wife take care of {it}?",
        "my son would deal with {it} {how}, is that all right?",
        "may my flatmate handle {it} for me?",
        "is it possible that my husband sees to {it}?",
        "I am away, can my mother do {it} in my place?",
        "does {it} have to be done by me in person?",
        "can someone else at home settle {it} {how}?",
        "my partner will look after {it}, what does she need?",
        "who apart from me may decide about {it}?",
        "could my daughter speak to you about {it}?",
    ),
    "asks for something in return": (
        "I am not happy with how you dealt with {it}",
        "what do I get for the trouble with {it}?",
        "after that mess with {it} I expect some compensation",
        "the way {it} was handled {how} was a disgrace",
        "you owe me something for {it}",
        "{it} went badly, can I have a discount?",
        "I am disappointed about {it} and want a gesture",
        "will you make up for the bother with {it}?",
        "terrible service with {it}, offer me something",
        "I had to chase {it} {how}, what do I get for that?",
    ),
    "which documents are needed": (
        "which papers do you need for {it}?",
        "what documents do I have to send for {it}?",
        "where do I send the forms for {it}?",
        "do you need my receipt for {it}?",
        "can I hand in the documents for {it} {how}?",
        "what proof do you want for {it}?",
        "is a copy of my passport enough for {it}?",
        "to which address do the papers for {it} go?",
        "what has to be enclosed for {it}?",
        "is there a form to fill in {how} for {it}?",
    ),
    "failed or was declined": (
        "my card was declined, it is about {it}",
        "the payment for {it} did not go through",
        "{it} failed at the payment step",
        "I tried to pay {how} for {it} and it was refused",
        "my bank rejected the payment for {it}",
        "paying for {it} gives an error",
        "the transaction for {it} was declined twice",
        "why can't I pay for {it} {how}?",
        "money was not taken for {it}, the payment failed",
        "payment error with {it}",
    ),
    "still possible after the usual deadline": (
        "am I too late for {it}?",
        "the period is over, can I still ask for {it}?",
        "is {it} possible after thirty days?",
        "I missed the deadline for {it}",
        "can you make an exception for {it}, it has been two months",
        "the time limit for {it} passed yesterday",
        "I only saw now that {it} had to be asked for {how} in time",
        "does {it} still work after the cut-off?",
        "it has been too long, is {it} out of the question?",
        "can {it} be done late {how}?",
    ),
    "what a competitor offered": (
        "another shop does better on {it}",
        "the other store offered me more for {it}",
        "can you match what they give elsewhere for {it}?",
        "your competitor handles {it} for free",
        "I got a better deal on {it} {how} somewhere else",
        "why is {it} worse here than with the others?",
        "will you do the same as the shop next door for {it}?",
        "they promised me twice as much for {it}",
        "elsewhere {it} takes a day, can you do that?",
        "I was made another offer for {it}, can you equal it?",
    ),
}

# By the turn's place, then by the place of a rule among those that hold: what the message says, in
# its own and in other words; what is nearest to it comes first.
_TURNS: Sequence[Sequence[Sequence[str]]] = (
    (
        (
            "I am asking about my order, which was meant to be here on Monday",
            "my order was meant to be here on Monday and it is not",
            "the order that was meant to come on Monday is not here",
            "I am asking about my order, it was due on Monday",
            "hello, my order has not come, it should have been here on Monday",
        ),
        (
            "hello, I am asking about an order that was meant to be here on Monday",
            "it was meant to be here on Monday and is not",
            "asking about an order that was to arrive on Monday",
            "my order should be here since Monday and is still not",
            "hello, it is about my order, Monday has passed and it is not here",
        ),
        (
            "I ask about my order, which was meant to be here on Monday",
            "where is my order? it was meant to be here on Monday",
            "my order was promised for Monday and is not here",
            "hello, I have a question about my order, it is not here yet",
            "an order of mine was to be here on Monday, it is not",
        ),
    ),
    (
        (
            "if it does come I would rather send it back",
            "what do I have to do to send it back?",
            "right, I would rather send it back if it comes",
            "I would like to send it back when it does come, how do I do that?",
            "how do I return it if it does come?",
        ),
        (
            "I would rather send it back, what do I have to do?",
            "if it comes after all, what must I do to send it back?",
            "I would rather return it if it does come",
            "right, and how would I send it back?",
            "I do not want it any more if it does come, what do I have to do?",
        ),
    ),
    (
        (
            "can I still get my money back for it?",
            "it is the blue lamp from my order, I want my money back",
            "the blue lamp, can I still get money back for it?",
            "do I get my money back for the lamp from this order?",
            "it is about the blue lamp from the order",
        ),
        (
            "can I still get my money back for the blue lamp?",
            "it is the blue lamp from that order, can I have my money back?",
            "is it still possible to get my money back for the lamp?",
            "can I get back what I paid for the blue lamp from the order?",
            "money back for the blue lamp, is that still possible?",
        ),
    ),
)


class Signals:
    """Writes the signals of one scenario.

    Args:
        scenario: As its file says it.
        words: The module that wrote it, for the words that its conditions are made of.
    """

    def __init__(self, scenario: Mapping[str, Any], words: ModuleType) -> None:
        self._turns: dict[str, list[str]] = {}
        for place, turn in enumerate(scenario["turns"]):
            for number, rule in enumerate(turn["rules"]):
                self._turns.setdefault(rule, []).extend(_TURNS[place][number])
        subjects = sorted(words.SUBJECTS, key=len, reverse=True)
        self._subject = re.compile("|".join(rf"\b{re.escape(each)}\b" for each in subjects))
        self._channels = tuple(words.CHANNELS)

    def of(self, rule: Mapping[str, Any]) -> list[str]:
        """Return ten signals of a rule."""
        condition = rule["condition"]
        in_wording = self._turns.get(rule["id"], [])[: SIGNALS - OWN]
        subject = self._subject.search(condition)
        written = next((each for words, each in _SITUATIONS.items() if words in condition), None)
        if subject is None or written is None:
            raise SystemExit(f"no signals are known for the condition {condition!r}")
        channel = next(each for each in self._channels if f" {each} [[" in condition)
        said = {"it": f"my {subject.group().split(' ', 1)[1]}", "how": channel}
        own = [each.format(**said) for each in written]
        return [*in_wording, *own][:SIGNALS]
