"""The public sets that the discovery bench reads, and the rules it makes of their intents."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from poise.testing.turns import policy
from poise.values.rules import Rule


@attrs.frozen
class Labelled:
    """A message with every intent that it has; none for one that is out of scope."""

    text: str
    intents: frozenset[str]


@attrs.frozen
class DataSet:
    """A public set: what rules are made of, and what they are tried on."""

    name: str
    train: tuple[Labelled, ...]
    test: tuple[Labelled, ...]
    out_of_scope: tuple[Labelled, ...] = ()
    domains: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, hash=False)

    @property
    def intents(self) -> tuple[str, ...]:
        """Every intent, by name."""
        return tuple(sorted({intent for each in self.train for intent in each.intents}))

    def thinned(self, step: int) -> DataSet:
        """Return the same set with every `step`-th test message."""
        return attrs.evolve(self, test=self.test[::step], out_of_scope=self.out_of_scope[::step])


def read_clinc(folder: Path) -> DataSet:
    """Return CLINC150: 150 intents, 4,500 test messages, 1,000 out of scope."""
    kept = json.loads((folder / "clinc150/data_full.json").read_text(encoding="utf-8"))
    domains = json.loads((folder / "clinc150/domains.json").read_text(encoding="utf-8"))
    return DataSet(
        "CLINC150",
        _single(kept["train"]),
        _single(kept["test"]),
        tuple(Labelled(text, frozenset()) for text, _ in kept["oos_test"]),
        {name: tuple(intents) for name, intents in domains.items()},
    )


def read_banking(folder: Path) -> DataSet:
    """Return Banking77: 77 intents of one domain, 3,080 test messages."""
    halves = []
    for half in ("train", "test"):
        with (folder / f"banking77/{half}.csv").open(encoding="utf-8", newline="") as file:
            halves.append(_single((row["text"], row["category"]) for row in csv.DictReader(file)))
    return DataSet("Banking77", halves[0], halves[1])


def read_nlupp(folder: Path) -> DataSet:
    """Return NLU++ banking: 48 intents, several a message; folds 0 to 9 against 10 to 19."""
    halves: tuple[list[Labelled], list[Labelled]] = ([], [])
    for fold in range(20):
        kept = json.loads((folder / f"nlupp/data/banking/fold{fold}.json").read_text("utf-8"))
        halves[fold >= 10].extend(
            Labelled(each["text"], frozenset(each.get("intents", ()))) for each in kept
        )
    test = [each for each in halves[1] if each.intents]
    return DataSet("NLU++ banking", tuple(halves[0]), tuple(test))


def signals_of(
    data: DataSet, count: int, seed: int, *, skip: int = 0
) -> Mapping[str, tuple[str, ...]]:
    """Return `count` training phrases an intent, drawn at random; `skip` leaves the first ones."""
    chance = random.Random(seed)
    by_intent: dict[str, list[str]] = {intent: [] for intent in data.intents}
    for each in data.train:
        for intent in sorted(each.intents):
            by_intent[intent].append(each.text)
    drawn = {}
    for intent, texts in by_intent.items():
        shuffled = chance.sample(texts, len(texts))
        drawn[intent] = tuple(shuffled[skip : skip + count])
    return drawn


def rules_of(signals: Mapping[str, Sequence[str]], prefix: str = "") -> tuple[Rule, ...]:
    """Return a policy for each intent, titled with its name."""
    return tuple(
        policy(f"{prefix}{intent}", signals=_spoken(phrases)) for intent, phrases in signals.items()
    )


def _spoken(phrases: Iterable[str]) -> tuple[str, ...]:
    return tuple(phrase for phrase in phrases if phrase.strip())


def _single(pairs: Iterable[Sequence[str]]) -> tuple[Labelled, ...]:
    return tuple(Labelled(text, frozenset({intent})) for text, intent in pairs)
