"""One trained index for all tests, and the demo's conversation, played once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import anyio
import pytest

import poise
from poise.values.clock import SystemClock
from poise.values.ids import CustomerId, SessionId, TurnId
from poise_example_bank.fake import FakeBank
from poise_example_bank.playing import Played, play_all
from poise_example_bank.stores import DemoStores


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("index")


@pytest.fixture(scope="session")
def settings_of_nobody() -> Iterator[None]:
    """Keep a settings file that happens to lie about out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POISE_CONFIG", "")
        yield


@pytest.fixture(scope="session")
def open_application(cache: Path, settings_of_nobody: None) -> Callable[[], poise.Application]:
    """Return what makes an application of the installed plugins that forgets all but the index."""
    return lambda: poise.Application(stores=DemoStores(SystemClock(), cache))


@pytest.fixture(scope="session")
def conversation(open_application: Callable[[], poise.Application]) -> Sequence[Played]:
    async def played() -> Sequence[Played]:
        async with open_application() as app:
            return await play_all(app, FakeBank())

    return anyio.run(played)


@pytest.fixture
def bank() -> FakeBank:
    return FakeBank()


@pytest.fixture
def context_of() -> Callable[..., poise.ToolContext]:
    """Return what makes the context of a call: for whom, and under which key."""

    def made(customer: str = "ada", key: str = "call-1") -> poise.ToolContext:
        return poise.ToolContext(
            tenant="local",
            agent="agent_harbour",  # type: ignore[arg-type]  # any id will do
            customer=CustomerId(customer),
            session=SessionId("session_1"),
            turn=TurnId("turn_1"),
            key=key,
        )

    return made


@pytest.fixture(scope="session")
def languages() -> dict[str, list[list[str]]]:
    """Messages with the rule that each is about, by language."""
    file = Path(__file__).with_name("languages.json")
    loaded: dict[str, list[list[str]]] = json.loads(file.read_text(encoding="utf-8"))
    return loaded
