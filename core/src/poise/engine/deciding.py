"""Yes/no questions: to a model that decides, or as JSON to one that only writes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import anyio
import attrs

from poise import prompts
from poise.engine.asking import Ask, ask
from poise.engine.routing import ModelRoutes, Served
from poise.engine.sending import Attempt, Sender, Tries
from poise.errors import MalformedReplyError
from poise.ports.models import DecisionModel
from poise.turn.generation import GenerationOptions
from poise.turn.models import Answer, Capability, DecisionRequest, Form, Probability, Question
from poise.turn.prompts import Cut, Section, Stability
from poise.turn.requests import ModelRequest
from poise.turn.schemas import schema_of

if TYPE_CHECKING:
    from pydantic import BaseModel

logger = logging.getLogger(__name__)

Split = Callable[[DecisionRequest, int], Sequence[DecisionRequest]]
"""Cuts a request into ones of at most so many questions that also fit the model's window."""

WRITTEN_QUESTIONS = 40
"""Questions in one request for JSON: more, and a model that writes loses count."""


class Decider:
    """Puts the questions of one request to one model, and asks again for what is missing.

    Args:
        route: The use.
        served: Whom.
        routes: Gives out the model.
        sender: Sends.
        tries: Counted on over batches, repairs and fallbacks.
        options: For models that write.
        repairs: How often missing or malformed answers are asked for again.
    """

    def __init__(
        self,
        route: str,
        served: Served,
        *,
        routes: ModelRoutes,
        sender: Sender,
        tries: Tries,
        options: GenerationOptions,
        repairs: int,
    ) -> None:
        self._route = route
        self._served = served
        self._routes = routes
        self._sender = sender
        self._tries = tries
        self._options = options
        self._repairs = repairs

    async def decide(self, request: DecisionRequest, split: Split) -> Sequence[Answer]:
        """Return exactly one answer per question, in the questions' order.

        What the model does not answer when asked for it alone is undecided; never a no.

        Raises:
            MalformedReplyError: The model answered nothing that was asked.
            ProviderError: The model failed.
        """
        native = self._served.way is Capability.DECIDE
        limit = self._limit() if native else WRITTEN_QUESTIONS
        answers: dict[str, Answer] = {}
        batches = split(request, limit)

        async def one(batch: DecisionRequest) -> None:
            answers.update(await self._complete(batch, native=native))

        if len(batches) == 1:
            await one(batches[0])
        else:
            await _together([lambda batch=batch: one(batch) for batch in batches])  # type: ignore[misc]
        return [
            answers.get(question.id) or self._silence(question) for question in request.questions
        ]

    def _limit(self) -> int:
        model = self._routes.made(self._served, DecisionModel)  # type: ignore[type-abstract]
        return self._served.card.questions or model.max_questions

    async def _complete(self, batch: DecisionRequest, *, native: bool) -> dict[str, Answer]:
        put = self._native if native else self._written
        answers: dict[str, Answer] = {}
        waiting = batch
        for repair in range(self._repairs + 1):
            found = await put(waiting)
            answers.update(found)
            missing = tuple(each for each in waiting.questions if each.id not in answers)
            if not missing:
                break
            if not answers and repair == self._repairs:
                raise self._malformed(f"none of {len(batch.questions)} questions was answered")
            self._tries.note = f"asks again for {len(missing)} missing answers"
            waiting = attrs.evolve(batch, questions=missing)
        return answers

    # -- a model that decides --

    async def _native(self, batch: DecisionRequest) -> dict[str, Answer]:
        model = self._routes.made(self._served, DecisionModel)  # type: ignore[type-abstract]
        band = self._served.card.band or model.band

        async def once(attempt: Attempt) -> Sequence[Probability]:
            found, attempt.usage = await model.decide_metered(batch)
            self._note_strangers([each.question for each in found], batch, attempt)
            return found

        found = await self._sender.send(
            ModelRequest(
                self._route,
                self._served.name,
                Capability.DECIDE.value,
                prompt=batch.state,
                texts=batch.focus,
                questions=batch.questions,
            ),
            self._served,
            once,
            items=len(batch.questions),
            tries=self._tries,
        )
        asked = {question.id for question in batch.questions}
        return {
            each.question: _banded(each, band, self._served.name)
            for each in found
            if each.question in asked
        }

    # -- a model that writes --

    async def _written(self, batch: DecisionRequest) -> dict[str, Answer]:
        from poise.engine.written_verdicts import answer_model, forms_in_use, written_answers

        forms = forms_in_use(batch)
        model = answer_model(forms, explain=batch.explain)
        asked = {question.id for question in batch.questions}

        def inspect(value: BaseModel, attempt: Attempt) -> None:
            self._note_strangers([line.id for line in written_answers(value)], batch, attempt)

        answered = await ask(
            Ask(
                self._route,
                batch.state.followed_by(*_questions(batch, forms)),
                model,
                schema_of(model),
                self._options,
                self._repairs,
                items=len(batch.questions),
            ),
            self._served,
            routes=self._routes,
            sender=self._sender,
            tries=self._tries,
            inspect=inspect,
        )
        return {
            line.id: Answer(
                line.id,
                line.yes,
                None,
                judged_by=self._served.name,
                rationale=line.rationale,
                details=line.details,
            )
            for line in written_answers(answered.value)
            if line.id in asked
        }

    # -- what is odd --

    def _note_strangers(self, ids: Sequence[str], batch: DecisionRequest, attempt: Attempt) -> None:
        asked = {question.id for question in batch.questions}
        strangers = sorted({each for each in ids if each not in asked})
        if len(ids) - len(strangers) != len(set(ids) - set(strangers)):
            raise self._malformed("one question was answered twice")
        if strangers:
            # Ids that a model made up are its words: their number says enough.
            told = f"{len(strangers)} answers to questions that nobody asked"
            attempt.note = "; ".join(filter(None, (attempt.note, told)))
            logger.warning(
                "a model answered questions that nobody asked",
                extra={"model": self._served.name, "route": self._route, "count": len(strangers)},
            )

    def _silence(self, question: Question) -> Answer:
        return Answer(
            question.id,
            None,
            None,
            judged_by=self._served.name,
            rationale="the model gave no answer, asked again included",
        )

    def _malformed(self, reason: str) -> MalformedReplyError:
        return MalformedReplyError(self._served.provider, self._served.model, self._route, reason)


async def _together(works: Sequence[Callable[[], object]]) -> None:
    """Run batches side by side; the first failure is raised as it is."""
    failures: list[Exception] = []

    async def run(work: Callable[[], object]) -> None:
        try:
            await work()  # type: ignore[misc]
        except Exception as exc:
            failures.append(exc)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for work in works:
            group.start_soon(run, work)
    if failures:
        raise failures[0]


def _banded(found: Probability, band: tuple[float, float], name: str) -> Answer:
    low, high = band
    value = found.value
    yes = None if value is None or low < value < high else value >= high
    return Answer(found.question, yes, value, judged_by=name, rationale=found.rationale)


def _questions(batch: DecisionRequest, forms: Sequence[Form]) -> Sequence[Section]:
    """Return the task and the questions, as a model that writes reads them."""
    focus = "\n".join(f"- {prompts.quoted(text)}" for text in batch.focus)
    return (
        Section(
            "focus",
            f"The customer's new messages (quoted data):\n{focus}" if focus else "",
            Stability.TURN,
            priority=90,
            cut=Cut.NOTHING,
        ),
        *(_asked(form, batch) for form in forms),
        Section(
            "task",
            "Answer each question by itself, from what was said and nothing else. Say `unclear` "
            "where the conversation leaves it open. Give exactly one line per question, under the "
            "question's id.",
            Stability.TURN,
            priority=100,
            cut=Cut.NOTHING,
        ),
    )


def _asked(form: Form, batch: DecisionRequest) -> Section:
    """Return what goes into one list of the answer: how it is read, then its questions."""
    from poise.engine.written_verdicts import SHORT

    own = "" if form.name == SHORT else form.name
    asked = [as_written(question) for question in batch.questions if question.form == own]
    lines = (f"For `{form.name}`: {form.task}" if form.task else f"For `{form.name}`:", *asked)
    return Section(
        f"questions.{form.name}",
        "\n".join(lines),
        Stability.TURN,
        priority=100,
        cut=Cut.NOTHING,
    )


def as_written(question: Question) -> str:
    """Return a question as a model that writes reads it."""
    lines = [f"- id {question.id}: {question.text}"]
    if question.yes_if:
        lines.append(f"  yes: {question.yes_if}")
    if question.no_if:
        lines.append(f"  no: {question.no_if}")
    if question.examples:
        lines.append(f"  e.g. yes: {'; '.join(map(prompts.quoted, question.examples))}")
    if question.counterexamples:
        lines.append(f"  e.g. no: {'; '.join(map(prompts.quoted, question.counterexamples))}")
    return "\n".join(lines)
