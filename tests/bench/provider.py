"""What providers and the router add to a request: `nox -s bench -- provider [--json FILE]`.

A model server that takes no time answers on loopback, in another process. The naive way beside
each figure is the same request through a bare HTTP client on the same server, in the same run: what
is left is what we add. Streams run on one core together with the client that reads them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import model_server
from pydantic import BaseModel
from report import Report

import poise
from poise import GenerationOptions, Prompt, Section, Stability
from poise.turn.schemas import schema_of

LIMIT_OVERHEAD_MS = 3.0
LIMIT_FORWARD_MS = 2.0
STREAMS = 200
REQUESTS = 300
WARM_UP = 30

PROMPT = Prompt.of(
    Section("identity", "You are the bench. " * 40, Stability.CATALOG),
    Section("history", 'customer: "hello" ' * 60, Stability.SESSION),
    Section("task", "Answer.", Stability.TURN),
)


class Verdicts(BaseModel):
    """What structured requests ask for."""

    answers: list[str]


SCHEMA = schema_of(Verdicts)


@contextmanager
def served() -> Iterator[str]:
    """Run the server in a process of its own and yield its address."""
    script = Path(model_server.__file__)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def settings(url: str) -> dict[str, Any]:
    """Return settings that send every vendor's requests to the server."""
    return {
        "openai": {"api_key": "bench", "base_url": f"{url}/v1", "api": "chat", "concurrency": 500},
        "anthropic": {"api_key": "bench", "base_url": url, "concurrency": 500},
        "google": {"api_key": "bench", "base_url": url, "concurrency": 500},
    }


MODELS = {"openai": "gpt-5.1", "anthropic": "claude-opus-4-6", "google": "gemini-3-pro"}
WIRE: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "openai": (
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": PROMPT.text}]},
        {"stream": True},
    ),
    "anthropic": (
        "/v1/messages",
        {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": PROMPT.text}]},
        {"stream": True},
    ),
    "google": (
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"text": PROMPT.text}]}]},
        {},
    ),
}


async def milliseconds(ask: Callable[[], Awaitable[object]], count: int) -> list[float]:
    """Return how long each of `count` requests took, one after the other, warmed up."""
    for _ in range(WARM_UP):
        await ask()
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        await ask()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def bare_stream(
    client: httpx2.AsyncClient, url: str, body: dict[str, Any]
) -> AsyncIterator[str]:
    """Yield the texts of a stream as a bare client sees them."""
    async with client.stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {"):
                yield line


def written_at(text: str) -> float | None:
    """Return the moment that a chunk says it was written at."""
    first = text.split(" ", 1)[0]
    try:
        return float(first)
    except ValueError:
        return None


def moment_in(line: str) -> float | None:
    """Return the moment within a raw event, wherever its vendor has the text."""
    for name in ('"content": "', '"text": "'):
        place = line.find(name)
        if place >= 0:
            return written_at(line[place + len(name) :])
    return None


class Asking:
    """One vendor's requests: through a bare client, through its provider, through the router."""

    def __init__(
        self, app: poise.Application, vendor: str, *, url: str, client: httpx2.AsyncClient
    ) -> None:
        self._models = app.runtime.models
        self._generator = app.runtime.routes.get(vendor).structured_generator(MODELS[vendor])
        self._route = f"bench.{vendor}"
        self._client = client
        path, self._body, more = WIRE[vendor]
        self._url = url + path
        self._stream_url = self._url.replace(":generateContent", ":streamGenerateContent?alt=sse")
        self._stream_body = {**self._body, **more}
        self.chunks = 0

    async def bare(self) -> object:
        """Return one whole answer, parsed."""
        return (await self._client.post(self._url, json=self._body)).json()

    async def provider(self) -> object:
        """Return one structured reply of the provider."""
        return await self._generator.generate(PROMPT, SCHEMA, options=GenerationOptions())

    async def router(self) -> object:
        """Return one validated answer."""
        return await self._models.ask(self._route, PROMPT, Verdicts)

    async def bare_first(self) -> float:
        """Return how old the first chunk is, in ms, when a bare client has it."""
        async for line in bare_stream(self._client, self._stream_url, self._stream_body):
            at = moment_in(line)
            if at is not None:
                return (time.perf_counter() - at) * 1000
        raise RuntimeError("no chunk came")

    async def router_first(self) -> float:
        """Return how old the first chunk is, in ms, when the router hands it out."""
        async for chunk in self._models.write(self._route, PROMPT):
            at = written_at(chunk.text)
            if at is not None:
                return (time.perf_counter() - at) * 1000
        raise RuntimeError("no chunk came")

    async def bare_whole(self) -> None:
        """Read a stream to its end, parsing every event."""
        async for line in bare_stream(self._client, self._stream_url, self._stream_body):
            json.loads(line[6:])

    async def router_whole(self) -> None:
        """Read a stream to its end, counting what came."""
        async for chunk in self._models.write(self._route, PROMPT):
            self.chunks += len(chunk.text.split())


async def overhead(asking: Asking, vendor: str, report: Report, count: int) -> None:
    """Measure one request at a time."""
    naive = statistics.median(await milliseconds(asking.bare, count))
    provider = statistics.median(await milliseconds(asking.provider, count))
    router = statistics.median(await milliseconds(asking.router, count))
    report.row(
        f"One structured request, ms, median of {count} (limit of what is added: "
        f"{LIMIT_OVERHEAD_MS:g})",
        {
            "vendor": vendor,
            "bare": naive,
            "provider": provider,
            "router": router,
            "added": router - naive,
            "ratio": router / naive,
            "within": router - naive < LIMIT_OVERHEAD_MS,
        },
        name=f"overhead.{vendor}",
    )


async def forwarding(asking: Asking, vendor: str, report: Report, count: int) -> None:
    """Measure how long after it was written the first chunk is with whoever waits for it."""
    for _ in range(WARM_UP):
        await asking.bare_first()
        await asking.router_first()
    naive = statistics.median([await asking.bare_first() for _ in range(count)])
    ours = [await asking.router_first() for _ in range(count)]
    median = statistics.median(ours)
    report.row(
        f"First chunk of a stream, ms after it was written (limit {LIMIT_FORWARD_MS:g})",
        {
            "vendor": vendor,
            "bare": naive,
            "router": median,
            "p90": statistics.quantiles(ours, n=10)[-1],
            "ratio": median / naive,
            "within": median < LIMIT_FORWARD_MS,
        },
        name=f"forwarding.{vendor}",
    )


async def many(asking: Asking, vendor: str, report: Report) -> None:
    """Read many streams at once, and count what came."""
    naive = await seconds_of(asking.bare_whole)
    ours = await seconds_of(asking.router_whole)
    expected = STREAMS * model_server.CHUNKS
    report.row(
        f"{STREAMS} streams of {model_server.CHUNKS} chunks at once, on one core",
        {
            "vendor": vendor,
            "bare s": naive,
            "router s": ours,
            "ratio": ours / naive,
            "chunks/s": expected / ours,
            "lost": expected - asking.chunks,
        },
        name=f"streams.{vendor}",
    )


async def seconds_of(work: Callable[[], Awaitable[None]]) -> float:
    """Return how long many of these take side by side."""
    started = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(STREAMS):
            group.start_soon(work)
    return time.perf_counter() - started


async def main(count: int, json_file: Path | None) -> None:
    """Measure, and print."""
    report = Report("provider")
    models = {f"bench.{vendor}": f"{vendor}:{model}" for vendor, model in MODELS.items()}
    limits = httpx2.Limits(max_connections=None)
    with served() as url:
        async with (
            poise.Application(settings=settings(url), models=models) as app,
            httpx2.AsyncClient(limits=limits, timeout=60) as client,
        ):
            vendors = {each: Asking(app, each, url=url, client=client) for each in MODELS}
            for vendor, asking in vendors.items():
                await overhead(asking, vendor, report, count)
                await forwarding(asking, vendor, report, count)
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            for vendor, asking in vendors.items():
                await many(asking, vendor, report)
    report.finish(json_file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="Write the figures here.")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="Per figure.")
    arguments = parser.parse_args()
    anyio.run(main, arguments.requests, arguments.json)
