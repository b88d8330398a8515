"""Catalogs of other shapes: topics, growing ones, two requests at once, other languages, speed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from discovery_data import DataSet, rules_of, signals_of
from discovery_figures import bar_at, figures, truth_of
from discovery_methods import RememberingModels, Trained, nearest_signal, our_margins, train
from discovery_phrases import RULES, SAID
from report import Report

from poise.testing.turns import catalog_of, observation
from poise.turn.queries import Query, QueryKind
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_discovery.projection import fit_projection
from poise_discovery.scoring import Probe, score
from poise_discovery.solver import Heads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

ADMIT_LIMIT = 10


async def pairs(report: Report, models: RememberingModels, data: DataSet) -> None:
    """Topic and policy together: an observation per domain, on which its policies depend."""
    texts = [each.text for each in data.test]
    for own_only in (False, True):
        signals = signals_of(data, 10, 0)
        rules = rules_of(signals)
        by_title = {rule.title: rule for rule in rules}
        topics, relations = [], []
        for domain, intents in data.domains.items():
            own = [signals_of(data, 1, 7, skip=20)[intent][0] for intent in intents[:10]]
            topic = observation(f"about {domain}", signals=own, own_signals_only=own_only)
            topics.append(topic)
            relations += [
                Relation(RelationKind.DEPENDENCY, by_title[intent].id, topic.id)
                for intent in intents
            ]
        trained = await train(catalog_of([*rules, *topics], relations), models)
        margins, _ = await our_margins(trained, texts, [*rules, *topics])
        policy_hit = (margins[:, : len(rules)] >= 0.0)[truth_of(data, rules)]
        domain_of = {intent: d for d, intents in data.domains.items() for intent in intents}
        place = {domain: len(rules) + at for at, domain in enumerate(data.domains)}
        topic_at = [place[domain_of[next(iter(each.intents))]] for each in data.test]
        topic_hit = margins[np.arange(len(texts)), topic_at] >= 0.0
        report.row(
            "topic and policy together, CLINC150's ten domains, 10 signals each",
            {
                "topic's signals": "its own" if own_only else "its own and its policies'",
                "policy": float(policy_hit.mean()),
                "topic_by_own_score": float(topic_hit.mean()),
                "both_by_own_score": float((policy_hit & topic_hit).mean()),
                # What a sighted rule depends on comes up with it.
                "both_as_considered": float(policy_hit.mean()),
                "admitted": float((margins >= 0.0).sum(axis=1).mean()),
            },
            name=f"pairs.{'own' if own_only else 'shared'}",
        )
    report.show()


_WRAPPED = ("{}", "hi, {}", "{}, please", "hello there. {}", "{} thanks", "quick question: {}")


async def growth(
    report: Report, models: RememberingModels, sets: Sequence[DataSet], step: int
) -> None:
    """Rules admitted and recall at the admit limit as the catalog grows."""
    every = [(data, intent) for data in sets for intent in data.intents]
    # Shuffled alike in every run, so that small catalogs hold all sets.
    order = np.random.default_rng(3).permutation(len(every))
    for wanted, splits in ((40, 1), (80, 1), (150, 1), (227, 1), (275, 1), (275, 2), (275, 4)):
        chosen = [every[at] for at in order[:wanted]]
        rules: list[Rule] = []
        owners: list[str] = []
        for split in range(splits):
            for data in sets:
                drawn = signals_of(data, 10, 0, skip=10 * split)
                kept = {
                    intent: [
                        _WRAPPED[(at + split) % len(_WRAPPED)].format(text) if split else text
                        for at, text in enumerate(drawn[intent])
                    ]
                    for of, intent in chosen
                    if of is data and len(drawn[intent]) >= 5
                }
                rules += rules_of(kept, f"{data.name}:{split}:")
                owners += [f"{data.name}:{intent}" for intent in kept]
        trained = await train(catalog_of(rules), models)
        names = {f"{data.name}:{intent}" for data, intent in chosen} & set(owners)
        texts, truth = [], []
        for data in sets:
            for each in data.test[::step]:
                own = {f"{data.name}:{intent}" for intent in each.intents}
                if own and own <= names:
                    texts.append(each.text)
                    truth.append([owner in own for owner in owners])
        margins, _ = await our_margins(trained, texts, rules)
        marks = np.asarray(truth)
        ranks = (-margins).argsort(axis=1).argsort(axis=1)
        within = (margins >= 0.0) & (ranks < ADMIT_LIMIT)
        report.row(
            "growth: intents of all sets together; then split into rules of other wording",
            {
                "rules": len(rules),
                "messages": len(texts),
                "recall": _found_share(margins >= 0.0, marks, owners),
                "recall_at_limit": _found_share(within, marks, owners),
                "above_threshold": float((margins >= 0.0).sum(axis=1).mean()),
                "admitted": float(within.sum(axis=1).mean()),
                "share_of_catalog": float(within.sum(axis=1).mean() / len(rules)),
            },
            name=f"growth.{len(rules)}",
        )
    report.show()


def _found_share(admitted: Flags, truth: Flags, owners: Sequence[str]) -> float:
    """Return the share of a message's intents of which at least one rule was admitted."""
    names = sorted(set(owners))
    of = np.asarray([names.index(owner) for owner in owners])
    found = wanted = 0
    for row, own in zip(admitted, truth, strict=True):
        intents = set(of[own].tolist())
        wanted += len(intents)
        found += len(intents & set(of[row & own].tolist()))
    return found / max(1, wanted)


async def two_requests(
    report: Report, models: RememberingModels, data: DataSet, count: int
) -> None:
    """Messages that ask two things: test messages of two intents, joined."""
    rules = rules_of(signals_of(data, 10, 0))
    trained = await train(catalog_of(rules), models)
    chance = np.random.default_rng(5)
    drawn = chance.integers(0, len(data.test), (count, 2)).tolist()
    for joint in (". ", " and ", ", also "):
        texts, truth = [], []
        for first, second in drawn:
            one, other = data.test[first], data.test[second]
            if one.intents != other.intents:
                texts.append(f"{one.text}{joint}{other.text}")
                truth.append([rule.title in one.intents | other.intents for rule in rules])
        marks = np.asarray(truth)
        margins, _ = await our_margins(trained, texts, rules)
        whole = np.asarray(
            [
                score(
                    trained.index,
                    [Probe(text, Query(QueryKind.MESSAGE, text, 0))],
                    await models.embed([text]),
                ).margins[trained.columns(rules)]
                for text in texts
            ]
        )
        for way, scores in (("with parts", margins), ("whole message only", whole)):
            hit = (scores >= 0.0)[marks].reshape(len(texts), 2)
            report.row(
                "two requests in one message, CLINC150, 10 signals",
                {
                    "joined by": joint.strip() or ".",
                    "way": way,
                    "either": float(hit.mean()),
                    "both": float(hit.all(axis=1).mean()),
                    "admitted": float((scores >= 0.0).sum(axis=1).mean()),
                },
                name=f"two_requests.{joint.strip(' ,')}.{way.replace(' ', '_')}",
            )
    report.show()


async def languages(report: Report, models: RememberingModels) -> None:
    """English rules, customers in five languages."""
    rules = rules_of(RULES)
    trained = await train(catalog_of(rules), models)
    for language, said in SAID.items():
        texts = [text for messages in said.values() for text in messages]
        truth = np.asarray(
            [[rule.title == title for rule in rules] for title in said for _ in said[title]]
        )
        margins, _ = await our_margins(trained, texts, rules)
        cosines = await nearest_signal(models, texts, rules)
        ours = figures(margins, truth, 0.0, None)
        bar = bar_at(cosines, truth, min(0.999, float(ours["recall"] or 0.0)))
        report.row(
            f"English rules ({len(rules)}, 8 signals), customers in other languages",
            {
                "language": language,
                "messages": len(texts),
                "recall": ours["recall"],
                "top1": float((margins.argmax(axis=1) == truth.argmax(axis=1)).mean()),
                "admitted": ours["admitted"],
                "nearest_signal_admits": float((cosines >= bar).sum(axis=1).mean()),
            },
            name=f"languages.{language}",
        )
    report.show()


async def speed(report: Report, models: RememberingModels, trained: Trained) -> None:
    """Milliseconds to score one query, by catalog size; heads are repeated with noise."""
    chance = np.random.default_rng(0)
    query = Query(QueryKind.MESSAGE, "my card was swallowed by the machine", 0)
    probe = [Probe(query.text, query)]
    vector = await models.embed([query.text])
    pool = chance.standard_normal((1_200, vector.shape[1])).astype(np.float32)
    for rules in (100, 1_000, 10_000):
        projection = fit_projection(pool, rules)
        dimensions = projection.apply(vector).shape[1]
        index = attrs.evolve(
            trained.index,
            rules=tuple(f"rule_{at}" for at in range(rules)),
            keys=("",) * rules,
            heads=Heads(
                chance.standard_normal((rules, dimensions)).astype(np.float32),
                np.full(rules, -100.0, dtype=np.float32),
            ),
            projection=projection,
            spoken=np.ones(rules, dtype=np.bool_),
            signals=((),) * rules,
            signal_rows=np.zeros((0, dimensions), dtype=np.float16),
        )
        spent = []
        for _ in range(300):
            started = time.perf_counter()
            score(index, probe, vector).hits()
            spent.append((time.perf_counter() - started) * 1000)
        report.row(
            "scoring one query (run with OPENBLAS_NUM_THREADS=1 for one thread)",
            {
                "rules": rules,
                "dimensions": dimensions,
                "p50_ms": float(np.median(spent)),
                "best_ms": min(spent),
            },
            name=f"speed.{rules}",
        )
    report.show()
