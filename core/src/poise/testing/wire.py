"""`ProviderWireConformance`: what every provider that speaks HTTP must get right at the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import pytest

from poise.ports.models import ModelProvider
from poise.testing.fake_server import FakeModelServer
from poise.testing.wire_answers import WireAnswers
from poise.testing.wire_conduct import WireConduct
from poise.testing.wire_failures import WireFailures
from poise.testing.wire_payloads import CANARY, Wire
from poise.testing.wire_requests import WireRequests

__all__ = ["CANARY", "Connect", "ProviderWireConformance", "Wire"]

Connect: TypeAlias = Callable[[str, str | None], ModelProvider]
"""Makes a provider of `(base_url, key)`; the URL has no path, the key may be missing."""


class ProviderWireConformance(WireAnswers, WireRequests, WireFailures, WireConduct):
    """Inherit, and return a `Wire` from `wire` and a factory from `provider`.

    ```python
    class TestWire(ProviderWireConformance):
        @pytest.fixture
        def wire(self) -> Wire:
            return MyWire()

        @pytest.fixture
        def provider(self) -> Connect:
            def connect(base_url: str, key: str | None) -> ModelProvider:
                secret = None if key is None else SecretStr(key)
                return MyProvider(MySettings(base_url=f"{base_url}/v1", key=secret))

            return connect
    ```

    The fixture `fake_model_server` comes with `poise[testing]`. Everything runs on loopback, over
    the SDK that the provider uses in earnest.
    """

    @pytest.fixture
    def wire(self) -> Wire:
        raise NotImplementedError("return the vendor's `Wire` from a fixture named `wire`")

    @pytest.fixture
    def provider(self) -> Connect:
        raise NotImplementedError("return a factory from a fixture named `provider`")

    @pytest.fixture
    async def served(
        self, provider: Connect, wire: Wire, fake_model_server: FakeModelServer
    ) -> AsyncIterator[ModelProvider]:
        """Give the provider, connected to the fake server with the canary for a key."""
        wire.prepare(fake_model_server)
        made = provider(fake_model_server.url, CANARY)
        yield made
        await made.aclose()
