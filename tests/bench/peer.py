"""Poise on the neutral scenarios that the peer was measured on: `nox -s bench -- peer`.

Every engine plays the same three turns against the same stub of a model server, whose latency and
answers are fixed: a rule holds if its marker is in the customer's message. Beside Poise, in the
same run, the naive floor: all rules in one prompt, without an engine. The peer's figures are those
that its own run recorded. What is compared is matching: how many requests judge the rules, how
many prompt tokens they take, whether the verdicts are right. Composing, tools and procedure are
not part of it yet, so milliseconds of Poise are of a turn without them; those of the others
compose a reply, and the peer's tokens are of its whole turn, as nothing finer was recorded.

A model that is not asked about a rule can't be right about it, so a run in which Poise has fewer of
the true rules judged than the peer, who has every rule judged, is not shown.

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
from peer_figures import Played, Repeated
from peer_play import ROUTES, NaivePlayer, PoisePlayer, served
from peer_scenarios import VARIABLE, Recorded, Scenarios, default_folder
from report import Report

SIZES = (10, 100, 1000, 10_000)
LIMIT_REQUESTS = 2
LIMIT_TOKENS = 5000
SPUN_FREE = 115_000
"""What a free core of the machine of the recorded figures spins in a second."""


class Tables:
    """Puts what was played side by side, a table for each size."""

    def __init__(self, report: Report, scenarios: Scenarios) -> None:
        self._report = report
        self._scenarios = scenarios

    def add(self, rules: int, ours: Mapping[str, Played], naive: Played) -> None:
        """Print the table of one size.

        Args:
            rules: How many rules there are.
            ours: What Poise took, by route.
            naive: What it takes without an engine.
        """
        title = (
            f"{rules:,} rules, a turn (limits: {LIMIT_REQUESTS} requests, {LIMIT_TOKENS:,} tokens)"
        )
        recorded = {
            latency: self._scenarios.recorded(rules, latency) for latency in ("typical", "zero")
        }
        shown = {route: _judges_all(played) for route, played in ours.items()}
        for turn in range(len(naive["typical"])):
            rows = {
                f"Poise, {route}": _ours(played, turn)
                if shown[route]
                else {**_judged(played, turn), "right": "not shown"}
                for route, played in ours.items()
            }
            rows["naive floor"] = _told(naive, turn)
            if recorded["typical"]:
                at_once = recorded["zero"][turn] if recorded["zero"] else None
                rows["peer, recorded"] = _theirs(
                    recorded["typical"][turn], at_once, naive["typical"][turn].true_rules
                )
            for who, figures in rows.items():
                key = who.partition(",")[2].strip() or "naive"
                row = {"turn": turn + 1, "who": who, **figures}
                self._report.row(title, row, name=f"{rules}.{turn + 1}.{key}")
        self._report.show()


def _judges_all(played: Played) -> bool:
    return all(each.true_judged == each.true_rules for turns in played.values() for each in turns)


def _judged(played: Played, turn: int) -> dict[str, Any]:
    runs: Sequence[Repeated] = [turns[turn] for turns in played.values()]
    return {
        "rules that hold": runs[0].true_rules,
        "of them judged": min(each.true_judged for each in runs),
    }


def _told(played: Played, turn: int) -> dict[str, Any]:
    typical, at_once = played["typical"][turn], played["zero"][turn]
    return {
        **_judged(played, turn),
        "judged in all": typical.most(lambda run: len(run.judged)),
        "right": typical.right and at_once.right,
        "requests": typical.most(lambda run: run.requests),
        "prompt tokens": typical.most(lambda run: run.tokens),
        "written": typical.most(lambda run: run.output),
        "ms": typical.of(lambda run: run.milliseconds),
        "beside models": typical.of(lambda run: run.overhead),
        "ms, instant models": at_once.of(lambda run: run.milliseconds),
        "cpu ms": at_once.of(lambda run: run.cpu),
    }


def _ours(played: Played, turn: int) -> dict[str, Any]:
    told = _told(played, turn)
    fits = told["requests"] <= LIMIT_REQUESTS and told["prompt tokens"] <= LIMIT_TOKENS
    return {**told, "within": fits}


def _theirs(typical: Recorded, at_once: Recorded | None, holding: int) -> dict[str, Any]:
    return {
        "rules that hold": holding,
        "of them judged": holding,
        "right": typical.right,
        "requests": typical.matching,
        "prompt tokens": typical.tokens,
        "written": typical.written,
        "ms": typical.milliseconds,
        "beside models": typical.overhead,
        "ms, instant models": at_once.milliseconds if at_once else None,
        "cpu ms": at_once.cpu if at_once else None,
    }


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
                exact &= all(each.runs[0].exact for each in naive["typical"])
                tables.add(rules, ours, naive)
                print(f"  indexed in {player.index_seconds:.1f} s", flush=True)
        spun = scenarios.module("harness").spin()
    report.finish(json_file)
    print(
        "\nTokens are "
        + ("exact." if exact else "characters by four: install bpe-openai for exact ones.")
        + f" A core spins {spun:,} times a second now; free, that of the peer's runs {SPUN_FREE:,}."
    )


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
