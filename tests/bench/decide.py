"""How honest the offline decision model is: `nox -s bench -- decide [--json FILE]`.

Every intent of a public set is a rule with `--signals` training phrases as its signals. Discovery
is trained on them as in an application, and each test message is asked about each rule that it
sights, with discovery's calibrated probability as the prior. Beside it, on the same questions: the
prior alone, and the nearest example alone (no prior). Near misses are the phrases of other intents
that lie nearest to a rule, as an author would write them. The last table asks about what a message
denies.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import attrs
import numpy as np
from negated import NEGATED
from report import Report

from poise.hooks.offers import Offers, Sections, load
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.discovery import Discoverer
from poise.ports.models import DecisionModel, Embedder
from poise.ports.stores import ArtifactStore
from poise.testing.turns import catalog_of, policy, turn_of
from poise.turn.models import Answer, Capability, DecisionRequest, Question, TurnModels
from poise.turn.prompts import Prompt
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import CatalogSnapshot
from poise.values.clock import Clock, SystemClock
from poise.values.ids import IndexId, RuleId
from poise.values.rules import Rule
from poise_embedded.prior import PriorDecisionModel
from poise_embedded.use import UniversalSentenceEmbedder

BINS = 15


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


@attrs.frozen
class Judged:
    """One question about one message: the truth, and what each way answers."""

    holds: bool
    prior: float
    value: float | None
    is_denied: bool
    alone: float | None


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


class Remembering(Embedder):
    """The default embedder; each text is embedded once in the whole run."""

    def __init__(self) -> None:
        self._embedder = UniversalSentenceEmbedder()
        self.identity = self._embedder.identity
        self.dimensions = self._embedder.dimensions
        self._kept: dict[str, np.ndarray] = {}

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        missing = list(dict.fromkeys(text for text in texts if text not in self._kept))
        self._kept |= zip(missing, await self._embedder.embed(missing), strict=True)
        rows = [self._kept[text] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimensions)


class Models(TurnModels):
    """The embedder alone: discovery asks for nothing else."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> np.ndarray:
        return await self._embedder.embed(texts)

    async def decide(self, route: str, request: DecisionRequest) -> Sequence[Answer]:
        return [Answer(each.id, None, None, judged_by="nobody") for each in request.questions]

    def serves(self, route: str, capability: Capability) -> bool:
        return capability is Capability.EMBED

    def identity(self, route: str = "embed") -> str:
        return self._embedder.identity


class Supplier:
    """Hands the discoverer what an application would."""

    def __init__(self, models: TurnModels, sections: Mapping[type, object]) -> None:
        self._kept: dict[type, object] = {
            TurnModels: models,
            ArtifactStore: MemoryArtifactStore(),
            Clock: SystemClock(),
            **sections,
        }

    def supply(self, kind: type) -> Any:  # an instance of `kind`
        return self._kept[kind]


class Silent:
    """Shows no progress."""

    def report(self, phase: str, done: int, total: int) -> None:
        """Take note of nothing."""


def discoverer_of(models: TurnModels) -> Discoverer:
    """Return the default discoverer, with its default settings."""
    from poise_discovery import plugin

    offers, sections = Offers("discovery"), Sections("discovery")
    plugin.poise_provide(offers)
    plugin.poise_config(sections)
    made = {load(each.model, each.plugin): each for each in sections.all()}
    supplier = Supplier(models, {kind: kind() for kind in made})  # type: ignore[misc]
    found: Discoverer = offers.make(Discoverer, None, supplier)
    return found


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


async def judge(
    data: DataSet, rules: Sequence[Rule], models: Models, decisions: DecisionModel
) -> tuple[list[Judged], float]:
    """Return every question that the test half leads to, and milliseconds a request."""
    discoverer = discoverer_of(models)
    snapshot = catalog_of(rules)
    index = await discoverer.prepare(snapshot, Silent())
    await models.embed([each.text for each in data.test])
    judged: list[Judged] = []
    spent = 0.0
    for message in data.test:
        questions = await questions_of(message.text, snapshot, discoverer, index, models)
        if not questions:
            continue
        started = time.process_time()
        found = await decisions.decide(DecisionRequest(Prompt(()), (message.text,), questions))
        spent += time.process_time() - started
        bare = tuple(attrs.evolve(each, prior=None) for each in questions)
        alone = await decisions.decide(DecisionRequest(Prompt(()), (message.text,), bare))
        judged.extend(
            Judged(
                holds=snapshot.rules[RuleId(question.id)].name in message.intents,
                prior=question.prior or 0.0,
                value=answer.value,
                is_denied=answer.value is None,
                alone=unaided.value,
            )
            for question, answer, unaided in zip(questions, found, alone, strict=True)
        )
    return judged, spent / len(data.test) * 1000


async def questions_of(
    text: str,
    snapshot: CatalogSnapshot,
    discoverer: Discoverer,
    index: IndexId,
    models: Models,
) -> tuple[Question, ...]:
    """Return a question for each rule that discovery sights in `text`."""
    turn = turn_of(snapshot, text, models=models, index=index)
    sightings = await discoverer.discover(turn, [Query(QueryKind.MESSAGE, text, 0)])
    return tuple(
        question_of(snapshot.rules[each.rule], each.probability)
        for each in sightings
        if each.is_hit
    )


def question_of(rule: Rule, prior: float) -> Question:
    """Return what a matcher asks about a rule."""
    return Question(
        rule.id,
        f"Does this hold: {rule.when}?",
        examples=rule.signals,
        counterexamples=rule.anti_signals,
        prior=prior,
    )


def figures(
    truth: Sequence[bool], values: Sequence[float | None], band: tuple[float, float]
) -> dict[str, float]:
    """Return calibration and accuracy of one way of answering; withheld answers have no value."""
    low, high = band
    pairs = [(held, each) for held, each in zip(truth, values, strict=True) if each is not None]
    held = np.array([pair[0] for pair in pairs], dtype=bool)
    value = np.array([pair[1] for pair in pairs])
    yes, no = value >= high, value <= low
    decided = yes | no
    return {
        "ece": ece(value, held),
        "decided_right": float((held[yes].sum() + (~held[no]).sum()) / max(1, decided.sum())),
        "yes_right": float(held[yes].mean()) if yes.any() else 1.0,
        "yes_found": float(held[yes].sum() / max(1, sum(truth))),
        "lost_to_no": float(held[no].sum() / max(1, sum(truth))),
        "edge_yes_right": _mean(held[yes & (value < high + 0.1)]),
        "edge_no_right": _mean(~held[no & (value > low - 0.1)]),
        "undecided": float((len(truth) - decided.sum()) / max(1, len(truth))),
    }


def ece(value: np.ndarray, held: np.ndarray) -> float:
    """Return the expected calibration error over equal bins."""
    if not len(value):
        return 0.0
    bins = np.minimum((value * BINS).astype(int), BINS - 1)
    return float(
        sum(
            (bins == each).mean() * abs(value[bins == each].mean() - held[bins == each].mean())
            for each in np.unique(bins)
        )
    )


def reliability(judged: Sequence[Judged]) -> list[dict[str, float]]:
    """Return, in tenths of the answered probability: how many, stated and observed."""
    answered = [(each.value, each.holds) for each in judged if each.value is not None]
    rows = []
    for tenth in range(10):
        within = [pair for pair in answered if min(int(pair[0] * 10), 9) == tenth]
        if within:
            rows.append(
                {
                    "from": tenth / 10,
                    "questions": len(within),
                    "stated": float(np.mean([pair[0] for pair in within])),
                    "observed": float(np.mean([pair[1] for pair in within])),
                }
            )
    return rows


async def denied(
    rules: Sequence[Rule], name: str, models: Models, decisions: DecisionModel
) -> dict[str, float]:
    """Return what becomes of messages that deny what a rule of this set is about."""
    discoverer = discoverer_of(models)
    snapshot = catalog_of(rules)
    index = await discoverer.prepare(snapshot, Silent())
    low, high = decisions.band
    counts = dict.fromkeys(("messages", "discovery_yes", "yes", "abstained", "no"), 0)
    for intent, text in NEGATED[name]:
        asked = await questions_of(text, snapshot, discoverer, index, models)
        question = next((q for q in asked if snapshot.rules[RuleId(q.id)].name == intent), None)
        counts["messages"] += 1
        if question is None:  # not sighted, so nobody asks
            counts["no"] += 1
            continue
        request = DecisionRequest(Prompt(()), (text,), (question,))
        (answer,) = await decisions.decide(request)
        counts["discovery_yes"] += (question.prior or 0.0) >= high
        if answer.value is None or low < answer.value < high:
            counts["abstained"] += 1
        else:
            counts["yes" if answer.value >= high else "no"] += 1
    return {key: float(count) for key, count in counts.items()}


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 1.0


async def measure(report: Report, options: argparse.Namespace) -> None:
    """Fill the report, one set after the other."""
    embedder = Remembering()
    models, decisions = Models(embedder), PriorDecisionModel(embedder)
    for each in read_sets(options.data):
        data = attrs.evolve(each, test=each.test[:: 5 if options.quick else 1])
        for near_misses in (False, True):
            rules = await rules_of(
                data, models, options.signals, near_misses=near_misses, seed=options.seed
            )
            kind = "with near misses" if near_misses else "signals alone"
            name = f"{data.name}.{'near_misses' if near_misses else 'plain'}"
            judged, milliseconds = await judge(data, rules, models, decisions)
            truth = [each.holds for each in judged]
            ways: Mapping[str, Sequence[float | None]] = {
                "prior": [each.value for each in judged],
                "discovery alone": [each.prior for each in judged],
                "no prior": [each.alone for each in judged],
            }
            for way, values in ways.items():
                report.row(
                    f"{data.name}, {options.signals} signals, {kind}",
                    {"way": way, **figures(truth, values, decisions.band)},
                    name=f"{name}.{way.replace(' ', '_')}",
                )
            report.row(
                "share withheld because the message denies, and cost",
                {
                    "set": f"{data.name}, {kind}",
                    "questions": len(judged),
                    "withheld": float(np.mean([each.is_denied for each in judged])),
                    "withheld_of_true": float(
                        np.mean([each.is_denied for each in judged if each.holds])
                    ),
                    "cpu_ms_a_request": milliseconds,
                },
                name=f"{name}.withheld",
            )
            for row in reliability(judged):
                report.row(
                    f"reliability: {data.name}, {kind}",
                    row,
                    name=f"{name}.reliability.{row['from']:.1f}",
                )
            if data.name in NEGATED:
                report.row(
                    "messages that deny what the rule is about",
                    {
                        "set": f"{data.name}, {kind}",
                        **await denied(rules, data.name, models, decisions),
                    },
                    name=f"{name}.denied",
                )


def main() -> None:
    """Measure, print, and write the figures where `--json` says."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="every fifth test message")
    parser.add_argument("--signals", type=int, default=10, help="phrases a rule")
    parser.add_argument("--seed", type=int, default=0, help="which phrases")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("POISE_DATA", root.parent / "shared" / "data")),
        help="folder of the public sets; default: POISE_DATA, or ../shared/data",
    )
    options = parser.parse_args()
    report = Report("decide")
    anyio.run(measure, report, options)
    report.finish(options.json)


if __name__ == "__main__":
    main()
