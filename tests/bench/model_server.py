"""A model server that takes no time: three vendors' wire formats, streamed chunk by chunk.

Every text chunk begins with the moment at which it was written, so that whoever reads it knows how
long it was on the way: `time.perf_counter` is one clock for all processes of a machine.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator

import anyio
from anyio.abc import SocketStream

CHUNKS = 40
ANSWER = '{"answers": []}'
USAGE = 100


def _chat(text: str | None) -> Iterator[str]:
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    if text is not None:
        delta = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        yield f"data: {json.dumps({**about, 'choices': [delta]})}\n\n"
        return
    last = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield f"data: {json.dumps({**about, 'choices': [last]})}\n\n"
    usage = {"prompt_tokens": USAGE, "completion_tokens": CHUNKS, "total_tokens": USAGE + CHUNKS}
    yield f"data: {json.dumps({**about, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def _messages(text: str | None) -> Iterator[str]:
    if text is not None:
        said = {"type": "text_delta", "text": text}
        yield _event("content_block_delta", {"index": 0, "delta": said})
        return
    yield _event("content_block_stop", {"index": 0})
    ended = {"delta": {"stop_reason": "end_turn", "stop_sequence": None}}
    yield _event("message_delta", {**ended, "usage": {"output_tokens": CHUNKS}})
    yield _event("message_stop", {})


def _messages_start() -> str:
    message = {
        "id": "m", "type": "message", "role": "assistant", "content": [], "model": "m",
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": USAGE, "output_tokens": 1},
    }  # fmt: skip
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    return _event("message_start", {"message": message}) + _event("content_block_start", block)


def _event(name: str, data: dict[str, object]) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def _content(text: str | None) -> Iterator[str]:
    said = {"content": {"role": "model", "parts": [{"text": text or ""}]}, "index": 0}
    usage = {"promptTokenCount": USAGE, "candidatesTokenCount": CHUNKS}
    if text is None:
        said["finishReason"] = "STOP"
        yield f"data: {json.dumps({'candidates': [said], 'usageMetadata': usage})}\n\n"
    else:
        yield f"data: {json.dumps({'candidates': [said]})}\n\n"


def _whole_chat() -> dict[str, object]:
    message = {"role": "assistant", "content": ANSWER, "refusal": None}
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": USAGE, "completion_tokens": 5, "total_tokens": USAGE + 5},
    }  # fmt: skip


def _whole_messages() -> dict[str, object]:
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": USAGE, "output_tokens": 5},
    }  # fmt: skip


def _whole_content() -> dict[str, object]:
    said = {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": USAGE, "candidatesTokenCount": 5}
    return {"candidates": [said], "usageMetadata": usage}


async def _serve(stream: SocketStream) -> None:
    """Answer requests on one connection until the client leaves."""
    async with stream:
        waiting = b""
        while True:
            while b"\r\n\r\n" not in waiting:
                try:
                    waiting += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
            head, _, waiting = waiting.partition(b"\r\n\r\n")
            length = next(
                (
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            while len(waiting) < length:
                waiting += await stream.receive()
            body, waiting = waiting[:length], waiting[length:]
            path = head.split(b" ", 2)[1].decode()
            try:
                await _answer(stream, path, body)
            except anyio.BrokenResourceError:
                return


async def _answer(stream: SocketStream, path: str, body: bytes) -> None:
    is_stream = "stream" in path or (b'"stream"' in body and json.loads(body).get("stream"))
    if "/messages" in path:
        start, piece, whole = _messages_start(), _messages, _whole_messages
    elif ":" in path.rpartition("/")[2]:
        start, piece, whole = "", _content, _whole_content
    else:
        start, piece, whole = "", _chat, _whole_chat
    if is_stream:
        await _answer_in_pieces(stream, start, piece)
        return
    data = json.dumps(whole()).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(data)}"
    await stream.send(head.encode() + b"\r\n\r\n" + data)


async def _answer_in_pieces(
    stream: SocketStream, start: str, piece: Callable[[str | None], Iterator[str]]
) -> None:
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    await stream.send(head.encode())
    if start:
        await stream.send(_chunk(start))
    for _ in range(CHUNKS):
        text = "".join(piece(f"{time.perf_counter():.7f} "))
        await stream.send(_chunk(text))
    await stream.send(_chunk("".join(piece(None))) + b"0\r\n\r\n")


def _chunk(text: str) -> bytes:
    data = text.encode()
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def main() -> None:
    """Listen on a free port, print it, and serve until stopped."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=512)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - not that `extra`
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await listener.serve(_serve)


if __name__ == "__main__":
    anyio.run(main)
