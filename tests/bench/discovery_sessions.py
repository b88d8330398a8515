"""Sessions of many messages: what the working set holds, and how much of it still matters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import attrs
from discovery_data import DataSet, Labelled
from discovery_methods import Trained

from poise.testing.turns import turn_of
from poise.turn.candidates import Budget
from poise.turn.queries import customer_queries
from poise.turn.state import Membership, SessionState
from poise.values.events import Event, Source
from poise.values.ids import RuleId
from poise_discovery.working_set import tokens_of

WINDOW = 40
RECENT = 5
LIMIT, AFTER = 30, 20

CHIT_CHAT = (
    "thanks, you are very kind",
    "sorry, I was on the other line",
    "ok great",
    "my son is calling me, one second",
    "haha that made my day",
    "right, I see",
    "it is raining cats and dogs over here",
    "hold on please",
    "good, good",
    "I had a terrible morning",
)
_REPLY = "Thank you, here is what I found."


@attrs.frozen
class Measured:
    """What a session's working set was like, averaged over its messages.

    Attributes:
        size: Rules in it after each reply.
        tokens: About how many tokens they take.
        relevant: Share of it that one of the last five customer messages is about.
        lost: Rules that were pruned though one of the last five messages is about them.
        found: Share of messages' own rules that are in it after the message.
    """

    size: float
    tokens: float
    relevant: float
    lost: int
    found: float


def sessions_of(sets: Sequence[tuple[str, DataSet]], length: int, seed: int) -> list[Labelled]:
    """Return a session's messages: four intents from the sets in turns, chit-chat between."""
    chance = random.Random(seed)
    topics: list[list[Labelled]] = []
    for at in range(4):
        prefix, data = sets[at % len(sets)]
        intent = chance.choice(data.intents)
        own = [each for each in data.test if intent in each.intents]
        while not own:
            intent = chance.choice(data.intents)
            own = [each for each in data.test if intent in each.intents]
        topics.append(
            [
                Labelled(each.text, frozenset(f"{prefix}{name}" for name in each.intents))
                for each in own
            ]
        )
    said: list[Labelled] = []
    for at in range(length):
        if chance.random() < 0.2:
            said.append(Labelled(chance.choice(CHIT_CHAT), frozenset()))
        else:
            topic = (
                topics[min(at * 4 // length, 3)] if chance.random() < 0.8 else chance.choice(topics)
            )
            said.append(chance.choice(topic))
    return said


async def play(
    trained: Trained,
    said: Sequence[Labelled],
    names: Mapping[str, RuleId],
    *,
    prune: str,
    bar: float | None = None,
    cosines: Mapping[str, Mapping[RuleId, float]] | None = None,
) -> Measured:
    """Play a session through the discoverer, and fold what it finds as the engine does.

    Args:
        trained: The catalog.
        said: The customer's messages.
        names: Rule ids by intent.
        prune: `full`: above the limit; `always`: after every reply; `never`.
        bar: With `cosines`: what the nearest signal must reach, in place of the plugin's scores.
        cosines: By message text and rule: the nearest signal.
    """
    working: dict[RuleId, Membership] = {}
    pruned: dict[RuleId, int] = {}
    history: list[tuple[Source, str]] = []
    sizes, tokens, shares, found = [], [], [], []
    lost = 0
    for at, message in enumerate(said):
        history.append((Source.CUSTOMER, message.text))
        state = SessionState(working_set=working, pruned=pruned)
        turn = turn_of(
            trained.snapshot,
            *history[-WINDOW:],
            index=trained.index_id,
            models=trained.models,
            state=state,
        )
        # The window starts at 0 again; offsets are the session's.
        first = len(history) - len(history[-WINDOW:])
        events = tuple(
            attrs.evolve(event, offset=event.offset + first) for event in turn.history.events
        )
        base = len(history) - 1
        turn = attrs.evolve(turn, base=base, history=attrs.evolve(turn.history, events=events))
        if cosines is None:
            queries = customer_queries(turn.history.messages, base)
            sightings = await trained.discoverer.discover(turn, queries)
            turn = attrs.evolve(turn, sightings=tuple(sightings))
            hits = {
                each.rule: each.query.offset
                for each in sightings
                if each.is_hit and not each.over_budget and each.query is not None
            }
        else:
            ranked = sorted(cosines[message.text].items(), key=lambda each: -each[1])
            above = [rule for rule, cosine in ranked if bar is not None and cosine >= bar]
            hits = dict.fromkeys(above[: turn.plan.admit_limit], base)
        for rule, offset in hits.items():
            before = working.get(rule)
            since = before.since if before else offset
            working[rule] = Membership(since, max(offset, before.last_hit if before else 0))
            pruned.pop(rule, None)
        own = {names[intent] for intent in message.intents}
        if own:
            found.append(len(own & working.keys()) / len(own))
        recent = {
            names[intent]
            for each in said[max(0, at - RECENT + 1) : at + 1]
            for intent in each.intents
        }
        history.append((Source.AI_AGENT, _REPLY))
        due = prune == "always" or (prune == "full" and len(working) > LIMIT)
        if due:
            turn = attrs.evolve(turn, state=SessionState(working_set=working))
            budget = Budget(AFTER if len(working) > LIMIT else LIMIT)
            for rule in trained.discoverer.prune(turn, budget):
                lost += rule in recent
                pruned[rule] = len(history)
                del working[rule]
        sizes.append(len(working))
        rules = trained.snapshot.rules
        tokens.append(sum(tokens_of(rules[rule]) for rule in working))
        if recent:
            shares.append(len(recent & working.keys()) / max(1, len(working)))
    return Measured(
        sum(sizes) / len(sizes),
        sum(tokens) / len(tokens),
        sum(shares) / max(1, len(shares)),
        lost,
        sum(found) / max(1, len(found)),
    )


def customer_events(events: Sequence[Event]) -> int:
    """Return how many of the events are the customer's messages."""
    return sum(event.is_customer_message for event in events)
