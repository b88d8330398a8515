import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from poise.testing.fake_server import FakeModelServer, Scripted, ServerEvent
from poise.testing.wire import CANARY
from poise_anthropic.provider import AnthropicProvider
from poise_anthropic.settings import AnthropicSettings

WIRE = Path(__file__).parent / "wire"

Payload = Callable[[str], Any]
Recorded = Callable[[str], Scripted]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def payload() -> Payload:
    """Return a payload of the vendor's, parsed anew."""

    def read(name: str) -> Any:
        return json.loads((WIRE / name).read_text("utf-8"))

    return read


@pytest.fixture
def recorded(payload: Payload) -> Recorded:
    """Return a payload of the vendor's as a reply: a stream or a body."""

    def reply(name: str) -> Scripted:
        if not name.endswith(".sse"):
            return Scripted(body=payload(name))
        blocks = (WIRE / name).read_text("utf-8").strip().split("\n\n")
        return Scripted(events=[_event(block) for block in blocks])

    return reply


def _event(block: str) -> ServerEvent:
    name, data = block.split("\n", 1)
    return ServerEvent(data.removeprefix("data: "), name.removeprefix("event: "))


@pytest.fixture
async def make(
    fake_model_server: FakeModelServer,
) -> AsyncIterator[Callable[..., AnthropicProvider]]:
    """Return a factory of providers on the fake server, closed when the test is over."""
    made: list[AnthropicProvider] = []

    def connected(cards: Any = None, **settings: Any) -> AnthropicProvider:
        said: Mapping[str, Any] = {
            "base_url": fake_model_server.url,
            "api_key": SecretStr(CANARY),
            **settings,
        }
        made.append(AnthropicProvider(AnthropicSettings(**said), cards))
        return made[-1]

    yield connected
    for each in made:
        await each.aclose()
