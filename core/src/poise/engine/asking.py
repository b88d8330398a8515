"""Structured answers: asked for, read out of what came, validated, and repaired."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import attrs

from poise import prompts
from poise.engine.routing import ModelRoutes, Served
from poise.engine.sending import Attempt, Sender, Tries
from poise.errors import MalformedReplyError, RefusedError, TruncatedError
from poise.ports.models import StructuredGenerator, TextGenerator
from poise.turn.generation import (
    Finish,
    Generation,
    GenerationOptions,
    StructuredReply,
    Usage,
)
from poise.turn.models import Capability
from poise.turn.prompts import Cut, Prompt, Section, Stability
from poise.turn.requests import ModelRequest
from poise.turn.schemas import Schema

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

_STARTS = 20  # braces in prose before the object; more, and reading a long answer takes for ever

QUOTED_BACK = 1_500
"""Characters of a malformed answer that the request to repair it quotes."""


@attrs.frozen
class Ask:
    """One structured question to one model.

    Attributes:
        route: The use.
        prompt: Fitted to the model.
        model: What the answer is validated as.
        schema: The same, as it is asked for.
        options: For the generation.
        repairs: How often a malformed answer is sent back.
        items: How many things it asks about.
    """

    route: str
    prompt: Prompt
    model: type[BaseModel]
    schema: Schema
    options: GenerationOptions
    repairs: int
    items: int = 1


async def ask(
    question: Ask,
    served: Served,
    *,
    routes: ModelRoutes,
    sender: Sender,
    tries: Tries,
    inspect: Callable[[BaseModel, Attempt], None] | None = None,
) -> Generation[BaseModel]:
    """Return a validated answer; a malformed one is sent back with what is wrong with it.

    Only the last answer is quoted back, so that a repair costs about what the first try did.

    Args:
        question: What to ask.
        served: Whom.
        routes: Gives out the model.
        sender: Sends.
        tries: Counted on over repairs and fallbacks.
        inspect: Sees a valid answer before it is recorded, and may note something.

    Raises:
        MalformedReplyError: No answer was valid, the repaired ones included.
        RefusedError: The model declined.
        TruncatedError: The answer did not fit.
        ProviderError: The model failed.
    """
    usage = Usage()
    prompt = question.prompt
    first = tries.count
    for repair in range(question.repairs + 1):
        written = ""

        async def once(attempt: Attempt, prompt: Prompt = prompt) -> tuple[BaseModel, str]:
            nonlocal written, usage
            reply = await _reply(question, prompt, served, routes)
            attempt.usage, attempt.build = reply.usage, reply.model
            usage += reply.usage or Usage()
            written = reply.text
            _raise_outcome(reply, served, question.route)
            try:
                value = read(reply.text, question.model)
            except ValueError as exc:
                raise MalformedReplyError(
                    served.provider, served.model, question.route, str(exc)
                ) from exc
            if inspect is not None:
                inspect(value, attempt)
            return value, reply.text

        try:
            value, text = await sender.send(
                ModelRequest(
                    question.route,
                    served.name,
                    _way(served),
                    prompt=prompt,
                    schema=question.schema.name,
                ),
                served,
                once,
                items=question.items,
                tries=tries,
            )
        except MalformedReplyError as exc:
            if repair == question.repairs:
                raise
            tries.note = "repairs a malformed answer"
            prompt = question.prompt.followed_by(_repair(written, exc.reason))
        else:
            return Generation(value, text, served.name, tries.count - first, usage)
    raise AssertionError("a loop over at least one try returns or raises")


def _way(served: Served) -> str:
    return "prompted" if served.way is Capability.TEXT else served.way.value


async def _reply(
    question: Ask, prompt: Prompt, served: Served, routes: ModelRoutes
) -> StructuredReply:
    if served.way is Capability.STRUCTURED:
        structured = routes.made(served, StructuredGenerator)  # type: ignore[type-abstract]
        return await structured.generate(prompt, question.schema, options=question.options)
    text = routes.made(served, TextGenerator)  # type: ignore[type-abstract]
    pieces: list[str] = []
    stream = text.stream(prompt.followed_by(_format(question.schema)), options=question.options)
    async for chunk in stream:
        pieces.append(chunk.text)
        if chunk.finish is not None:
            return StructuredReply(
                "".join(pieces), chunk.finish, chunk.usage, chunk.reason, chunk.model
            )
    raise MalformedReplyError(
        served.provider, served.model, question.route, "the stream ended without a finish"
    )


def _raise_outcome(reply: StructuredReply, served: Served, route: str) -> None:
    if reply.finish is Finish.REFUSED:
        raise RefusedError(
            served.provider,
            served.model,
            route,
            f"the model declined: {reply.reason or 'it gave no reason'}",
        )
    if reply.finish is Finish.TRUNCATED:
        raise TruncatedError(
            served.provider,
            served.model,
            route,
            f"the answer broke off after {len(reply.text)} characters; raise max_output, or ask "
            f"for less at once",
        )


def _format(schema: Schema) -> Section:
    shape = json.dumps(schema.plain(), ensure_ascii=False)
    return Section(
        "format",
        f"Answer with one JSON object and nothing else, with its fields in this order:\n{shape}",
        Stability.TURN,
        priority=100,
        cut=Cut.NOTHING,
    )


def _repair(written: str, reason: str) -> Section:
    return Section(
        "repair",
        f"Your last answer was not valid: {reason}\n"
        f"It was: {prompts.quoted(written, QUOTED_BACK)}\n"
        f"Answer again, whole, with a valid JSON object and nothing else.",
        Stability.TURN,
        priority=100,
        cut=Cut.NOTHING,
    )


def read(text: str, model: type[M]) -> M:
    """Return what the JSON in `text` says, as `model`.

    Weak models wrap their JSON in words or in a fenced block, so the first object that can be
    read is taken.

    Raises:
        ValueError: There is no JSON object, or it does not say what `model` needs; the message
            names the fields, for the model that is to repair it.
    """
    from pydantic import ValidationError

    found = _first_object(text)
    if found is None:
        raise ValueError("there is no complete JSON object in it")
    try:
        return model.model_validate(found)
    except ValidationError as exc:
        wrong = [
            f"{'.'.join(str(step) for step in error['loc']) or 'the object'}: {error['msg']}"
            for error in exc.errors(include_url=False, include_input=False)[:5]
        ]
        raise ValueError("; ".join(wrong)) from exc


def _first_object(text: str) -> object | None:
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(_STARTS):
        if start < 0:
            break
        try:
            return dict(decoder.raw_decode(text, start)[0])
        except (json.JSONDecodeError, RecursionError):
            start = text.find("{", start + 1)
    return None
