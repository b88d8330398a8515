"""The fake model server answers, waits, streams and hangs up over real connections."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse, IncompleteRead, RemoteDisconnected
from urllib.parse import urlsplit

import anyio
import pytest

from poise.testing.fake_server import FakeModelServer, Gate, Received, Scripted, ServerEvent


@pytest.fixture
def connection(fake_model_server: FakeModelServer) -> Iterator[HTTPConnection]:
    connection = HTTPConnection(urlsplit(fake_model_server.url).netloc, timeout=10)
    yield connection
    connection.close()


def ask(connection: HTTPConnection, path: str = "/v1/answer", said: object = None) -> HTTPResponse:
    connection.request("POST", path, json.dumps(said), {"X-Key": "canary"})
    return connection.getresponse()


def answer(connection: HTTPConnection, path: str = "/v1/answer") -> tuple[int, bytes]:
    with ask(connection, path) as response:
        return response.status, response.read()


def test_replies_come_in_order_and_the_last_is_repeated(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    fake_model_server.script("/v1/answer", Scripted(503), Scripted(body={"a": 1}))

    found = [answer(connection) for _ in range(3)]

    assert found == [(503, b""), (200, b'{"a": 1}'), (200, b'{"a": 1}')]


def test_a_reply_can_be_made_of_the_request(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    def echo(request: Received) -> Scripted:
        return Scripted(body=request.json)

    fake_model_server.script("/models/*:generate", echo)

    with ask(connection, "/models/small:generate", {"words": "ä"}) as response:
        assert json.load(response) == {"words": "ä"}


def test_it_keeps_what_it_was_asked(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    fake_model_server.script("/v1/answer", Scripted(body="{}"))

    ask(connection, "/v1/answer?alt=sse", [1, 2]).close()

    (received,) = fake_model_server.received
    assert (received.method, received.path, received.query) == (
        "POST",
        "/v1/answer",
        {"alt": "sse"},
    )
    assert received.headers["x-key"] == "canary"
    assert received.json == [1, 2]


def test_headers_can_be_added_and_replaced(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    said = Scripted(429, {"retry-after": "2", "content-type": "text/plain"}, body="slow down")
    fake_model_server.script("/v1/answer", said)

    with ask(connection) as response:
        assert response.headers.get_all("Content-Type") == ["text/plain"]
        assert response.headers["Retry-After"] == "2"


def test_what_has_no_script_is_a_404_that_says_so(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    status, said = answer(connection, "/elsewhere")

    assert status == 404
    assert b"no script for /elsewhere" in said


def test_an_empty_script_is_refused(fake_model_server: FakeModelServer) -> None:
    with pytest.raises(ValueError, match="holds no reply"):
        fake_model_server.script("/v1/answer")


def test_events_are_written_as_such(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    events = (ServerEvent({"n": 1}, name="started"), {"n": 2}, "two\nlines", "[DONE]")
    fake_model_server.script("/v1/answer", Scripted(events=events))

    with ask(connection) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert response.read().decode() == (
            'event: started\ndata: {"n": 1}\n\n'
            'data: {"n": 2}\n\n'
            "data: two\ndata: lines\n\n"
            "data: [DONE]\n\n"
        )


@pytest.mark.anyio
async def test_nothing_comes_before_the_first_gate_opens(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    gate = Gate()
    fake_model_server.script("/v1/answer", Scripted(body="{}").held(gate))
    connection.request("POST", "/v1/answer")

    await gate.reached()
    connection.sock.setblocking(False)
    with pytest.raises(BlockingIOError):
        connection.sock.recv(1)

    gate.open()
    connection.sock.settimeout(10)
    with connection.getresponse() as response:
        assert response.read() == b"{}"


@pytest.mark.anyio
async def test_each_event_is_flushed_before_the_gate_behind_it(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    gate = Gate()
    fake_model_server.script("/v1/answer", Scripted(events=("one", "two")).held(gate, at=1))

    with ask(connection) as response:
        first = response.read(len("data: one\n\n"))
        await gate.reached()
        gate.open()
        rest = response.read()

    assert (first, rest) == (b"data: one\n\n", b"data: two\n\n")


def test_the_line_is_cut_after_the_events_that_came(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    fake_model_server.script("/v1/answer", Scripted(events=("one", "two", "three")).cut(2))

    with ask(connection) as response, pytest.raises(IncompleteRead) as cut:
        response.read()

    assert cut.value.partial == b"data: one\n\ndata: two\n\n"


def test_the_line_is_cut_within_a_body(
    fake_model_server: FakeModelServer, connection: HTTPConnection
) -> None:
    fake_model_server.script("/v1/answer", Scripted(body="0123456789" * 10_000).cut(70_001))

    with ask(connection) as response, pytest.raises(IncompleteRead) as cut:
        response.read()

    assert len(cut.value.partial) == 70_001


@pytest.mark.parametrize("scripted", [Scripted(body="{}"), Scripted(events=("one",))])
def test_the_line_is_cut_before_the_first_byte(
    fake_model_server: FakeModelServer, connection: HTTPConnection, scripted: Scripted
) -> None:
    fake_model_server.script("/v1/answer", scripted.cut(0))

    with pytest.raises(RemoteDisconnected):
        answer(connection)


@pytest.mark.anyio
@pytest.mark.parametrize("place", [0, 1])
async def test_it_notices_that_a_client_left_at_a_gate(
    fake_model_server: FakeModelServer, place: int
) -> None:
    gate = Gate()
    fake_model_server.script("/v1/answer", Scripted(events=("one", "two")).held(gate, at=place))
    address = urlsplit(fake_model_server.url)
    with socket.create_connection((address.hostname, address.port)) as client:
        client.sendall(b"GET /v1/answer HTTP/1.1\r\nHost: here\r\n\r\n")
        await gate.reached()

    await fake_model_server.received[0].hung_up()


@pytest.mark.anyio
async def test_stopping_opens_what_is_still_held() -> None:
    gate = Gate()
    async with FakeModelServer() as server:
        server.script("/v1/answer", Scripted(body="{}").held(gate))
        connection = HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        connection.request("POST", "/v1/answer")
        await gate.reached()

    with connection.getresponse() as response:
        assert response.read() == b"{}"
    connection.close()


@pytest.mark.anyio
async def test_many_clients_are_served_at_once(fake_model_server: FakeModelServer) -> None:
    gate = Gate()
    fake_model_server.script("/v1/answer", Scripted(body={"ok": True}).held(gate))
    found: list[tuple[int, bytes]] = []

    def ask_once() -> None:
        connection = HTTPConnection(urlsplit(fake_model_server.url).netloc, timeout=10)
        found.append(answer(connection))
        connection.close()

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(anyio.to_thread.run_sync, ask_once)
        await gate.reached()
        gate.open()

    assert found == [(200, b'{"ok": true}')] * 20
