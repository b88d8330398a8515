"""Plays a neutral scenario against an engine, and says what each of its turns took.

Both ways use the stub one after the other, and are measured from its log by the shared harness.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import httpx2
import peer_server
from peer_figures import Played, Repeated, Turn
from peer_scenarios import Scenarios
from peer_signals import Signals

import poise
from poise.memory.stores import MemoryStores
from poise.values.clock import SystemClock

LATENCIES = ("zero", "typical")
ROUTES: Mapping[str, str] = {
    "decisions": "openai:gpt-6-luna",
    "structured": "openai:gpt-5.4-mini",
}
"""By how verdicts are asked for: a model whose card says that it is asked so."""

_QUIET = 0.1  # seconds without a request after which a turn has asked all that it will


@contextmanager
def served(scenarios: Scenarios) -> Iterator[Any]:
    """Run the stub in a process of its own; yield the harness's handle of it."""
    harness = scenarios.module("harness")

    class Handle(harness.Stub):  # type: ignore[misc,name-defined]  # found at run time
        """The harness's handle, of a stub that runs already."""

        def __init__(self, process: subprocess.Popen[str], url: str) -> None:
            self.proc = process
            self.url = url
            self.http = httpx2.Client(timeout=600)

    script = Path(peer_server.__file__)
    with subprocess.Popen(
        [sys.executable, str(script), str(scenarios.folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield Handle(process, f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()


class PoisePlayer:
    """Plays a scenario with Poise, as an author would declare it.

    Rules are guidelines of HIGH weight: at the default effort a model that writes judges no
    others, and both ways are to be asked the same. Tools, procedure and composing are not part of
    it yet; the agent answers from the scenario's templates.

    Args:
        scenarios: The shared folder.
        stub: The handle of the stub.
        scenario: The scenario.
    """

    def __init__(self, scenarios: Scenarios, stub: Any, scenario: Mapping[str, Any]) -> None:
        self._harness: ModuleType = scenarios.module("harness")
        self._stub = stub
        self._scenario = scenario
        self._signals = Signals(scenario, scenarios.module("scenario"))
        # Kept from one way to the next, so that a catalog is indexed once.
        self._stores = MemoryStores(SystemClock())
        self.index_seconds = 0.0

    async def play(self, model: str, runs: int) -> Played:
        """Return what the turns took, by latency, of `runs` conversations each.

        Args:
            model: Whom verdicts are asked of.
            runs: How many, after one that warms up.
        """
        async with poise.Application(
            stores=self._stores,
            settings={
                "openai": {"api_key": "bench", "base_url": f"{self._stub.url}/v1", "api": "chat"},
                "discovery": {"annotations": None},
            },
            models={"embed": "embedded", "matching.verdict": model},
        ) as app:
            agent, names = await self._declared(app)
            started = time.perf_counter()
            await app.start()
            self.index_seconds = max(self.index_seconds, time.perf_counter() - started)
            self._stub.latency("zero")
            await self._conversation(app, agent, names)
            played: dict[str, Sequence[Repeated]] = {}
            for latency in LATENCIES:
                self._stub.latency(latency)
                told = [await self._conversation(app, agent, names) for _ in range(runs)]
                played[latency] = [Repeated(turns) for turns in zip(*told, strict=True)]
        return played

    async def _declared(self, app: poise.Application) -> tuple[poise.Agent, Mapping[str, str]]:
        """Declare the scenario; return the agent, and the scenario's ids of rules by ours."""
        said = self._scenario
        agent = await app.create_agent(
            said["agent"]["name"],
            instructions=said["agent"]["description"],
            composition_mode=poise.CompositionMode.CANNED_STRICT,
        )
        for term in said["terms"]:
            await agent.create_term(term["name"], term["description"], term["synonyms"])
        for template in said["templates"]:
            await agent.create_canned_response(template)
        names: dict[str, str] = {}
        for rule in said["rules"]:
            declared = await agent.create_guideline(
                rule["condition"],
                rule["action"],
                id=rule["id"],
                signals=self._signals.of(rule),
                weight=poise.Weight.HIGH,
            )
            names[declared.id] = rule["id"]
        return agent, names

    async def _conversation(
        self, app: poise.Application, agent: poise.Agent, names: Mapping[str, str]
    ) -> Sequence[Turn]:
        session = await app.open_session(agent)
        return [await self._turn(session, each, names) for each in self._scenario["turns"]]

    async def _turn(
        self, session: poise.Session, turn: Mapping[str, Any], names: Mapping[str, str]
    ) -> Turn:
        self._stub.clear()
        message = self._harness.fresh(turn["message"])
        worked = time.process_time()
        began = time.time()
        reply = await session.say(message)
        ended = time.time()
        worked = time.process_time() - worked
        await anyio.to_thread.run_sync(self._stub.idle, _QUIET)
        log = self._stub.log()
        if reply.ledger is None or not reply.messages:
            raise SystemExit(f"no reply to {message!r}")
        told = self._harness.digest(log, began, ended)
        failed = [each.error for each in reply.ledger.requests if each.error]
        if failed:
            raise SystemExit(f"a request of {message!r} failed: {failed[0]}")
        rules = [each for each in reply.ledger.lines if each.subject in names]
        spent = (ended - began) * 1000
        return Turn(
            requests=told["llm_requests"],
            tokens=told["prompt_tokens"],
            output=told["output_tokens"],
            milliseconds=spent,
            overhead=spent - told["critical_llm_ms"],
            cpu=worked * 1000,
            expected=frozenset(turn["rules"]),
            judged=frozenset(names[each.subject] for each in rules if each.judged_by),
            matched=frozenset(names[each.subject] for each in rules if each.fate == "matched"),
            exact=all(each["tokens_exact"] for each in log if each["kind"] == "chat"),
        )


class NaivePlayer:
    """Plays a scenario without an engine: all rules in one prompt, then a reply.

    Args:
        scenarios: The shared folder.
        stub: The handle of the stub.
        scenario: The scenario.
    """

    def __init__(self, scenarios: Scenarios, stub: Any, scenario: Mapping[str, Any]) -> None:
        self._naive: ModuleType = scenarios.module("run_naive")
        self._stub = stub
        self._scenario = scenario

    def play(self, runs: int) -> Played:
        """Return what the turns took, by latency, of `runs` conversations each."""
        played: dict[str, Sequence[Repeated]] = {}
        with httpx2.Client(base_url=self._stub.url, timeout=120) as client:
            for latency in LATENCIES:
                self._stub.latency(latency)
                told = [self._conversation(client) for _ in range(runs)]
                played[latency] = [Repeated(turns) for turns in zip(*told, strict=True)]
        return played

    def _conversation(self, client: httpx2.Client) -> Sequence[Turn]:
        history: list[Mapping[str, str]] = []
        return [self._turn(client, history, each) for each in self._scenario["turns"]]

    def _turn(
        self, client: httpx2.Client, history: list[Mapping[str, str]], turn: Mapping[str, Any]
    ) -> Turn:
        told = self._naive.play(client, self._stub, self._scenario, history, turn)
        judging = [each for each in self._stub.log() if each["schema"] == "holding"]
        return Turn(
            requests=len(judging),
            tokens=sum(each["prompt_tokens"] for each in judging),
            output=sum(each["output_tokens"] for each in judging),
            milliseconds=told["reply_ms"],
            overhead=told["overhead_ms"],
            cpu=told["engine_cpu_ms"],
            expected=frozenset(turn["rules"]),
            judged=frozenset(each["id"] for each in self._scenario["rules"]),
            matched=frozenset(told["matched"]),
            exact=all(each["tokens_exact"] for each in judging),
        )
