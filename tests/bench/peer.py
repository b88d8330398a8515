"""Poise on the neutral scenarios that the peer was measured on: `nox -s bench -- peer`.

Every engine plays the same three turns against the same stub of a model server, whose latency and
answers are fixed: a rule holds if its marker is in the customer's message. Beside Poise, in the
same run, the naive floor: all rules in one prompt, without an engine. The peer's figures are those
that its own run recorded. What is compared here is matching: how many requests judge the rules,
how many prompt tokens they take, and whether the verdicts are right. Composing, tools and
procedure are not part of it, so milliseconds of Poise are those of a turn without them.

A model that is not asked about a rule can't be right about it, so a run in which Poise leaves out
more of the true rules than the peer, who has every rule judged, is not shown.

The scenarios are outside of this repository: `--peer DIR` says where, else `POISE_BENCH_PEER`,
else `shared/bench/peer` beside the repository.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
from peer_play import ROUTES, Median, NaivePlayer, Played, PoisePlayer, served
from peer_scenarios import VARIABLE, Recorded, Scenarios, default_folder
from report import Report

SIZES = (10, 100, 1000, 10_000)
LIMIT_REQUESTS = 2
LIMIT_TOKENS = 5000

VERDICTS = "verdicts: rules that hold, and what became of them"
ASKED = (
    f"what matching asks of models, a turn (limits {LIMIT_REQUESTS} and {LIMIT_TOKENS:,}; the "
    "peer's tokens are of the whole turn)"
)
TIMES = (
    "milliseconds of a turn, `typical` latency model, and those not spent on models (naive and "
    "peer compose a reply, Poise does not yet)"
)
ENGINE = "milliseconds of a turn, models that take no time"


class Tables:
    """Puts what was played side by side."""

    def __init__(self, report: Report, scenarios: Scenarios) -> None:
        self._report = report
        self._scenarios = scenarios

    def add(self, rules: int, ours: Mapping[str, Played], naive: Played) -> None:
        """Add the rows of one size.

        Args:
            rules: How many rules there are.
            ours: What Poise took, by route.
            naive: What it takes without an engine.
        """
        shown = {route: self._verdicts(rules, route, played) for route, played in ours.items()}
        for turn, floor in enumerate(naive["typical"]):
            place = {"rules": rules, "turn": turn + 1}
            here = {
                route: played["typical"][turn] for route, played in ours.items() if shown[route]
            }
            none = {route: played["zero"][turn] for route, played in ours.items() if shown[route]}
            name = f"{rules}.{turn + 1}"
            asked, times = self._asked(here, floor), _times(here, floor)
            recorded = self._recorded(rules, "typical", turn)
            if recorded is not None:
                asked |= {"peer requests": recorded.matching, "peer tokens": recorded.tokens}
                times |= {"peer": recorded.milliseconds, "peer own": recorded.overhead}
            self._report.row(ASKED, place | asked, name=f"asked.{name}")
            self._report.row(TIMES, place | times, name=f"typical.{name}")
            engine: dict[str, Any] = {
                route: each.of(lambda run: run.milliseconds) for route, each in none.items()
            }
            engine["naive"] = naive["zero"][turn].of(lambda run: run.milliseconds)
            at_once = self._recorded(rules, "zero", turn)
            engine["peer"] = at_once.milliseconds if at_once is not None else None
            self._report.row(ENGINE, place | engine, name=f"zero.{name}")

    def _verdicts(self, rules: int, route: str, played: Played) -> bool:
        """Add the verdicts of one run; say whether its other figures are to be shown."""
        judged = [
            min(each.true_judged, played["zero"][turn].true_judged)
            for turn, each in enumerate(played["typical"])
        ]
        true = [each.true_rules for each in played["typical"]]
        is_shown = sum(judged) >= sum(true)  # the peer has every rule judged
        for turn, each in enumerate(played["typical"]):
            runs = (each, played["zero"][turn])
            peer = self._recorded(rules, "typical", turn)
            self._report.row(
                VERDICTS,
                {
                    "rules": rules,
                    "turn": turn + 1,
                    "route": route,
                    "hold": true[turn],
                    "true rules judged": judged[turn],
                    "judged in all": each.of(lambda run: len(run.judged)) if is_shown else None,
                    "right": all(run.right for run in runs) if is_shown else "not shown",
                    "peer right": peer.right if peer is not None else None,
                },
                name=f"verdicts.{rules}.{turn + 1}.{route}",
            )
        return is_shown

    def _asked(self, here: Mapping[str, Median], floor: Median) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for route in ROUTES:
            if route in here:
                requests = here[route].of(lambda run: run.requests)
                tokens = here[route].of(lambda run: run.tokens)
                row[f"{route} requests"] = requests
                row[f"{route} tokens"] = tokens
                row[f"{route} within"] = requests <= LIMIT_REQUESTS and tokens <= LIMIT_TOKENS
        row["naive requests"] = floor.of(lambda run: run.requests)
        row["naive tokens"] = floor.of(lambda run: run.tokens)
        return row

    def _recorded(self, rules: int, latency: str, turn: int) -> Recorded | None:
        found = self._scenarios.recorded(rules, latency)
        return found[turn] if found else None


def _times(here: Mapping[str, Median], floor: Median) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for route, each in here.items():
        row[route] = each.of(lambda run: run.milliseconds)
        row[f"{route} own"] = each.of(lambda run: run.overhead)
        row[f"{route} output tokens"] = each.of(lambda run: run.output)
    row["naive"] = floor.of(lambda run: run.milliseconds)
    row["naive own"] = floor.of(lambda run: run.overhead)
    return row


async def main(folder: Path, sizes: Sequence[int], runs: int, json_file: Path | None) -> None:
    """Play every size, and print."""
    report = Report("peer")
    exact = True
    with tempfile.TemporaryDirectory() as made:
        scenarios = Scenarios(folder, Path(made))
        tables = Tables(report, scenarios)
        with served(scenarios) as stub:
            for rules in sizes:
                scenario = scenarios.scenario(rules)
                player = PoisePlayer(scenarios, stub, scenario)
                ours = {route: await player.play(model, runs) for route, model in ROUTES.items()}
                naive = NaivePlayer(scenarios, stub, scenario).play(runs)
                tables.add(rules, ours, naive)
                exact &= all(each.runs[0].exact for each in naive["typical"])
                print(
                    f"{rules:,} rules played; indexed in {player.index_seconds:.1f} s", flush=True
                )
    report.finish(json_file)
    counted = "exact" if exact else "counted as four characters each: no vocabulary is installed"
    print(f"\nTokens are {counted}. The peer's are exact.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="Write the figures here.")
    parser.add_argument("--runs", type=int, default=2, help="Conversations of each kind.")
    parser.add_argument("--rules", type=int, action="append", help="A size; default: all four.")
    parser.add_argument(
        "--peer", type=Path, default=default_folder(), help=f"The scenarios; default: {VARIABLE}."
    )
    said = parser.parse_args()
    anyio.run(main, said.peer, tuple(said.rules or SIZES), said.runs, said.json)
