"""Public intent sets as catalogs: an intent is a rule, its training phrases are the signals."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path

import attrs
import numpy as np

from poise.testing.turns import policy
from poise.turn.models import TurnModels
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


def read_sets(folder: Path) -> Iterable[DataSet]:
    """Yield CLINC150, Banking77 and NLU++ banking (folds 0 to 9 against 10 to 19)."""
    clinc = json.loads((folder / "clinc150/data_full.json").read_text(encoding="utf-8"))
    yield DataSet(
        "CLINC150",
        tuple(Labelled(text, frozenset({intent})) for text, intent in clinc["train"]),
        (
            *(Labelled(text, frozenset({intent})) for text, intent in clinc["test"]),
            *(Labelled(text, frozenset()) for text, _ in clinc["oos_test"]),
        ),
    )
    halves = []
    for half in ("train", "test"):
        with (folder / f"banking77/{half}.csv").open(encoding="utf-8", newline="") as file:
            halves.append(
                tuple(
                    Labelled(row["text"], frozenset({row["category"]}))
                    for row in csv.DictReader(file)
                )
            )
    yield DataSet("Banking77", *halves)
    folds = [
        [
            Labelled(each["text"], frozenset(each.get("intents", ())))
            for each in json.loads(
                (folder / f"nlupp/data/banking/fold{fold}.json").read_text(encoding="utf-8")
            )
        ]
        for fold in range(20)
    ]
    yield DataSet(
        "NLU++",
        tuple(each for fold in folds[:10] for each in fold),
        tuple(each for fold in folds[10:] for each in fold),
    )


async def rules_of(
    data: DataSet, models: TurnModels, signals: int, *, near_misses: bool, seed: int
) -> tuple[Rule, ...]:
    """Return a rule per intent with enough phrases; near misses are its anti-signals."""
    chance = random.Random(seed)
    intents: dict[str, set[str]] = {}
    for each in data.train:
        intents.setdefault(each.text, set()).update(each.intents)
    phrases = {
        intent: sorted(text for text, found in intents.items() if intent in found)
        for intent in sorted(set().union(*intents.values()))
    }
    chosen = {
        intent: chance.sample(texts, min(signals, len(texts)))
        for intent, texts in phrases.items()
        if len(texts) >= 5
    }
    pool = sorted({text for texts in chosen.values() for text in texts})
    rows = await models.embed(pool)
    place = {text: number for number, text in enumerate(pool)}
    made = []
    for intent, texts in chosen.items():
        nearness = rows @ rows[[place[text] for text in texts]].mean(axis=0)
        others = [pool[each] for each in np.argsort(-nearness) if intent not in intents[pool[each]]]
        made.append(
            policy(
                intent,
                when=intent.replace("_", " "),
                signals=texts,
                anti_signals=others[:signals] if near_misses else (),
            )
        )
    return tuple(made)
