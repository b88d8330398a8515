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
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import attrs
import numpy as np
from intents import DataSet, read_sets, rules_of
from negated import NEGATED
from report import Report

from poise.hooks.offers import Offers, Sections, load
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.discovery import Discoverer
from poise.ports.models import DecisionModel, Embedder
from poise.ports.stores import ArtifactStore
from poise.testing.turns import catalog_of, turn_of
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

Cell = float | int | str | None


@attrs.frozen
class Judged:
    """One question about one message: the truth, and what each way answers."""

    holds: bool
    prior: float
    value: float | None
    alone: float | None


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

    async def warm(self, *, route: str = "embed") -> None:
        """Do nothing: the first text loads the model."""

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
) -> dict[str, Cell]:
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
    return dict(counts)


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 1.0


async def measure(report: Report, options: argparse.Namespace) -> None:
    """Fill the report: per set as it is measured, then the tables over all sets."""
    embedder = Remembering()
    models, decisions = Models(embedder), PriorDecisionModel(embedder)
    withheld: list[tuple[str, dict[str, Cell]]] = []
    denials: list[tuple[str, dict[str, Cell]]] = []
    for whole in read_sets(options.data):
        data = attrs.evolve(whole, test=whole.test[:: 5 if options.quick else 1])
        for kind, near_misses in (("signals alone", False), ("with near misses", True)):
            rules = await rules_of(
                data, models, options.signals, near_misses=near_misses, seed=options.seed
            )
            name = f"{data.name}.{kind.replace(' ', '_')}"
            about = f"{data.name}, {options.signals} signals, {kind}"
            judged, milliseconds = await judge(data, rules, models, decisions)
            for way, values in ways_of(judged).items():
                report.row(
                    about,
                    {
                        "way": way,
                        **figures([each.holds for each in judged], values, decisions.band),
                    },
                    name=f"{name}.{way.replace(' ', '_')}",
                )
            for tenth in reliability(judged):
                report.row(
                    f"{about}: reliability",
                    tenth,
                    name=f"{name}.reliability.{tenth['from']:.1f}",
                )
            true = [each for each in judged if each.holds]
            withheld.append(
                (
                    name,
                    {
                        "set": about,
                        "questions": len(judged),
                        "withheld": share_withheld(judged),
                        "withheld of true": share_withheld(true),
                        "cpu ms a request": milliseconds,
                    },
                )
            )
            denials.append(
                (name, {"set": about, **await denied(rules, data.name, models, decisions)})
            )
    for name, row in withheld:
        report.row("withheld for a denial, and cost", row, name=f"{name}.withheld")
    for name, row in denials:
        report.row("messages that deny what the rule is about", row, name=f"{name}.denied")


def ways_of(judged: Sequence[Judged]) -> Mapping[str, Sequence[float | None]]:
    """Return what each way answered, by its name."""
    return {
        "prior": [each.value for each in judged],
        "discovery alone": [each.prior for each in judged],
        "no prior": [each.alone for each in judged],
    }


def share_withheld(judged: Sequence[Judged]) -> float:
    """Return the share of questions that got no probability."""
    return sum(each.value is None for each in judged) / max(1, len(judged))


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
