from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poise.hooks.cards import Cards
from poise.testing.fake_server import FakeModelServer
from poise.turn.cards import ModelCard
from poise_openai import CompatibleProvider, OpenAISettings, ServerSettings, load_presets

WIRE = Path(__file__).parent / "wire"

Recorded = Callable[[str], Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def recorded() -> Recorded:
    """Read a payload of `wire/`, parsed anew each time: tests change what they get."""

    def read(name: str) -> Any:
        return json.loads((WIRE / f"{name}.json").read_text(encoding="utf-8"))

    return read


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key or address of the machine that runs the tests may matter."""
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "ADMIN_KEY", "CUSTOM_HEADERS"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)


class Served:
    """A provider made of a preset, connected to the fake server, whose models say how JSON goes."""

    def __init__(self, server: FakeModelServer) -> None:
        self.server = server

    def provider(self, preset: str = "together", **said: Any) -> CompatibleProvider:
        """Return a provider; `said` is `level`, fields of the model's card, or settings."""
        level = said.pop("level", "json_schema")
        cards = Cards()
        quirks = {"json": level, **said.pop("quirks", {})}
        of_card = {"context", "dimensions", "capabilities"} & said.keys()
        card = ModelCard(preset, "m*", quirks=quirks, **{name: said.pop(name) for name in of_card})
        cards.add(card)
        settings = {"base_url": f"{self.server.url}/v1", "api_key": "sk-test-1234567890", **said}
        model = OpenAISettings if preset == "openai" else ServerSettings
        return CompatibleProvider(load_presets()[preset], model.model_validate(settings), cards)

    @property
    def sent(self) -> list[Any]:
        """The bodies of all requests, oldest first."""
        return [request.json for request in self.server.received]


@pytest.fixture
def served(fake_model_server: FakeModelServer) -> Served:
    return Served(fake_model_server)
