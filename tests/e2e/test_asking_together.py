"""The questions of a turn ride in one request, whoever asks them and however they are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from poise import Matcher, ModelProvider, Offers, TurnContext, Verdict, VerdictKind, hookimpl
from poise.testing.applications import ScriptedParts
from poise.testing.providers import ScriptedDecisionModel, ScriptedProvider
from poise.testing.scripted_generators import GenerationRequest, ScriptedStructuredGenerator
from poise.testing.written import says_yes
from poise.turn.candidates import Candidate
from poise.turn.models import Question
from poise.turn.verdicts import Answers, Inquiry

pytestmark = pytest.mark.anyio

Open = Callable[..., Any]


class Mood(BaseModel):
    """What one matcher wants filled in."""

    mood: str
    verdict: Literal["yes", "no", "unclear"]


class Asking(Matcher):
    """Asks about what a title begins with, in its own form."""

    letter = ""
    form: type[BaseModel] | None = None

    def __init__(self) -> None:
        self.seen: list[Mapping[str, Any]] = []

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.name.startswith(self.letter)

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        questions = tuple(Question(each.rule.id, each.rule.name) for each in candidates)
        return Inquiry(f"Task of {self.name}.", questions, self.form)

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        kinds = {True: VerdictKind.APPLIES, False: VerdictKind.DOES_NOT}
        found = [(each, answers.get(each.rule.id)) for each in candidates]
        self.seen.extend(answer.details for _, answer in found)
        return [
            Verdict(
                each.rule.id,
                VerdictKind.UNDECIDED if answer.yes is None else kinds[answer.yes],
                self.name,
            )
            for each, answer in found
        ]


class Plain(Asking):
    name = "plain"
    letter = "P"


class Moody(Asking):
    name = "moody"
    letter = "M"
    form = Mood


class Both:
    """Offers both matchers, and a provider that writes JSON and may decide."""

    def __init__(
        self,
        structured: ScriptedStructuredGenerator | None,
        decisions: ScriptedDecisionModel | None,
    ) -> None:
        self.plain, self.moody = Plain(), Moody()
        self._structured = structured
        self._decisions = decisions

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(Matcher, "plain", lambda: self.plain)
        offers.add(Matcher, "moody", lambda: self.moody)
        offers.add(ModelProvider, "writer", self._provider)

    def _provider(self) -> ModelProvider:
        provider = _Writer(decisions=self._decisions, structured=self._structured)
        provider.name = "writer"
        return provider


class _Writer(ScriptedProvider):
    """Writes JSON; decides only where it was given a model that does."""

    def __init__(self, *, decisions: ScriptedDecisionModel | None, **more: Any) -> None:
        super().__init__(decisions=decisions, **more)
        self._does_decide = decisions is not None

    def models(self, capability: Any) -> Sequence[str]:
        if capability.value == "embedding" or (
            capability.value == "decision" and not self._does_decide
        ):
            return ()
        return super().models(capability)


async def shop(app: Any, **said: Any) -> Any:
    agent = await app.create_agent(
        "Clerk", composition_mode="canned_strict", no_match="Hm?", **said
    )
    for title in ("P one", "P two", "M three"):
        await agent.create_policy(title, f"do {title}", signals=["parcel"], weight="high")
    return agent


SETTINGS = {"matchers": ["plain", "moody"]}


def lines(request: GenerationRequest) -> dict[str, Any]:
    """Answer every question of every list with yes, and every other field with a word."""
    answer = says_yes(request)
    for line in answer.get("moody", ()):
        line["mood"] = "calm"
    return answer


async def test_one_request_for_json_has_a_list_per_matcher_with_its_task_and_its_fields(
    open_application: Open,
) -> None:
    structured = ScriptedStructuredGenerator(lines)
    both = Both(structured, None)
    models = {"matching.*": "writer"}
    async with open_application(ScriptedParts(), both, settings=SETTINGS, models=models) as app:
        session = await app.open_session(await shop(app))

        reply = await session.say("my parcel?")

    (request,) = structured.requests
    assert list(request.schema.plain()["properties"]) == ["plain", "moody"]
    fields = request.schema.plain()["properties"]["moody"]["items"]["properties"]
    assert list(fields) == ["id", "mood", "verdict"]
    assert "Task of plain." in request.prompt.text
    assert "Task of moody." in request.prompt.text
    assert [line.fate for line in reply.ledger.lines] == ["matched"] * 3
    assert both.moody.seen == [{"mood": "calm"}]
    assert [each.route for each in reply.ledger.requests if each.way == "structured"] == [
        "matching.verdict"
    ]


async def test_at_high_effort_each_candidate_has_a_request_with_its_own_form_alone(
    open_application: Open,
) -> None:
    structured = ScriptedStructuredGenerator(lines)
    both = Both(structured, None)
    async with open_application(
        ScriptedParts(), both, settings=SETTINGS, models={"matching.*": "writer"}
    ) as app:
        session = await app.open_session(await shop(app, effort="high"))

        await session.say("my parcel?")

    shapes = sorted(next(iter(each.schema.plain()["properties"])) for each in structured.requests)
    assert shapes == ["moody", "plain", "plain"]
    begins = {
        each.prompt.text.split("The customer's new messages")[0] for each in structured.requests
    }
    assert len(begins) == 1, "what they have in common comes first, so that it is cached once"


async def test_what_stays_undecided_is_asked_once_more_where_a_further_model_is_named(
    open_application: Open,
) -> None:
    decisions = ScriptedDecisionModel(lambda question, _: 0.99 if "P" in question.text else 0.5)
    structured = ScriptedStructuredGenerator(lines)
    both = Both(structured, None)
    models = {"matching.verdict": "scripted", "matching.reconsider": "writer"}
    async with open_application(
        ScriptedParts(decisions=decisions), both, settings=SETTINGS, models=models
    ) as app:
        session = await app.open_session(await shop(app))

        reply = await session.say("my parcel?")

    (first,), (again,) = decisions.requests, structured.requests
    assert len(first.questions) == 3
    assert list(again.schema.plain()["properties"]) == ["moody"]
    assert [line.fate for line in reply.ledger.lines] == ["matched"] * 3


async def test_what_stays_undecided_is_not_asked_of_the_same_model_again(
    open_application: Open,
) -> None:
    decisions = ScriptedDecisionModel(lambda question, _: 0.5)
    both = Both(ScriptedStructuredGenerator(lines), None)
    async with open_application(ScriptedParts(decisions=decisions), both, settings=SETTINGS) as app:
        session = await app.open_session(await shop(app))

        reply = await session.say("my parcel?")

    assert len(decisions.requests) == 1
    assert [line.fate for line in reply.ledger.lines] == ["undecided"] * 3
