"""A real HTTP server on loopback that answers as scripted, to test providers at the wire."""

from __future__ import annotations

import json
import selectors
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from types import TracebackType
from typing import Any, TypeAlias

import anyio
import attrs
from pytest_httpserver.httpserver import HTTPServerBase
from werkzeug import Request, Response

_PATIENCE = 10.0
"""Seconds after which a test that waits for the server fails instead of hanging."""

_PIECE = 65_536


class Gate:
    """Holds a scripted reply at one place until the test opens it; once open, it stays open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False
        self._reached = threading.Event()
        self._waiting: list[socket.socket] = []

    def open(self) -> None:
        """Let go of whatever stands here now and later; from any thread."""
        with self._lock:
            self._is_open = True
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                each.send(b"o")

    async def reached(self) -> None:
        """Wait until a reply stands before the gate.

        Raises:
            AssertionError: None does in ten seconds.
        """
        await _happened(self._reached, "no reply came to the gate")

    def hold(self, connection: socket.socket) -> bool:
        """Wait in the server's thread; return whether the client is still there."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            with self._lock:
                if not self._is_open:
                    self._waiting.append(theirs)
                else:
                    theirs.send(b"o")
            self._reached.set()
            with selectors.DefaultSelector() as either:
                either.register(ours, selectors.EVENT_READ)
                either.register(connection, selectors.EVENT_READ)
                ready = {key.fileobj for key, _ in either.select()}
            with self._lock:
                if theirs in self._waiting:
                    self._waiting.remove(theirs)
            return ours in ready


@attrs.frozen
class ServerEvent:
    """One server-sent event.

    Attributes:
        data: Text as it is (`[DONE]`), or what is written as JSON.
        name: The `event:` line, for vendors that have one.
    """

    data: Any = attrs.field(hash=False)  # any JSON value
    name: str = ""

    def encode(self) -> bytes:
        """Return the event as it goes over the wire."""
        text = self.data if isinstance(self.data, str) else json.dumps(self.data)
        lines = [f"event: {self.name}"] if self.name else []
        lines += [f"data: {line}" for line in text.split("\n")]
        return ("\n".join(lines) + "\n\n").encode()


AnyEvent: TypeAlias = ServerEvent | str | Mapping[str, Any]
"""An event, or just its data."""


def _many(events: Iterable[AnyEvent]) -> tuple[AnyEvent, ...]:
    return tuple(events)


@attrs.frozen
class Scripted:
    """One reply, and how it is to come.

    Attributes:
        status: The HTTP status.
        headers: What is sent beside the content type, or in its place.
        body: Bytes and text go out as they are, anything else as JSON; labelled as JSON.
        events: Server-sent events, each flushed by itself, in place of a body: `ServerEvent`, or
            just its data.
        gates: By place: 0 is before the first byte of the answer, headers included; `n` is after
            the first `n` events.
        cut_after: Hang up after so many events, or bytes of the body, without ending the answer;
            0 is before its first byte. `None`: the answer is whole.
    """

    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    body: Any = attrs.field(default=None, hash=False)  # any JSON value
    events: tuple[AnyEvent, ...] | None = attrs.field(
        default=None, converter=attrs.converters.optional(_many), hash=False
    )
    gates: Mapping[int, Gate] = attrs.field(factory=dict, hash=False)
    cut_after: int | None = None

    def held(self, gate: Gate, at: int = 0) -> Scripted:
        """Return this reply with a gate before its first byte, or after `at` events."""
        return attrs.evolve(self, gates={**self.gates, at: gate})

    def cut(self, after: int) -> Scripted:
        """Return this reply, with the line cut after so many events or bytes."""
        return attrs.evolve(self, cut_after=after)

    def encoded(self) -> bytes:
        """Return the body as bytes."""
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


class Received:
    """One request as the server got it.

    Attributes:
        method: `POST`.
        path: Without the query.
        query: By name; the last of one name.
        headers: By name in lower case.
        body: The bytes.
    """

    def __init__(self, request: Request) -> None:
        self.method: str = request.method
        self.path: str = request.path
        self.query: Mapping[str, str] = dict(request.args.items())
        self.headers: Mapping[str, str] = {
            name.lower(): value for name, value in request.headers.items()
        }
        self.body: bytes = request.get_data()
        self._left = threading.Event()

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    async def hung_up(self) -> None:
        """Wait until the client has hung up before the answer was whole.

        The server notices while it stands at a gate, or when it writes.

        Raises:
            AssertionError: It has not in ten seconds.
        """
        await _happened(self._left, f"the client of {self.path} did not hang up")

    def mark_left(self) -> None:
        """Note that the client is gone."""
        self._left.set()


Reply: TypeAlias = Scripted | Callable[[Received], Scripted]
"""A reply, or a function that makes it of the request."""


class FakeModelServer:
    """Answers over real HTTP, as scripted by path, and keeps what it was asked.

    ```python
    async with FakeModelServer() as server:
        server.script("/v1/answers", Scripted(429, {"Retry-After": "2"}), Scripted(body={"a": 1}))
        provider = MyProvider(base_url=server.url)
    ```

    The fixture `fake_model_server` gives a running one. It works as a plain context manager, too.

    Attributes:
        received: Every request, oldest first.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._scripts: dict[str, list[Reply]] = {}
        self._gates: list[Gate] = []
        self._lock = threading.Lock()
        self._http = _Server(self._answer)

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._http.port}"

    def script(self, path: str, *replies: Reply) -> None:
        """Have `path` answered so, one reply per request; the last one is repeated.

        `path` may hold `*`; an exact one counts first, then the others as they were scripted.
        A path scripted before is scripted anew. What has no script is a 404 that says so.
        """
        if not replies:
            raise ValueError(f"the script of {path} holds no reply")
        with self._lock:
            self._scripts[path] = list(replies)

    def start(self) -> None:
        """Listen on a free port of loopback."""
        self._http.start()

    def stop(self) -> None:
        """Open all gates and stop listening."""
        with self._lock:
            for gate in self._gates:
                gate.open()
        self._http.stop()

    def __enter__(self) -> FakeModelServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    async def __aenter__(self) -> FakeModelServer:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.stop)

    def _answer(self, request: Request) -> Response:
        received = Received(request)
        with self._lock:
            self.received.append(received)
            reply = self._next_reply(received.path)
        scripted = reply if isinstance(reply, Scripted) else reply(received)
        with self._lock:
            self._gates.extend(scripted.gates.values())
        return _Answer(scripted, received, request.environ["werkzeug.socket"]).response()

    def _next_reply(self, path: str) -> Reply:
        matching = [path] if path in self._scripts else []
        matching += [each for each in self._scripts if fnmatchcase(path, each)]
        if not matching:
            known = ", ".join(self._scripts) or "nothing"
            return Scripted(404, body={"error": {"message": f"no script for {path}; for {known}"}})
        replies = self._scripts[matching[0]]
        return replies.pop(0) if len(replies) > 1 else replies[0]


class _Answer:
    """Sends one scripted reply, and leaves where it is told to."""

    def __init__(self, scripted: Scripted, received: Received, connection: socket.socket) -> None:
        self._scripted = scripted
        self._received = received
        self._connection = connection

    def response(self) -> Response:
        self._pass(0)
        scripted = self._scripted
        if scripted.events is not None:
            headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
            pieces = self._events(scripted.events)
        else:
            body = scripted.encoded()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
            pieces = self._pieces(body)
        labelled = {name.title(): value for name, value in scripted.headers.items()}
        return Response(
            pieces,
            scripted.status,
            {**headers, **labelled},
            direct_passthrough=True,
        )

    def _events(self, events: Iterable[AnyEvent]) -> Iterator[bytes]:
        yield b""  # the headers go out before the first event is ready
        for count, event in enumerate(events, start=1):
            yield from self._sent(
                (event if isinstance(event, ServerEvent) else ServerEvent(event)).encode()
            )
            self._pass(count)

    def _pieces(self, body: bytes) -> Iterator[bytes]:
        until = len(body) if self._scripted.cut_after is None else self._scripted.cut_after
        for start in range(0, until, _PIECE):
            yield from self._sent(body[start : min(start + _PIECE, until)])
        if self._scripted.cut_after is not None:
            self._hang_up()

    def _sent(self, data: bytes) -> Iterator[bytes]:
        is_taken = False
        try:
            yield data
            is_taken = True
        finally:
            if not is_taken:
                self._received.mark_left()

    def _pass(self, place: int) -> None:
        gate = self._scripted.gates.get(place)
        if gate is not None and not gate.hold(self._connection):
            self._received.mark_left()
            raise ConnectionAbortedError("the client hung up while it was kept waiting")
        if self._scripted.cut_after == place:
            self._hang_up()

    def _hang_up(self) -> None:
        self._connection.shutdown(socket.SHUT_RDWR)
        raise ConnectionAbortedError("the script says so")


class _Server(HTTPServerBase):
    """Listens, one thread per request; everything else is scripted."""

    def __init__(self, answer: Callable[[Request], Response]) -> None:
        super().__init__("127.0.0.1", 0, threaded=True)
        self._answer = answer

    def dispatch(self, request: Request) -> Response:
        return self._answer(request)

    def thread_target(self) -> None:
        assert self.server is not None
        self.server.serve_forever(poll_interval=0.01)  # how long stopping may take


async def _happened(event: threading.Event, otherwise: str) -> None:
    happened = await anyio.to_thread.run_sync(event.wait, _PATIENCE, abandon_on_cancel=True)
    assert happened, f"{otherwise} within {_PATIENCE:.0f} s"
