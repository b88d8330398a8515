"""What models answer, as JSON and back: replies of every capability, and typed errors."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from poise import errors
from poise.errors import ProviderError
from poise.turn.generation import Finish, ModelCall, Moderation, StructuredReply, TextChunk, Usage
from poise.turn.models import Probability
from poise_cassettes.requests import Json, joined, lines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# -- text --


def of_chunk(chunk: TextChunk) -> Json:
    """Return a piece of a stream as JSON."""
    said: dict[str, Json] = {"text": chunk.text}
    if chunk.finish is not None:
        said["finish"] = chunk.finish.value
    if chunk.calls:
        said["calls"] = [
            {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
            for call in chunk.calls
        ]
    return {**said, **_beside(chunk)}


def chunk_from(said: Mapping[str, Any]) -> TextChunk:
    """Return the piece of a stream that was written by `of_chunk`."""
    return TextChunk(
        said["text"],
        Finish(said["finish"]) if "finish" in said else None,
        usage=usage_from(said),
        calls=tuple(
            ModelCall(each["id"], each["name"], each["arguments"]) for each in said.get("calls", ())
        ),
        reason=said.get("reason", ""),
        model=said.get("model", ""),
    )


# -- structured --


def of_structured(reply: StructuredReply) -> Json:
    """Return a reply as JSON; its text stays a text, since nobody has validated it."""
    return {"text": lines(reply.text), "finish": reply.finish.value, **_beside(reply)}


def structured_from(said: Mapping[str, Any]) -> StructuredReply:
    """Return the reply that was written by `of_structured`."""
    return StructuredReply(
        joined(said["text"]),
        Finish(said["finish"]),
        usage=usage_from(said),
        reason=said.get("reason", ""),
        model=said.get("model", ""),
    )


# -- decisions --


def of_answers(answers: Sequence[Probability], usage: Usage | None) -> Json:
    """Return a decision model's answers as JSON, in their order."""
    told = [
        {
            "question": each.question,
            "value": None if each.value is None else float(each.value),
            **({"rationale": lines(each.rationale)} if each.rationale else {}),
        }
        for each in answers
    ]
    return {"answers": told, **_of_usage(usage)}


def answers_from(said: Mapping[str, Any]) -> tuple[Sequence[Probability], Usage | None]:
    """Return the answers that were written by `of_answers`."""
    answers = [
        Probability(each["question"], each["value"], joined(each.get("rationale", "")))
        for each in said["answers"]
    ]
    return answers, usage_from(said)


# -- moderation --


def of_moderations(moderations: Sequence[Moderation]) -> Json:
    """Return moderations as JSON, in their order."""
    return {
        "moderations": [
            {
                "flagged": each.flagged,
                "scores": {name: float(score) for name, score in each.scores.items()},
            }
            for each in moderations
        ]
    }


def moderations_from(said: Mapping[str, Any]) -> Sequence[Moderation]:
    """Return the moderations that were written by `of_moderations`."""
    return [Moderation(each["flagged"], each["scores"]) for each in said["moderations"]]


# -- vectors --


def of_vectors(rows: NDArray[np.float32], usage: Usage | None) -> Json:
    """Return one base64 text per row: its float32 numbers, the lowest byte first."""
    told = [base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for row in rows]
    return {"vectors": told, **_of_usage(usage)}


def vector_from(said: str) -> NDArray[np.float32]:
    """Return the row that was written by `of_vectors`."""
    import numpy as np

    return np.frombuffer(base64.b64decode(said, validate=True), "<f4").astype(np.float32)


def of_error(error: ProviderError) -> Json:
    """Return an error as JSON; one of a provider's own kind as the kind of ours that it is."""
    kind = next(each for each in type(error).__mro__ if each in _KINDS.values())
    said: dict[str, Json] = {"type": kind.__name__}
    for field in attrs.fields(kind):
        value = getattr(error, field.name)
        # The route is the router's to fill in: it is another whenever the error is replayed.
        if value is not None and field.name != "route":
            said[field.name] = lines(value) if field.name == "reason" else value
    return said


def error_from(said: Mapping[str, Any]) -> ProviderError:
    """Return the error that was written by `of_error`."""
    kind = _KINDS[said["type"]]
    values = {name: value for name, value in said.items() if name != "type"}
    return kind(**{**values, "reason": joined(said["reason"]), "route": ""})


_KINDS: Mapping[str, type[ProviderError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, ProviderError)
}


# -- what stands beside several of them --


def _beside(reply: TextChunk | StructuredReply) -> dict[str, Json]:
    return {
        **({"reason": reply.reason} if reply.reason else {}),
        **({"model": reply.model} if reply.model else {}),
        **_of_usage(reply.usage),
    }


def _of_usage(usage: Usage | None) -> dict[str, Json]:
    if usage is None:
        return {}
    return {"usage": {name: number for name, number in attrs.asdict(usage).items() if number}}


def usage_from(said: Mapping[str, Any]) -> Usage | None:
    """Return what a reply took, where that was recorded."""
    return Usage(**said["usage"]) if "usage" in said else None
