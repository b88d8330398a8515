"""The stub model server of the neutral scenarios, taught to serve decisions; a process of its own.

The stub is used as it is: its clock, its log, its oracles. Added are the endpoint for decisions,
in the same latency model and the same log (what it writes is free), an oracle that reads Poise's
schemas, exact token counts where a vocabulary is installed, and a small server that carries it.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import os
import re
import sys
import traceback
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

YES, NO = 0.97, 0.03
"""What the neutral oracle gives for a score."""

_LINES = re.compile(r".*?(?:\n(?=\S)|\Z)", re.DOTALL)
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found"}


class Vocabulary:
    """The vocabulary that the recorded figures were counted with, from another package."""

    def __init__(self) -> None:
        # Not every environment has it, and type checkers need not know.
        self._encoding: Any = importlib.import_module("bpe_openai").get_encoding("o200k_base")

    def encode(self, text: str, **_said: object) -> list[int]:
        """Return the tokens of a text, line by line, since it takes no text as long as some here.

        No token runs over a break before a line that begins with a sign, so the sum is exact.
        """
        return [
            token for line in _LINES.findall(text) for token in self._encoding.encode_ordinary(line)
        ]


@cache
def vocabulary() -> Vocabulary | None:
    """Return the vocabulary; `None`: none is installed, and four characters count as a token."""
    return Vocabulary() if find_spec("bpe_openai") is not None else None


class Stub:
    """The stub's application, with one endpoint more.

    Args:
        stub: Its module, of which one name is replaced.
        oracle: Our module: what it offers answers first.
    """

    def __init__(self, stub: Any, oracle: ModuleType) -> None:
        self._stub = stub
        self._oracle = oracle
        stub.ST.oracles.insert(0, oracle.PoiseOracle())
        if find_spec("tiktoken") is None:
            stub.encoder = vocabulary

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["method"] == "POST" and scope["path"].endswith("/decisions"):
            body = self._stub.loads(await self._stub.read_body(receive))
            await self._decide(body, dict(scope["headers"]), send)
        else:
            await self._stub.app(scope, receive, send)

    async def _decide(self, body: dict[str, Any], headers: dict[bytes, bytes], send: Any) -> None:
        stub = self._stub
        said = {key.decode(): value.decode() for key, value in headers.items()}
        call = stub.to_call("openai-responses", body, said)
        questions = body["questions"]
        asked = "\n".join(each["instructions"] for each in questions)
        prompt = f"{call.prompt}\n\n{asked}"
        request = stub.Req("chat", prompt, call.model, "decisions", said, False)
        answers = [
            {
                "type": "predicate",
                "name": each.get("name"),
                "probability": YES if self._oracle.holds(each["instructions"], call) else NO,
            }
            for each in questions
        ]
        first, rest = stub.planned_ms(len(prompt), request.done_chars, 0)
        await stub.Timer(request.t0).until(first + rest)
        request.finish("", first + rest)
        taken = math.ceil(len(prompt) / 4)
        usage = {
            "input_tokens": taken,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": taken,
        }
        await stub.send_json(send, {"model": call.model, "answers": answers, "usage": usage})


class Connection:
    """One client's connection: requests one after the other, carried to an ASGI application."""

    def __init__(
        self, app: Stub, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._app = app
        self._reader = reader
        self._writer = writer
        self._is_chunked = False

    async def serve(self) -> None:
        """Answer until the client leaves."""
        try:
            while True:
                head = await self._reader.readuntil(b"\r\n\r\n")
                await self._one(head)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception:  # the client is told by the connection's end, and people by this
            traceback.print_exc()
        finally:
            self._writer.close()

    async def _one(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _version = first.split(" ")
        path, _, query = target.partition("?")
        headers = {
            name.strip().lower(): value.strip()
            for name, colon, value in (line.partition(":") for line in lines)
            if colon
        }
        body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        pending = [{"type": "http.request", "body": body}]

        async def receive() -> dict[str, Any]:
            return pending.pop() if pending else {"type": "http.disconnect"}

        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
        }
        await self._app(scope, receive, self._send)

    async def _send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = list(message["headers"])
            self._is_chunked = all(name != b"content-length" for name, _ in headers)
            if self._is_chunked:
                headers.append((b"transfer-encoding", b"chunked"))
            lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}".encode()]
            lines += [name + b": " + value for name, value in headers]
            self._writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
            return
        data, more = message.get("body", b""), message.get("more_body", False)
        if self._is_chunked:
            data = f"{len(data):x}\r\n".encode() + data + b"\r\n" if data else b""
            data += b"" if more else b"0\r\n\r\n"
        self._writer.write(data)
        await self._writer.drain()


async def serve(folder: str) -> None:
    """Listen on a free port, print it, and serve until stopped."""
    sys.path.append(folder)
    app = Stub(importlib.import_module("stub_llm"), importlib.import_module("peer_oracle"))

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Connection(app, reader, writer).serve()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=512)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    if not (len(sys.argv) == 2 and Path(sys.argv[1]).is_dir()):
        raise SystemExit(f"usage: {os.path.basename(__file__)} FOLDER_OF_THE_SCENARIOS")
    sys.dont_write_bytecode = True
    asyncio.run(serve(sys.argv[1]))
