"""A small real model server on loopback, built once per version; `nox -s live` runs this folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import live_server
import pytest

import poise
from poise.memory.stores import MemoryStores
from poise.values.clock import SystemClock

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out unless they are asked for: they build a server for minutes."""
    if os.environ.get("POISE_LIVE") != "1":
        for item in items:
            if Path(item.fspath).is_relative_to(Path(__file__).parent):
                item.add_marker(pytest.mark.skip(reason="runs with `nox -s live`"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def built() -> tuple[Path, Path]:
    """The server and its weights, built unless they are kept."""
    return live_server.prepare(ROOT / "constraints.txt")


@pytest.fixture(scope="class")
def model_server(built: tuple[Path, Path]) -> Iterator[str]:
    """The address of a running server; each suite has its own, since cancelled work lingers."""
    with live_server.running(*built) as url:
        yield url


@pytest.fixture(scope="class")
def embedding_server(built: tuple[Path, Path]) -> Iterator[str]:
    """The address of a server that keeps no beginnings of texts.

    What it keeps it does not pool again, so a text would have another vector after a similar one.
    """
    with live_server.running(*built, "--no-cache-prompt", "--parallel", "1") as url:
        yield url


@pytest.fixture
async def app(model_server: str) -> AsyncIterator[poise.Application]:
    """An application whose providers all talk to the server."""
    async with poise.Application(
        settings={
            "openai": {"presets": {"llamacpp": {"base_url": f"{model_server}/v1"}}},
            "anthropic": {"api_key": "none", "base_url": model_server},
            # The server answers to any name; what an embedder's vectors are must be known before.
            "model_cards": {"llamacpp:smol-embed": {"dimensions": 576}},
        },
        models={
            "*": "llamacpp:smol",
            "embed": "embedded:use",
            "test.anthropic": "anthropic:smol",
        },
        stores=MemoryStores(SystemClock()),
    ) as opened:
        yield opened
