"""What a model answered, read from the two wires."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from poise.errors import MalformedReplyError, ProviderError, ProviderUnavailableError
from poise.turn.generation import Finish, ModelCall, StructuredReply, TextChunk, Usage
from poise_openai.errors import Place, failed

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response, ResponseUsage

_FILTERED = "the provider's content filter held the answer back"
_FAILED = ("error", "insufficient_system_resource")
_FINISHES: Mapping[str, Finish] = {
    "length": Finish.TRUNCATED,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "content_filter": Finish.REFUSED,
}


@attrs.define
class Answer:
    """What has been read of one answer so far, whole or from a stream.

    Attributes:
        calls: Id, name and arguments, as they were written, by position.
    """

    text: str = ""
    refusal: str = ""
    calls: dict[int, list[str]] = attrs.field(factory=dict)
    finish: str | None = None
    usage: Usage | None = None
    model: str = ""

    def called(self, position: int, *, id: str, name: str, arguments: str) -> None:
        """Take in a call, or a piece of one."""
        call = self.calls.setdefault(position, ["", "", ""])
        call[0] = call[0] or id
        call[1] = call[1] or name
        call[2] += arguments

    def outcome(self) -> tuple[Finish, str]:
        """Return why the model stopped, and its reason where it refused."""
        finish = _FINISHES.get(self.finish or "", Finish.COMPLETE)
        if self.refusal or finish is Finish.REFUSED:
            return Finish.REFUSED, self.refusal or _FILTERED
        if finish is Finish.TRUNCATED:
            return finish, ""
        # With a function forced upon it, a model ends its calls like its words.
        return (Finish.CALLS if self.calls else Finish.COMPLETE), ""

    def last_chunk(self, place: Place) -> TextChunk:
        """Return the chunk that ends a stream.

        Raises:
            MalformedReplyError: The arguments of a call are no JSON object.
            ProviderUnavailableError: The stream ended without saying why.
        """
        self.check_finished(place)
        finish, reason = self.outcome()
        return TextChunk(
            finish=finish,
            usage=self.usage,
            calls=self._parsed_calls(place) if finish is Finish.CALLS else (),
            reason=reason,
            model=self.model,
        )

    def reply(self, place: Place) -> StructuredReply:
        """Return the JSON, from the words or from the function that was to give it.

        Raises:
            ProviderUnavailableError: The answer does not say why it ended.
        """
        self.check_finished(place)
        finish, reason = self.outcome()
        text = self.text
        if self.calls and not text.strip():
            text = next(iter(self.calls.values()))[2]
        return StructuredReply(
            text,
            Finish.COMPLETE if finish is Finish.CALLS else finish,
            usage=self.usage,
            reason=reason,
            model=self.model,
        )

    def check_finished(self, place: Place) -> None:
        """Raise where the answer broke off.

        Raises:
            ProviderUnavailableError: It did.
        """
        if self.finish is None or self.finish in _FAILED:
            raise ProviderUnavailableError(
                place.provider, place.model, "", "the answer broke off; try again"
            )

    def _parsed_calls(self, place: Place) -> tuple[ModelCall, ...]:
        return tuple(
            ModelCall(id or f"call_{position}", name, _arguments(name, written, place))
            for position, (id, name, written) in sorted(self.calls.items())
        )


def read_completion(completion: ChatCompletion, place: Place) -> Answer:
    """Return what a whole chat completion says.

    Raises:
        MalformedReplyError: It is none.
    """
    choices = getattr(completion, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    if not choices or message is None:
        raise unreadable(completion, place)
    answer = Answer(
        text=getattr(message, "content", None) or "",
        refusal=getattr(message, "refusal", None) or "",
        finish=getattr(choices[0], "finish_reason", None) or "stop",
        usage=chat_usage(getattr(completion, "usage", None)),
        model=getattr(completion, "model", None) or "",
    )
    for position, call in enumerate(getattr(message, "tool_calls", None) or ()):
        if call.type == "function":
            answer.called(
                position,
                id=call.id or "",
                name=call.function.name,
                arguments=_written(call.function.arguments),
            )
    return answer


def read_response(response: Response, place: Place) -> Answer:
    """Return what a whole response says.

    Raises:
        ProviderError: It failed.
        MalformedReplyError: It is none.
    """
    output = getattr(response, "output", None)
    if output is None:
        raise unreadable(response, place)
    error = getattr(response, "error", None)
    if error is not None:
        raise failed(error.code, error.message, place)
    answer = Answer(
        finish=_response_finish(response),
        usage=response_usage(getattr(response, "usage", None)),
        model=getattr(response, "model", None) or "",
    )
    add_items(answer, output)
    return answer


def add_items(answer: Answer, output: Iterable[Any]) -> None:  # the SDK's union of items
    """Take in the items of a response: messages and calls; reasoning is the model's own."""
    for position, item in enumerate(output):
        if item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    answer.text += part.text
                elif part.type == "refusal":
                    answer.refusal += part.refusal
        elif item.type == "function_call":
            answer.called(position, id=item.call_id, name=item.name, arguments=item.arguments)


def chat_usage(usage: CompletionUsage | None) -> Usage | None:
    """Return the token counts of a chat completion, where it tells them."""
    if usage is None:
        return None
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    cached = getattr(prompt, "cached_tokens", None)
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        # DeepSeek tells it elsewhere.
        cached_tokens=_count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
        written_tokens=_count(prompt, "cache_write_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        reasoning_tokens=_count(completion, "reasoning_tokens"),
    )


def response_usage(usage: ResponseUsage | None) -> Usage | None:
    """Return the token counts of a response, where it tells them."""
    if usage is None:
        return None
    read = getattr(usage, "input_tokens_details", None)
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        cached_tokens=_count(read, "cached_tokens"),
        written_tokens=_count(read, "cache_write_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        reasoning_tokens=_count(getattr(usage, "output_tokens_details", None), "reasoning_tokens"),
    )


def unreadable(answer: object, place: Place) -> ProviderError:
    """Return the error for an answer that is not what the wire promises.

    Some servers report a failure with the status of a success; then it is that failure.
    """
    error = getattr(answer, "error", None)
    if isinstance(error, Mapping):
        return failed(str(error.get("code") or ""), str(error.get("message") or ""), place)
    return MalformedReplyError(
        place.provider,
        place.model,
        "",
        f"the answer is not what this wire promises; is {place.address} the address of a "
        "compatible server?",
    )


def _response_finish(response: Response) -> str | None:
    if response.status == "completed":
        return "stop"
    details = getattr(response, "incomplete_details", None)
    reason = getattr(details, "reason", None)
    if response.status == "incomplete":
        return "content_filter" if reason == "content_filter" else "length"
    return None


def _arguments(name: str, written: str, place: Place) -> Mapping[str, Any]:
    try:
        parsed = json.loads(written or "{}")
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise MalformedReplyError(
            place.provider, place.model, "", f"the arguments of its call to {name!r} are no JSON"
        )
    return parsed


def _written(arguments: object) -> str:
    """Return the arguments as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _count(owner: object, name: str) -> int:
    value = getattr(owner, name, None)
    return value if isinstance(value, int) else 0
