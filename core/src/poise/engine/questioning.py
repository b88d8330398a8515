"""What matchers want to know, put to models: how many requests carry it, and to whom they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio
import attrs

from poise import prompts
from poise.engine.account import Account
from poise.engine.parts import Parts
from poise.turn.context import TurnContext
from poise.turn.models import Answer, Capability, DecisionRequest, Form
from poise.turn.verdicts import Inquiry

ROUTE = "matching.verdict"


async def answers_to(
    inquiries: Mapping[str, Inquiry], turn: TurnContext, parts: Parts, account: Account
) -> dict[str, Answer]:
    """Return the answers to what was asked, by question id; what nobody answers is left out.

    All questions ride in one request, or each candidate's in one of its own where the plan says
    so. What stays undecided is asked once more where a further model is named for it.

    Args:
        inquiries: By the name of the matcher that asks.
        turn: The turn so far.
        parts: The engine's collaborators.
        account: The turn's account.
    """
    whole = _request(inquiries, turn, parts)
    answers = await _send(ROUTE, whole, turn, account)
    open_ones = tuple(
        question
        for question in whole.questions
        if question.id in answers and answers[question.id].yes is None
    )
    further = _further_route(turn)
    if open_ones and further is not None:
        again = await _send(further, attrs.evolve(whole, questions=open_ones), turn, account)
        answers.update({each: answer for each, answer in again.items() if answer.yes is not None})
    return answers


def _request(inquiries: Mapping[str, Inquiry], turn: TurnContext, parts: Parts) -> DecisionRequest:
    return DecisionRequest(
        prompts.situation(turn, parts.limits.tool_result_limit),
        turn.new_messages or turn.requested,
        tuple(
            attrs.evolve(question, form=name)
            for name, inquiry in inquiries.items()
            for question in inquiry.questions
        ),
        # Decision models read this alone; matchers that ask in the same words say it once.
        task="\n".join(dict.fromkeys(each.section for each in inquiries.values() if each.section)),
        explain=turn.plan.explain,
        forms=tuple(Form(name, each.section, each.schema) for name, each in inquiries.items()),
    )


def _further_route(turn: TurnContext) -> str | None:
    """Return the route for what stays undecided, where it leads to another model."""
    further = turn.plan.reconsider
    if further is None:
        return None
    others = turn.models.served_by(further, Capability.DECIDE)
    first = turn.models.served_by(ROUTE, Capability.DECIDE)
    return further if others and others[0] not in first else None


async def _send(
    route: str, whole: DecisionRequest, turn: TurnContext, account: Account
) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}

    async def send(request: DecisionRequest) -> None:
        try:
            found = await turn.models.decide(route, request)
        except Exception as exc:
            account.degrade("matching", exc, f"left {len(request.questions)} questions undecided")
            return
        answers.update((each.question, each) for each in found)

    requests = [whole] if turn.plan.one_request else _one_per_candidate(whole)
    if len(requests) == 1:
        await send(requests[0])
    else:
        async with anyio.create_task_group() as group:
            for request in requests:
                group.start_soon(send, request)
    return answers


def _one_per_candidate(whole: DecisionRequest) -> Sequence[DecisionRequest]:
    by_candidate: dict[str, list[int]] = {}
    for place, question in enumerate(whole.questions):
        by_candidate.setdefault(question.id.partition("/")[0], []).append(place)
    return [
        attrs.evolve(whole, questions=tuple(whole.questions[place] for place in places))
        for places in by_candidate.values()
    ]
