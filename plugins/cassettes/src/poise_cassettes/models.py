"""The wrapped models: each plays its tape, and asks the model behind it where the tape is empty."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from anyio.lowlevel import checkpoint

from poise import DecisionModel, Moderator, StructuredGenerator, TextGenerator
from poise.errors import ProviderError
from poise.turn.generation import (
    GenerationOptions,
    Moderation,
    StructuredReply,
    TextChunk,
    Usage,
)
from poise.turn.models import DecisionRequest, Probability
from poise.turn.prompts import Prompt
from poise.turn.schemas import Schema
from poise_cassettes import replies, requests
from poise_cassettes.behind import Behind
from poise_cassettes.requests import Json
from poise_cassettes.settings import Mode
from poise_cassettes.tape import Tape


class CassetteTextGenerator(TextGenerator):
    """Plays back streams chunk by chunk, as they came."""

    def __init__(self, tape: Tape, behind: Behind[TextGenerator]) -> None:
        self._tape = tape
        self._behind = behind

    async def stream(
        self, prompt: Prompt, *, options: GenerationOptions
    ) -> AsyncIterator[TextChunk]:
        request = requests.text(self._tape.model, prompt, options)
        take = await self._tape.find(request)
        if take is None and self._tape.mode is Mode.REPLAY:
            raise await self._tape.drift(request)
        played = self._played(request, take) if take else self._asked(request, prompt, options)
        async with aclosing(played):
            async for chunk in played:
                yield chunk

    async def warm(self, prompt: Prompt, *, options: GenerationOptions) -> Usage | None:
        if self._tape.mode is not Mode.RECORD:
            return None
        return await self._behind.get().warm(prompt, options=options)

    async def _played(
        self, request: requests.Request, take: Mapping[str, Any]
    ) -> AsyncGenerator[TextChunk, None]:
        begun = {"chunks": take.get("chunks", ())}
        for chunk in self._tape.read(
            request, begun, lambda said: [replies.chunk_from(each) for each in said["chunks"]]
        ):
            await checkpoint()
            yield chunk
        if "error" in take:
            self._tape.read(request, take, lambda _: None)

    async def _asked(
        self, request: requests.Request, prompt: Prompt, options: GenerationOptions
    ) -> AsyncGenerator[TextChunk, None]:
        await self._behind.noted(self._tape)
        chunks: list[Json] = []
        stream = self._behind.get().stream(prompt, options=options)
        try:
            async for chunk in stream:
                chunks.append(replies.of_chunk(chunk))
                if chunk.finish is not None:
                    # Before the last one goes out: who has it may ask for nothing more.
                    await self._tape.keep(request, {"chunks": chunks})
                yield chunk
        except ProviderError as exc:
            await self._tape.keep(request, {"chunks": chunks, "error": replies.of_error(exc)})
            raise
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()


class CassetteStructuredGenerator(StructuredGenerator):
    """Plays back what a model wrote when it was asked for JSON."""

    def __init__(self, tape: Tape, behind: Behind[StructuredGenerator]) -> None:
        self._tape = tape
        self._behind = behind

    async def generate(
        self, prompt: Prompt, schema: Schema, *, options: GenerationOptions
    ) -> StructuredReply:
        async def ask() -> Json:
            await self._behind.noted(self._tape)
            reply = await self._behind.get().generate(prompt, schema, options=options)
            return replies.of_structured(reply)

        request = requests.structured(self._tape.model, prompt, schema, options=options)
        return await self._tape.play(request, ask, replies.structured_from)


class CassetteDecisionModel(DecisionModel):
    """Plays back probabilities; its band and its limit are those of the model behind it."""

    def __init__(self, tape: Tape, behind: Behind[DecisionModel]) -> None:
        self._tape = tape
        self._behind = behind
        known = None if tape.mode is Mode.RECORD else tape.facts().get("decision")
        self._become(known or _of_decisions(behind.get()))

    async def decide(self, request: DecisionRequest) -> Sequence[Probability]:
        answers, _ = await self.decide_metered(request)
        return answers

    async def decide_metered(
        self, request: DecisionRequest
    ) -> tuple[Sequence[Probability], Usage | None]:
        if not request.questions:
            return (), None

        async def ask() -> Json:
            model = self._behind.get()
            try:
                answers, usage = await model.decide_metered(request)
            finally:
                self._become(_of_decisions(model))
                await self._behind.noted(self._tape, decision=_of_decisions(model))
            return replies.of_answers(answers, usage)

        canonical = requests.decision(self._tape.model, request)
        return await self._tape.play(canonical, ask, replies.answers_from)

    def _become(self, facts: Mapping[str, Any]) -> None:
        self.identity = facts["identity"]
        low, high = facts["band"]
        self.band = (low, high)
        self.max_questions = facts["max_questions"]


class CassetteModerator(Moderator):
    """Plays back moderations."""

    def __init__(self, tape: Tape, behind: Behind[Moderator]) -> None:
        self._tape = tape
        self._behind = behind

    async def moderate(self, texts: Sequence[str]) -> Sequence[Moderation]:
        if not texts:
            return ()

        async def ask() -> Json:
            await self._behind.noted(self._tape)
            return replies.of_moderations(await self._behind.get().moderate(texts))

        request = requests.moderation(self._tape.model, texts)
        return await self._tape.play(request, ask, replies.moderations_from)


def _of_decisions(model: DecisionModel) -> dict[str, Json]:
    return {
        "identity": model.identity,
        "band": list(model.band),
        "max_questions": model.max_questions,
    }
