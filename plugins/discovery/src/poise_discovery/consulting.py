"""Asks a language model about many rules, a batch at a time, and makes do with what it gets."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import anyio
import attrs
from pydantic import BaseModel

from poise.errors import (
    ContextTooLongError,
    MalformedReplyError,
    RefusedError,
    TruncatedError,
)
from poise.turn.models import TurnModels
from poise.turn.prompts import Prompt
from poise.values.ids import RuleId
from poise.values.rules import Rule
from poise_discovery.questions import AT_ONCE, id_of

logger = logging.getLogger(__name__)

SIDE_BY_SIDE = 4
"""Requests at a time; the door of the models has limits of its own."""

HOPELESS = 3
"""Rules that a model may fail on one by one before it has answered for any: then it is given up."""

_ABOUT_CONTENT = (RefusedError, TruncatedError, MalformedReplyError, ContextTooLongError)


class Line(Protocol):
    """A model's answer about one rule."""

    rule: str


L = TypeVar("L", bound=Line)
R = TypeVar("R", bound=BaseModel)


@attrs.frozen
class Consultation(Generic[R, L]):
    """How a model is asked about rules.

    Attributes:
        route: Whose model is asked.
        prompt: What it reads about a batch.
        form: What it fills in.
        lines: The answers in a filled-in form, one per rule.
    """

    route: str
    prompt: Callable[[Sequence[Rule]], Prompt]
    form: type[R]
    lines: Callable[[R], Sequence[L]]


@attrs.define
class Told(Generic[L]):
    """What a model told about rules, filled while it is asked.

    Attributes:
        answers: By rule, the answer and the `provider:model` that gave it.
        declined: The rules that it was asked about and gave no answer for.
        is_over: Whether it has failed, so that nothing more is asked.
    """

    answers: dict[RuleId, tuple[L, str]] = attrs.field(factory=dict)
    declined: list[Rule] = attrs.field(factory=list)
    is_over: bool = False


async def consult(
    models: TurnModels, consultation: Consultation[R, L], rules: Sequence[Rule], told: Told[L]
) -> None:
    """Ask about all of `rules`, and note in `told` what comes back, as it comes.

    Never raises for a model that fails. What it refuses or can't finish is asked again in smaller
    batches, so that one rule costs the others nothing; any other failure ends the asking, and so
    does a model that has no answer at all.
    """
    room = anyio.CapacityLimiter(SIDE_BY_SIDE)

    async def ask(batch: Sequence[Rule]) -> None:
        async with room:
            await _ask(models, consultation, batch, told)

    async with anyio.create_task_group() as group:
        for begin in range(0, len(rules), AT_ONCE):
            group.start_soon(ask, rules[begin : begin + AT_ONCE])


async def _ask(
    models: TurnModels, consultation: Consultation[R, L], batch: Sequence[Rule], told: Told[L]
) -> None:
    waiting = [batch]
    while waiting and not told.is_over:
        asked = waiting.pop()
        try:
            given = await models.ask(
                consultation.route, consultation.prompt(asked), consultation.form
            )
        except _ABOUT_CONTENT as exc:
            if len(asked) > 1:
                waiting += [asked[len(asked) // 2 :], asked[: len(asked) // 2]]
            else:
                _decline(consultation.route, asked, told, exc)
            continue
        except Exception as exc:  # whatever a model raises, its words serve a rule well enough
            told.is_over = True
            logger.warning(
                "rules are read without a model, which failed",
                extra={"route": consultation.route},
                exc_info=exc,
            )
            continue
        answers = _by_rule(asked, consultation.lines(given.value))
        told.answers.update((rule, (line, given.model)) for rule, line in answers.items())
        left = [rule for rule in asked if rule.id not in answers]
        if left and answers:
            waiting.append(left)
        elif left:
            _decline(consultation.route, left, told)


def _by_rule(asked: Sequence[Rule], lines: Sequence[L]) -> Mapping[RuleId, L]:
    """Return the first line about each rule; a line about anything else is left out."""
    known = {id_of(place): rule.id for place, rule in enumerate(asked)}
    found: dict[RuleId, L] = {}
    for line in lines:
        rule = known.get(line.rule.strip())
        if rule is not None:
            found.setdefault(rule, line)
    return found


def _decline(
    route: str, rules: Sequence[Rule], told: Told[L], cause: Exception | None = None
) -> None:
    told.declined.extend(rules)
    told.is_over = told.is_over or (not told.answers and len(told.declined) >= HOPELESS)
    logger.warning(
        "a model said nothing about rules, so their own words decide",
        extra={"route": route, "rules": [rule.name for rule in rules]},
        exc_info=cause,
    )
