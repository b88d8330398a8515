"""How well discovery finds rules: `nox -s bench -- discovery [--json FILE] [--quick]`.

On public sets (CLINC150, Banking77, NLU++) every intent is a rule, with training phrases as its
signals and the set's own test messages as customers. Beside the plugin, on the same vectors and in
the same run: the nearest signal, and the peer's published constants. Thresholds come from training
phrases alone; the curve then moves every way to equal recall on the test messages.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import numpy as np
from discovery_data import (
    DataSet,
    read_banking,
    read_clinc,
    read_nlupp,
    rules_of,
    signals_of,
)
from discovery_methods import (
    PEER_THRESHOLD,
    RememberingModels,
    Trained,
    near_misses,
    nearest_signal,
    our_margins,
    peer_margins,
    train,
)
from discovery_phrases import RULES, SAID
from discovery_sessions import Measured, play, sessions_of
from report import Report

from poise.testing.turns import catalog_of, observation
from poise.turn.queries import Query, QueryKind
from poise.values.ids import RuleId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_discovery.scoring import Probe, score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]

CURVE = (0.90, 0.95, 0.97, 0.98, 0.99)
BINS = 10
ADMIT_LIMIT = 10


def truth_of(data: DataSet, rules: Sequence[Rule]) -> Flags:
    """Return messages × rules: which rules a test message should bring up."""
    titles = [rule.title for rule in rules]
    return np.asarray([[title in each.intents for title in titles] for each in data.test])


def figures(
    scores: Floats, truth: Flags, bar: float, outside: Floats | None
) -> dict[str, float | None]:
    """Return what a bar admits: recall, rules a message, out of scope, the worst decile."""
    admitted = scores >= bar
    by_rule = [admitted[truth[:, at], at].mean() for at in np.flatnonzero(truth.any(axis=0))]
    found: dict[str, float | None] = {
        "recall": float(admitted[truth].mean()),
        "admitted": float(admitted.sum(axis=1).mean()),
        "out_of_scope": None,
        "p10_rule_recall": float(np.quantile(by_rule, 0.1)),
        "auroc_out_of_scope": None,
    }
    if outside is not None and len(outside):
        found["out_of_scope"] = float((outside >= bar).sum(axis=1).mean())
        found["auroc_out_of_scope"] = auroc(scores.max(axis=1), outside.max(axis=1))
    return found


def auroc(inside: Floats, outside: Floats) -> float:
    """Return the chance that a message in scope scores above one out of scope."""
    both = np.concatenate([outside, inside])
    ranks = np.empty(len(both))
    ranks[np.argsort(both, kind="stable")] = np.arange(1, len(both) + 1)
    below = len(inside) * (len(inside) + 1) / 2
    return float((ranks[len(outside) :].sum() - below) / (len(inside) * len(outside)))


def bar_at(scores: Floats, truth: Flags, recall: float) -> float:
    """Return the bar at which that share of the true rules is admitted."""
    own = np.sort(scores[truth])
    return float(own[int((1.0 - recall) * len(own))])


def mean_rows(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each column over draws of signals."""
    found: dict[str, float | None] = {}
    for column in rows[0]:
        values = [row[column] for row in rows if row[column] is not None]
        found[column] = (
            float(np.mean([float(value or 0.0) for value in values])) if values else None
        )
    return found


def ece(chances: Floats, truth: Flags) -> float:
    """Return the expected calibration error over bins of equal width."""
    places = np.clip((chances * BINS).astype(int), 0, BINS - 1)
    return float(
        sum(
            abs(chances[places == at].mean() - truth[places == at].mean()) * (places == at).mean()
            for at in range(BINS)
            if (places == at).any()
        )
    )


async def quality(
    report: Report, models: RememberingModels, data: DataSet, options: argparse.Namespace
) -> None:
    """Tables of one set: at the chosen threshold, along the curve, and the reliability."""
    texts = [each.text for each in data.test]
    outside_texts = [each.text for each in data.out_of_scope]
    for count in (10, 20):
        chosen: dict[str, list[dict[str, float | None]]] = {}
        curve: dict[tuple[str, float], list[dict[str, float | None]]] = {}
        sighted: list[tuple[Floats, Flags]] = []
        seconds = []
        for seed in range(options.draws):
            rules = rules_of(signals_of(data, count, seed))
            truth = truth_of(data, rules)
            await models.embed([text for rule in rules for text in rule.signals])
            started = time.perf_counter()
            trained = await train(catalog_of(rules), models)
            seconds.append(time.perf_counter() - started)
            margins, chances = await our_margins(trained, texts, rules)
            outside = None
            if outside_texts:
                outside = (await our_margins(trained, outside_texts, rules))[0]
            hits = margins >= 0.0
            sighted.append((chances[hits], truth[hits]))
            anti = await near_misses(models, rules, count)
            ways: dict[str, tuple[Floats, Floats | None, float | None]] = {
                "ours": (margins, outside, 0.0)
            }
            compared: Mapping[str, Callable[[Sequence[str]], object]] = {
                "nearest signal": lambda said, r=rules: nearest_signal(models, said, r),  # type: ignore[misc]
                "peer, own near misses": lambda said, r=rules, a=anti: peer_margins(  # type: ignore[misc]
                    models, said, r, a
                ),
                "peer, other rules": lambda said, r=rules: peer_margins(models, said, r),  # type: ignore[misc]
            }
            for way, scorer in compared.items():
                both = await scorer([*texts, *outside_texts])  # type: ignore[misc]
                bar = None if way == "nearest signal" else PEER_THRESHOLD
                beyond = both[len(texts) :] if outside_texts else None
                ways[way] = (both[: len(texts)], beyond, bar)
            for way, (scores, beyond, bar) in ways.items():
                if bar is not None:
                    chosen.setdefault(way, []).append(figures(scores, truth, bar, beyond))
                for recall in CURVE:
                    row = figures(scores, truth, bar_at(scores, truth, recall), beyond)
                    curve.setdefault((way, recall), []).append(row)
        key = f"{data.name.replace(' ', '_')}.{count}"
        for way, rows in chosen.items():
            report.row(
                f"{data.name}, {count} signals, at each way's own threshold (mean of "
                f"{options.draws} draws)",
                {"way": way, **mean_rows(rows)},
                name=f"{key}.chosen.{way}",
            )
        for (way, recall), rows in curve.items():
            report.row(
                f"{data.name}, {count} signals, at equal realised recall",
                {"way": way, "at": f"{recall:.2f}", **mean_rows(rows)},
                name=f"{key}.{recall:.2f}.{way}",
            )
        told = np.concatenate([each for each, _ in sighted])
        held = np.concatenate([each for _, each in sighted])
        report.row(
            "calibration of sighted rules, and time to train with vectors at hand",
            {
                "set": data.name,
                "signals": count,
                "ece": ece(told, held),
                "sighted": len(told),
                "train_seconds": float(np.median(seconds)),
            },
            name=f"{key}.calibration",
        )
        for at in range(BINS):
            inside = (told * BINS).astype(int).clip(0, BINS - 1) == at
            if inside.any():
                report.row(
                    f"reliability: {data.name}, {count} signals",
                    {
                        "from": at / BINS,
                        "sightings": int(inside.sum()),
                        "told": float(told[inside].mean()),
                        "true": float(held[inside].mean()),
                    },
                )
        report.show()


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


async def sessions(
    report: Report, models: RememberingModels, sets: Mapping[str, DataSet], count: int
) -> None:
    """The working set over 5, 15 and 30 messages."""
    rules = [
        rule for prefix, data in sets.items() for rule in rules_of(signals_of(data, 10, 0), prefix)
    ]
    trained = await train(catalog_of(rules), models)
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
            for way, prune in (
                ("ours", "always"),
                ("ours, pruned above 30 only", "full"),
                ("ours, no decay", "never"),
            ):
                ways.setdefault(way, []).append(await play(trained, said, names, prune=prune))
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


async def speed(report: Report, models: RememberingModels, trained: Trained) -> None:
    """Milliseconds to score one query, by catalog size; heads are repeated with noise."""
    import attrs

    from poise_discovery.projection import fit_projection
    from poise_discovery.solver import Heads

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


async def measure(report: Report, options: argparse.Namespace) -> None:
    """Run every part, printing as it goes."""
    models = RememberingModels()
    step = 5 if options.quick else 1
    clinc = read_clinc(options.data).thinned(step)
    banking = read_banking(options.data).thinned(step)
    nlupp = read_nlupp(options.data).thinned(step)
    only = set(options.only or ())

    def is_wanted(part: str) -> bool:
        return not only or part in only

    if is_wanted("quality"):
        for data in (clinc, banking, nlupp):
            if not options.sets or data.name.split()[0].lower() in options.sets:
                await quality(report, models, data, options)
    if is_wanted("pairs"):
        await pairs(report, models, clinc)
    if is_wanted("two_requests"):
        await two_requests(report, models, clinc, 200 if options.quick else 600)
    if is_wanted("languages"):
        await languages(report, models)
    if is_wanted("growth"):
        await growth(report, models, (clinc, banking, nlupp), 1 if options.quick else 3)
    if is_wanted("sessions"):
        both = {"clinc ": clinc, "nlupp ": nlupp}
        await sessions(report, models, both, 5 if options.quick else 20)
    if is_wanted("speed"):
        await speed(report, models, await train(catalog_of(rules_of(RULES)), models))


def main() -> None:
    """Measure, print, and write the figures where `--json` says."""
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="every fifth message, one draw")
    parser.add_argument("--draws", type=int, default=3, help="draws of signals to average")
    parser.add_argument("--only", nargs="*", help="parts to run; default: all")
    parser.add_argument(
        "--sets", nargs="*", help="for the part `quality`: clinc150, banking77, nlu++; default: all"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("POISE_DATA", root.parent / "shared" / "data")),
        help="folder of the public sets; default: POISE_DATA, or ../shared/data",
    )
    options = parser.parse_args()
    if options.quick:
        options.draws = 1
    if not (options.data / "clinc150").is_dir():
        sys.exit(f"no public sets in {options.data}: say where they are with POISE_DATA or --data")
    report = Report("discovery")
    anyio.run(measure, report, options)
    report.finish(options.json)


if __name__ == "__main__":
    main()
