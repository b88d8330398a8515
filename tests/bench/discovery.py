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
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import numpy as np
from discovery_catalogs import growth, languages, pairs, speed, two_requests
from discovery_data import DataSet, read_banking, read_clinc, read_nlupp, rules_of, signals_of
from discovery_figures import BINS, bar_at, ece, figures, mean_rows, truth_of
from discovery_methods import (
    PEER_THRESHOLD,
    RememberingModels,
    near_misses,
    nearest_signal,
    our_margins,
    peer_margins,
    train,
)
from discovery_phrases import RULES
from discovery_sessions import sessions
from report import Report

from poise.testing.turns import catalog_of
from poise.values.rules import Rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]

CURVE = (0.90, 0.95, 0.97, 0.98, 0.99)


async def compared(
    models: RememberingModels, texts: Sequence[str], rules: Sequence[Rule]
) -> dict[str, Floats]:
    """Return the scores of the ways that the plugin is held against."""
    anti = await near_misses(models, rules, len(rules[0].signals))
    return {
        "nearest signal": await nearest_signal(models, texts, rules),
        "peer, own near misses": await peer_margins(models, texts, rules, anti),
        "peer, other rules": await peer_margins(models, texts, rules),
    }


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
            ways: dict[str, tuple[Floats, Floats | None, float | None]] = {
                "ours": (margins, outside, 0.0)
            }
            for way, both in (await compared(models, [*texts, *outside_texts], rules)).items():
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
