"""How a provider must behave: stop when told, keep its key to itself, and cost nothing unused.

Mixed into `ProviderWireConformance`, which has the fixtures.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import logging
import subprocess
import sys
import traceback
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import anyio
import pytest

from poise.errors import AuthenticationError
from poise.ports.models import ModelProvider
from poise.testing.fake_server import FakeModelServer, Gate
from poise.testing.wire_calls import (
    USAGE,
    WORDS,
    fails,
    generate,
    generating,
    model_for,
    next_words,
    open_stream,
    place_of,
    script_success,
)
from poise.testing.wire_payloads import CANARY, Wire
from poise.turn.models import Capability


class WireConduct:
    """The part of the suite about cancelling, keys and lifetimes."""

    @pytest.mark.anyio
    async def test_a_slow_answer_is_waited_for_and_cancelling_hangs_up(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        for capability in generating(wire):
            fake_model_server.received.clear()
            gate = Gate()
            success = (
                wire.stream(WORDS, USAGE)
                if capability is Capability.TEXT
                else wire.structured("{}", USAGE)
            )
            wire.script(fake_model_server, capability, success.held(gate))

            await _assert_cancelling_hangs_up(
                partial(generate, served, wire, capability), gate, fake_model_server
            )

            script_success(wire, fake_model_server, capability)
            await generate(served, wire, capability)

    @pytest.mark.anyio
    async def test_cancelling_between_words_hangs_up(
        self, served: ModelProvider, wire: Wire, fake_model_server: FakeModelServer
    ) -> None:
        model = model_for(wire, Capability.TEXT)
        stream, gate = wire.stream(WORDS, USAGE), Gate()
        held = stream.held(gate, at=place_of(stream, WORDS[0]))
        wire.script(fake_model_server, Capability.TEXT, held)

        async def read_on() -> None:
            chunks = open_stream(served, model)
            while await next_words(chunks):
                pass

        await _assert_cancelling_hangs_up(read_on, gate, fake_model_server)

    @pytest.mark.anyio
    async def test_a_missing_key_is_said_on_first_use(
        self,
        provider: Callable[[str, str | None], ModelProvider],
        wire: Wire,
        fake_model_server: FakeModelServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        if not wire.key_variable:
            pytest.skip("this dialect needs no key")
        monkeypatch.delenv(wire.key_variable, raising=False)
        keyless = provider(fake_model_server.url, None)

        for capability in wire.models:
            error = await fails(keyless, wire, capability)

            assert isinstance(error, AuthenticationError), f"{capability}: {error!r}"
            assert wire.key_variable in error.reason, f"name {wire.key_variable} as the mend"
        assert not fake_model_server.received, "a request went out without a key"
        await keyless.aclose()

    @pytest.mark.anyio
    async def test_the_key_appears_in_no_error_and_no_log(
        self,
        served: ModelProvider,
        wire: Wire,
        fake_model_server: FakeModelServer,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        written = [repr(served), str(served)]
        for capability in wire.models:
            for status in (400, 401, 429, 500):
                wire.script(fake_model_server, capability, wire.error(status, "no"))
                error = await fails(served, wire, capability)
                written += ["".join(traceback.format_exception(error)), repr(error)]
                echoed = wire.error(status, f"Incorrect API key provided: {CANARY}.")
                wire.script(fake_model_server, capability, echoed)
                error = await fails(served, wire, capability)
                written += [str(error), repr(error)]
            assert any(
                CANARY in value
                for request in fake_model_server.received
                for value in (*request.headers.values(), *request.query.values())
            ), "the key was not sent at all; does the factory use the one it is given?"
        written += [_told(record) for record in caplog.records if record.name != "werkzeug"]

        leaks = [text for text in written if CANARY in text]
        assert not leaks, f"the key is in {leaks[0][:500]!r}"

    def test_constructing_does_no_io_and_imports_no_sdk(
        self,
        provider: Callable[[str, str | None], ModelProvider],
        wire: Wire,
        fake_model_server: FakeModelServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        with monkeypatch.context() as patch:
            if wire.sdk:
                _forget(wire.sdk, patch)
            made = [provider(fake_model_server.url, key) for key in (CANARY, None)]
            assert made[0].name
            assert all(each.models(Capability.TEXT) is not None for each in made)

        assert not fake_model_server.received, "constructing sent a request"
        if wire.sdk:
            _assert_lazy(type(made[0]).__module__, wire.sdk)

    @pytest.mark.anyio
    async def test_closing_twice_and_before_use_is_harmless(
        self,
        provider: Callable[[str, str | None], ModelProvider],
        wire: Wire,
        fake_model_server: FakeModelServer,
    ) -> None:
        unused = provider(fake_model_server.url, CANARY)
        await unused.aclose()
        used = provider(fake_model_server.url, CANARY)
        for capability in generating(wire):
            script_success(wire, fake_model_server, capability)
            await generate(used, wire, capability)

        await used.aclose()
        await used.aclose()


async def _assert_cancelling_hangs_up(
    request: Callable[[], Coroutine[Any, Any, object]], gate: Gate, server: FakeModelServer
) -> None:
    stayed: list[AssertionError] = []
    async with anyio.create_task_group() as group:
        group.start_soon(request)
        await gate.reached()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):  # so that a request that goes on is told of, not met
            try:
                await server.received[0].hung_up()
            except AssertionError as error:
                stayed.append(error)
            gate.open()
    assert not stayed, f"cancelling did not end the request: {stayed[0]}"


def _told(record: logging.LogRecord) -> str:
    said = [record.getMessage(), repr(record.args), repr(vars(record))]
    if record.exc_info and record.exc_info[1]:
        said += traceback.format_exception(record.exc_info[1])
    return "\n".join(said)


def _forget(sdk: str, patch: pytest.MonkeyPatch) -> None:
    """Have the SDK not be imported, and importing it be an error."""
    for name in [each for each in sys.modules if each == sdk or each.startswith(f"{sdk}.")]:
        patch.delitem(sys.modules, name)
    patch.setattr(sys, "meta_path", [_Refusal(sdk), *sys.meta_path])


class _Refusal(importlib.abc.MetaPathFinder):
    def __init__(self, sdk: str) -> None:
        self._sdk = sdk

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == self._sdk:
            raise AssertionError(f"constructing imports {fullname}; import it on first use")
        return None


def _assert_lazy(module: str, sdk: str) -> None:
    """Check in a process of its own that a module can be imported without the SDK."""
    file = sys.modules[module].__file__
    assert file is not None
    done = subprocess.run(  # noqa: S603 - the program is ours
        [sys.executable, "-c", _LOADED, module, file, sdk],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"importing {module} imports {sdk}, or fails: {done.stderr}"


_LOADED = """
import importlib.util, sys
name, file, sdk = sys.argv[1:]
spec = importlib.util.spec_from_file_location(name, file)
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
sys.exit(sdk in sys.modules)
"""
