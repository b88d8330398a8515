"""How a provider must fail: typed, once, at once, saying what mends it, and keeping its key.

Mixed into `ProviderWireConformance`, which has the fixtures.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import attrs
import pytest

from poise.errors import (
    AuthenticationError,
    ContextTooLongError,
    InvalidRequestError,
    OverQuotaError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RateLimitedError,
    UnknownModelError,
)
from poise.ports.models import ModelProvider
from poise.testing.fake_server import FakeModelServer, Scripted
from poise.testing.wire_calls import (
    USAGE,
    WORDS,
    fails,
    generating,
    model_for,
    place_of,
    read_to_failure,
)
from poise.testing.wire_payloads import CANARY, Wire
from poise.turn.models import Capability

_PATIENCE = 10.0

STATUSES: tuple[tuple[int, tuple[type[ProviderError], ...]], ...] = (
    (400, (InvalidRequestError,)),
    (401, (AuthenticationError,)),
    (403, (AuthenticationError,)),
    (404, (UnknownModelError,)),
    (408, (ProviderTimeoutError,)),
    (413, (ContextTooLongError, InvalidRequestError)),
    (429, (RateLimitedError,)),
    (500, (ProviderUnavailableError,)),
    (502, (ProviderUnavailableError,)),
    (503, (ProviderUnavailableError,)),
    (529, (ProviderUnavailableError,)),
)
"""Which error a status becomes."""


class WireFailures:
    """The part of the suite in which things go wrong."""

    @pytest.mark.anyio
    @pytest.mark.parametrize(("status", "kinds"), STATUSES, ids=[str(each[0]) for each in STATUSES])
    async def test_a_status_is_a_typed_error_that_says_where_and_what(
        self,
        served: ModelProvider,
        wire: Wire,
        fake_model_server: FakeModelServer,
        status: int,
        kinds: tuple[type[ProviderError], ...],
    ) -> None:
        for capability, model in wire.models.items():
            fake_model_server.received.clear()
            said = wire.error(status, "The flux is out of range.")
            wire.script(fake_model_server, capability, said)

            error = await fails(served, wire, capability)

            where = f"status {status} on {capability}"
            assert type(error) in kinds, f"{where} became {error!r}"
            assert error.provider == served.name, f"{where}: `provider` is {error.provider!r}"
            assert error.model == model, f"{where}: `model` is {error.model!r}"
            assert error.route == "", f"{where}: leave `route` to the router"
            assert len(error.reason) > len("The flux is out of range."), (
                f"{where}: `reason` is {error.reason!r}; say what went wrong and what mends it"
            )
            if isinstance(error, InvalidRequestError):
                assert "flux" in error.reason, f"{where}: what the vendor said is lost"
            if isinstance(error, AuthenticationError) and wire.key_variable:
                assert wire.key_variable in error.reason, (
                    f"{where}: say that the key comes from {wire.key_variable}"
                )
            assert len(fake_model_server.received) == 1, (
                f"{where} was sent {len(fake_model_server.received)} times; turn the SDK's own "
                "retries off: the router retries"
            )

    @pytest.mark.anyio
    @pytest.mark.parametrize(
        ("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("soon", None), ("", None)]
    )
    async def test_retry_after_is_handed_on(
        self,
        served: ModelProvider,
        wire: Wire,
        fake_model_server: FakeModelServer,
        header: str,
        seconds: float | None,
    ) -> None:
        for capability in wire.models:
            said = attrs.evolve(wire.error(429, "slow down"), headers={"Retry-After": header})
            wire.script(fake_model_server, capability, said)

            error = await fails(served, wire, capability)

            assert isinstance(error, RateLimitedError)
            assert error.retry_after == seconds, f"{capability}: Retry-After: {header!r}"

    @pytest.mark.anyio
    async def test_a_prompt_too_long_comes_with_the_numbers(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        said = wire.too_long(210_000, 200_000)
        if said is None:
            pytest.skip("this vendor has no error of its own for that")
        for capability in generating(wire):
            wire.script(fake_model_server, capability, said)

            error = await fails(served, wire, capability)

            assert isinstance(error, ContextTooLongError), f"{capability}: {error!r}"
            assert (error.sent, error.limit) == (210_000, 200_000)

    @pytest.mark.anyio
    async def test_an_account_without_credit_is_no_rate_limit(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        said = wire.over_quota()
        if said is None:
            pytest.skip("this vendor has no error of its own for that")
        for capability in wire.models:
            wire.script(fake_model_server, capability, said)

            assert isinstance(await fails(served, wire, capability), OverQuotaError)

    @pytest.mark.anyio
    @pytest.mark.parametrize("body", ["", "<html>bad gateway</html>", "null", "[]", "{}", '{"a'])
    async def test_what_is_no_answer_of_the_vendor_is_a_typed_error(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer, body: str
    ) -> None:
        for capability in wire.models:
            wire.script(fake_model_server, capability, Scripted(body=body))
            await fails(served, wire, capability)
            label = {"Content-Type": "text/html"}
            wire.script(fake_model_server, capability, Scripted(502, label, body=body))
            await fails(served, wire, capability)
        if Capability.TEXT in wire.models:
            for events in ((), (body,), ("{}", "{}")):
                wire.script(fake_model_server, Capability.TEXT, Scripted(events=events))
                await fails(served, wire, Capability.TEXT)

    @pytest.mark.anyio
    async def test_a_server_that_hangs_up_without_a_word_is_unavailable(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        for capability in wire.models:
            fake_model_server.received.clear()
            wire.script(fake_model_server, capability, Scripted(body="{}").cut(0))

            error = await fails(served, wire, capability)

            assert isinstance(error, ProviderUnavailableError), f"{capability}: {error!r}"
            assert len(fake_model_server.received) == 1, "it was sent again; the router retries"

    @pytest.mark.anyio
    async def test_a_body_cut_short_is_unavailable(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model_for(wire, Capability.STRUCTURED)
        whole = wire.structured('{"zz_evidence": "long"}', USAGE)
        if whole.events is not None:
            pytest.skip("this dialect answers in events")
        wire.script(fake_model_server, Capability.STRUCTURED, whole.cut(len(whole.encoded()) // 2))

        error = await fails(served, wire, Capability.STRUCTURED)

        assert isinstance(error, ProviderUnavailableError), repr(error)

    @pytest.mark.anyio
    async def test_a_stream_cut_short_gives_what_came_and_is_unavailable(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream = wire.stream(WORDS, USAGE)
        cut = stream.cut(place_of(stream, WORDS[1]))
        wire.script(fake_model_server, Capability.TEXT, cut)

        words, error = await read_to_failure(served, model)

        assert words == WORDS[0] + WORDS[1], "the words that came before the cut are lost"
        assert isinstance(error, ProviderUnavailableError), repr(error)
        assert len(fake_model_server.received) == 1, "it was sent again after words had come"

    @pytest.mark.anyio
    async def test_a_stream_that_ends_without_saying_why_is_unavailable(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream = wire.stream(WORDS, USAGE)
        until = place_of(stream, WORDS[1])
        short = attrs.evolve(stream, events=(stream.events or ())[:until])
        wire.script(fake_model_server, Capability.TEXT, short)

        words, error = await read_to_failure(served, model)

        assert words == WORDS[0] + WORDS[1]
        assert isinstance(error, ProviderUnavailableError), repr(error)

    @pytest.mark.anyio
    async def test_an_error_within_a_stream_is_typed_and_comes_after_the_words(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream = wire.stream_error(WORDS[:2], "The flux is out of range.")
        if stream is None:
            pytest.skip("this vendor has no error within a stream")
        wire.script(fake_model_server, Capability.TEXT, stream)

        words, error = await read_to_failure(served, model)

        assert words == WORDS[0] + WORDS[1]
        assert (error.provider, error.model) == (served.name, model)
        assert len(fake_model_server.received) == 1, "it was sent again after words had come"

    @pytest.mark.anyio
    async def test_a_server_that_is_not_there_is_unavailable(
        self, provider: Callable[[str, str | None], ModelProvider], wire: Wire
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        unserved = provider(url, CANARY)

        for capability in wire.models:
            error = await fails(unserved, wire, capability)

            assert isinstance(error, ProviderUnavailableError), f"{capability}: {error!r}"
            assert url.removeprefix("http://") in error.reason, (
                f"{capability}: {error.reason!r} does not say where it looked"
            )
        await unserved.aclose()
