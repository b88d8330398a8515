"""Sessions of many messages: what the working set holds, and how much of it still matters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from discovery_data import DataSet, Labelled, rules_of, signals_of
from discovery_methods import RememberingModels, Trained, nearest_signal, train
from report import Report

from poise.testing.turns import catalog_of, turn_of
from poise.turn.candidates import Budget
from poise.turn.queries import customer_queries
from poise.turn.state import Membership, SessionState
from poise.values.events import Source
from poise.values.ids import RuleId
from poise.values.rules import Rule
from poise_discovery.settings import DiscoverySettings
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


async def sessions(
    report: Report, models: RememberingModels, sets: Mapping[str, DataSet], count: int
) -> None:
    """The working set over 5, 15 and 30 messages."""
    rules = [
        rule for prefix, data in sets.items() for rule in rules_of(signals_of(data, 10, 0), prefix)
    ]
    trained = await train(catalog_of(rules), models)
    lasting = await train(catalog_of(rules), models, DiscoverySettings(passing=0.0))
    names: dict[str, RuleId] = {rule.title or "": rule.id for rule in rules}
    bar = 0.0
    for length in (5, 15, 30):
        ways: dict[str, list[Measured]] = {}
        for seed in range(count):
            said = sessions_of(list(sets.items()), length, seed)
            texts = list(dict.fromkeys(each.text for each in said))
            table = await nearest_signal(models, texts, rules)
            cosines = {
                text: {rule.id: float(each) for rule, each in zip(rules, row, strict=True)}
                for text, row in zip(texts, table, strict=True)
            }
            if not bar:
                bar = await _cosine_bar(models, sets, rules)
            for way, of, prune in (
                ("ours", trained, "always"),
                ("ours, hits of the last five exempt", lasting, "always"),
                ("ours, pruned above 30 only", trained, "full"),
                ("ours, no decay", trained, "never"),
            ):
                ways.setdefault(way, []).append(await play(of, said, names, prune=prune))
            for way, prune in (
                ("nearest signal", "always"),
                ("nearest signal, no decay", "never"),
            ):
                ways.setdefault(way, []).append(
                    await play(trained, said, names, prune=prune, bar=bar, cosines=cosines)
                )
        for way, measured in ways.items():
            rules_lost = sum(each.lost for each in measured)
            report.row(
                f"the working set over sessions (mean of {count}; {len(rules)} rules)",
                {
                    "messages": length,
                    "way": way,
                    "size": float(np.mean([each.size for each in measured])),
                    "tokens": float(np.mean([each.tokens for each in measured])),
                    "relevant_share": float(np.mean([each.relevant for each in measured])),
                    "found": float(np.mean([each.found for each in measured])),
                    "relevant_pruned_a_message": rules_lost / (count * length),
                },
                name=f"sessions.{length}.{way}",
            )
    report.show()


async def _cosine_bar(
    models: RememberingModels, sets: Mapping[str, DataSet], rules: Sequence[Rule]
) -> float:
    """Return the cosine at which the nearest signal finds 97 of 100 of the test messages' rules."""
    own: list[float] = []
    for prefix, data in sets.items():
        messages = data.test[::5]
        table = await nearest_signal(models, [each.text for each in messages], rules)
        at = {rule.title: place for place, rule in enumerate(rules)}
        own += [
            float(table[row, at[f"{prefix}{intent}"]])
            for row, each in enumerate(messages)
            for intent in each.intents
        ]
    return float(np.quantile(own, 0.03))
