"""What the Messages API answers, in Poise's terms: words, calls, usage, and why it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from poise import Finish, MalformedReplyError, ModelCall, StructuredReply, TextChunk, Usage
from poise_anthropic.encode import Way

if TYPE_CHECKING:
    from anthropic.types import Message, RawMessageStreamEvent

_FINISHES: Mapping[str, Finish] = {
    "end_turn": Finish.COMPLETE,
    "stop_sequence": Finish.COMPLETE,
    "tool_use": Finish.CALLS,
    "max_tokens": Finish.TRUNCATED,
    "model_context_window_exceeded": Finish.TRUNCATED,
    "pause_turn": Finish.TRUNCATED,
    "refusal": Finish.REFUSED,
}


class Reading:
    """One stream, taken event by event.

    Args:
        model: For errors.
        names: Tools' own names, by the names that were sent.
    """

    def __init__(self, model: str, names: Mapping[str, str]) -> None:
        self._model = model
        self._names = names
        self._build = ""
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._reason = ""
        self._calls: dict[int, _Call] = {}

    def take(self, event: RawMessageStreamEvent) -> str:
        """Return the words that an event brings, if it brings any."""
        if event.type == "message_start":
            self._build = getattr(event.message, "model", None) or ""
            self._count(getattr(event.message, "usage", None))
        elif event.type == "content_block_start":
            block = event.content_block
            if block.type == "tool_use":
                self._calls[event.index] = _Call(
                    block.id, self._names.get(block.name, block.name), block.input
                )
            elif block.type == "text":
                return block.text or ""
        elif event.type == "content_block_delta":
            delta = event.delta
            if delta.type == "text_delta":
                return delta.text or ""
            if delta.type == "input_json_delta" and event.index in self._calls:
                self._calls[event.index].pieces.append(delta.partial_json or "")
        elif event.type == "message_delta":
            self._stop = event.delta.stop_reason or self._stop
            self._reason = _reason(event.delta)
            self._count(getattr(event, "usage", None))
        return ""

    @property
    def is_whole(self) -> bool:
        """Whether the model has said why it stopped."""
        return self._stop is not None

    def last(self) -> TextChunk:
        """Return the last chunk of a whole stream.

        Raises:
            MalformedReplyError: The arguments of a call are no JSON object.
        """
        finish = _finish(self._stop)
        return TextChunk(
            finish=finish,
            usage=_usage(self._usage),
            # A call that was cut short has arguments that nobody can read.
            calls=self._read_calls() if finish is Finish.CALLS else (),
            reason=self._reason if finish is Finish.REFUSED else "",
            model=self._build,
        )

    def _read_calls(self) -> tuple[ModelCall, ...]:
        return tuple(
            ModelCall(
                call.id or f"call_{index}",
                call.name,
                call.arguments(self._model),
            )
            for index, call in sorted(self._calls.items())
        )

    def _count(self, usage: object) -> None:
        # The counts of a later event are of the whole answer, and it may leave some out.
        self._usage.update({name: n for name, n in _counts(usage).items() if n is not None})


class _Call:
    def __init__(self, id: str, name: str, given: object) -> None:
        self.id = id
        self.name = name
        self.pieces: list[str] = []
        self._given = given

    def arguments(self, model: str) -> Mapping[str, Any]:
        text = "".join(self.pieces)
        try:
            read = json.loads(text) if text else self._given or {}
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise MalformedReplyError(
                "anthropic",
                model,
                "",
                f"the arguments of the call {self.name!r} are no JSON object; a stronger model, "
                f"or one that takes strict tools, writes better ones",
            )
        return read


def reply_of(message: Message, way: Way) -> StructuredReply:
    """Return an answer that was asked for as JSON; in a tool's arguments where it was so asked."""
    finish = _finish(getattr(message, "stop_reason", None))
    text = "".join(block.text or "" for block in message.content or () if block.type == "text")
    if way is not Way.FORMAT:
        called = [block.input for block in message.content or () if block.type == "tool_use"]
        if called:
            text = json.dumps(called[0], ensure_ascii=False)
    return StructuredReply(
        text,
        # The call was only the way to say it.
        Finish.COMPLETE if finish is Finish.CALLS else finish,
        usage_of(message),
        _reason(message) if finish is Finish.REFUSED else "",
        getattr(message, "model", None) or "",
    )


def usage_of(message: Message) -> Usage:
    """Return what a request took."""
    return _usage(_counts(getattr(message, "usage", None)))


def _usage(counts: Mapping[str, int | None]) -> Usage:
    read, written = counts.get("cached") or 0, counts.get("written") or 0
    return Usage(
        # The vendor counts apart what comes from the cache and what goes there.
        input_tokens=(counts.get("input") or 0) + read + written,
        cached_tokens=read,
        written_tokens=written,
        output_tokens=counts.get("output") or 0,
        reasoning_tokens=counts.get("reasoning") or 0,
    )


def _counts(usage: object) -> Mapping[str, int | None]:
    details = getattr(usage, "output_tokens_details", None)
    return {
        "input": getattr(usage, "input_tokens", None),
        "cached": getattr(usage, "cache_read_input_tokens", None),
        "written": getattr(usage, "cache_creation_input_tokens", None),
        "output": getattr(usage, "output_tokens", None),
        "reasoning": getattr(details, "thinking_tokens", None),
    }


def _finish(stop: str | None) -> Finish:
    # A reason that is new to us ended an answer all the same.
    return _FINISHES.get(stop or "", Finish.COMPLETE)


def _reason(message: object) -> str:
    details = getattr(message, "stop_details", None)
    told = getattr(details, "explanation", None) or getattr(details, "category", None)
    return str(told or "")
