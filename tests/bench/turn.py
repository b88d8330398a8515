"""What a turn costs beside models, at any catalog size: `nox -s bench -- turn [--json FILE]`.

Models take no time here: a scripted embedder (hashed words) and a scripted decision model. What
they do take is measured by the ledger and subtracted, and printed beside. The peer's figures are
those recorded for it with its own zero-time stub; the naive way is one prompt that holds all rules.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray
from report import Report

import poise
from poise.testing.models import scripted_vectors
from poise.testing.providers import ScriptedDecisionModel, ScriptedEmbedder, ScriptedProvider
from poise.values.agents import CompositionMode

PEER_TURN_MS = {1: 48.0, 1000: 2500.0}
"""Engine overhead of the field's reference, recorded with its zero-time stub."""

PEER_TURNS_PER_SECOND = 5.7

SUBJECTS = [
    "invoice",
    "parcel",
    "garden",
    "kettle",
    "ticket",
    "lantern",
    "engine",
    "ladder",
    "window",
    "basket",
    "helmet",
    "pillow",
    "saddle",
    "bottle",
    "hammer",
    "napkin",
    "candle",
    "carpet",
    "mirror",
    "ribbon",
]
VERBS = [
    "lost",
    "broken",
    "return",
    "exchange",
    "insure",
    "paint",
    "polish",
    "rent",
    "borrow",
    "measure",
    "deliver",
    "collect",
    "upgrade",
    "cancel",
    "inspect",
    "register",
    "label",
    "store",
    "weigh",
    "renew",
]
PLACES = [
    "attic",
    "harbour",
    "market",
    "station",
    "museum",
    "valley",
    "bridge",
    "castle",
    "forest",
    "meadow",
]
COLOURS = [
    "red",
    "blue",
    "green",
    "amber",
    "violet",
]


def phrases(number: int) -> tuple[str, list[str]]:
    """Return the title and signals of rule `number`: words that no other rule combines so."""
    subject = SUBJECTS[number % 20]
    verb = VERBS[number // 20 % 20]
    place = PLACES[number // 400 % 10]
    colour = COLOURS[number // 4000 % 5]
    topic = f"{verb} {colour} {subject} {place}"
    return topic, [
        f"how do I {verb} the {colour} {subject} at the {place}",
        f"{verb} my {colour} {subject} in the {place} please",
        f"the {colour} {subject} from the {place} needs {verb}",
    ]


class RememberingEmbedder(ScriptedEmbedder):
    """Embeds each text once in its life, so that a turn's embedding takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, NDArray[np.float32]] = {}

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the remembered rows, after working out the missing ones."""
        missing = [text for text in texts if text not in self._known]
        if missing:
            self._known.update(
                zip(missing, scripted_vectors(missing, self.dimensions), strict=True)
            )
        return np.stack([self._known[text] for text in texts])


class Provider:
    """Models that take no time, as a plugin."""

    @staticmethod
    @poise.hookimpl
    def poise_provide(offers: poise.Offers) -> None:
        """Offer them: every rule that is asked about applies if discovery thinks so."""
        decisions = ScriptedDecisionModel(lambda question, _request: question.prior)
        offers.add(
            poise.ModelProvider,
            "bench",
            lambda: ScriptedProvider(RememberingEmbedder(), decisions),
        )


def application(directory: str) -> poise.Application:
    """Return an application on scripted models and in-memory stores."""
    return poise.Application(
        stores="memory",
        models={"embed": "bench:words", "matching.verdict": "bench:script"},
        plugins=[Provider],
    )


async def populated(app: poise.Application, rules: int) -> poise.Agent:
    """Return an agent with so many rules, each with a tool-free policy and an approved response."""
    agent = await app.create_agent(
        name=f"Bench {rules}", composition_mode=CompositionMode.CANNED_STRICT
    )
    for number in range(rules):
        topic, signals = phrases(number)
        await agent.create_policy(
            title=topic,
            when=f"the customer wants to {topic}",
            then="say how",
            signals=signals,
            weight=poise.Weight.HIGH,
            canned_responses=[f"About {topic}: done."],
        )
    return agent


async def turn_cost(rules: int, turns: int) -> Mapping[str, float]:
    """Return milliseconds per turn: all of it, models, and what is left."""
    overheads: list[float] = []
    models: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        async with application(directory) as app:
            agent = await populated(app, rules)
            began = time.perf_counter()
            await app.start()
            indexed = time.perf_counter() - began
            for number in range(turns + 3):
                session = await app.open_session(agent)
                question = phrases(number * 7 % rules)[1][0]
                started = time.perf_counter()
                reply = await session.say(question)
                spent = (time.perf_counter() - started) * 1000
                if not reply.ledger or not reply.messages:
                    raise SystemExit(f"no reply to {question!r}")
                asked = sum(each.milliseconds for each in reply.ledger.requests)
                if number >= 3:  # the first ones warm caches
                    overheads.append(spent - asked)
                    models.append(asked)
    return {
        "overhead": statistics.median(overheads),
        "worst": max(overheads),
        "models": statistics.median(models),
        "index": indexed * 1000,
    }


async def throughput(rules: int, sessions: int, each: int) -> Mapping[str, float]:
    """Return turns per second with many sessions at once, and how long accepting takes then."""
    accepted: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        async with application(directory) as app:
            agent = await populated(app, rules)
            await app.start()
            opened = [await app.open_session(agent) for _ in range(sessions)]

            async def talk(number: int) -> None:
                for turn in range(each):
                    await opened[number].say(phrases((number + turn * 13) % rules)[1][0])

            async def accept() -> None:
                extra = await app.open_session(agent)
                runtime = app.runtime
                huge = "invoice " * 131_072
                for turn in range(20):
                    text = huge if turn == 10 else phrases(turn % rules)[1][1]
                    started = time.perf_counter()
                    await runtime.receive(app.scope, extra.id, text)
                    accepted.append((time.perf_counter() - started) * 1000)
                    await anyio.sleep(0.02)

            started = time.perf_counter()
            async with anyio.create_task_group() as group:
                for number in range(sessions):
                    group.start_soon(talk, number)
            spent = time.perf_counter() - started
            async with anyio.create_task_group() as group:
                for number in range(sessions):
                    group.start_soon(talk, number)
                group.start_soon(accept)
    return {
        "turns_per_second": sessions * each / spent,
        "accept_median": statistics.median(accepted),
        "accept_worst": max(accepted),
    }


def process_figures() -> Mapping[str, float]:
    """Return what a fresh process costs: importing poise, and importing numpy beside it."""

    def run(code: str) -> float:
        times = []
        for _ in range(5):
            command = [sys.executable, "-X", "utf8", "-c", code]
            shown = subprocess.run(command, capture_output=True, text=True, check=True)
            times.append(float(shown.stdout.split()[-1]))
        return min(times)

    timed = "import time; t=time.perf_counter(); import {0}; print((time.perf_counter()-t)*1000)"
    return {"import_poise": run(timed.format("poise")), "import_numpy": run(timed.format("numpy"))}


def main() -> None:
    """Run the bench and print its tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer turns, up to 1,000 rules")
    options = parser.parse_args()
    report = Report("turn")
    sizes = (10, 100, 1000) if options.quick else (10, 100, 1000, 10_000)
    turns = 20 if options.quick else 60
    base: float | None = None
    for rules in sizes:
        figures = anyio.run(turn_cost, rules, turns)
        base = base or figures["overhead"]
        report.row(
            "engine overhead of a turn",
            {
                "rules": rules,
                "overhead ms": figures["overhead"],
                "worst ms": figures["worst"],
                "models ms": figures["models"],
                "to 10 rules": figures["overhead"] / base,
                "peer ms": PEER_TURN_MS.get(rules),
                "index s": figures["index"] / 1000,
            },
            name=f"turn.{rules}",
        )
    figures = anyio.run(throughput, 100, 20, 10 if options.quick else 25)
    report.row(
        "one process, 100 rules, 20 sessions at once",
        {**figures, "peer turns_per_second": PEER_TURNS_PER_SECOND},
        name="throughput",
    )
    report.row("a fresh process, milliseconds", process_figures(), name="process")
    report.finish(options.json)


if __name__ == "__main__":
    main()
