"""Asks each model one tiny thing, by the way that turns would take, and says what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

import anyio
import attrs
from pydantic import BaseModel, Field

from poise.cli.model_routes import RouteRow, how_asked
from poise.cli.opening import OpenedModels
from poise.engine.door import RoutedModels
from poise.engine.routing import Served
from poise.engine.sending import Lanes
from poise.errors import PoiseError, RefusedError
from poise.hooks.caller import HookCaller, Implementation
from poise.ports.stores import ArtifactStore
from poise.turn.generation import Finish, GenerationOptions, TextChunk, Usage
from poise.turn.models import Capability, DecisionRequest, Question
from poise.turn.prompts import Prompt, Section, Stability
from poise.values.agents import Agent
from poise.values.clock import SystemClock
from poise.values.ids import AgentId

REMEMBERED = "models/found"
"""The artifact in which a check keeps what it found out."""

_CHECKER = "poise-models-check"
_HEARD = "on_model_response"
_OUTPUT = 64  # enough for the shortest answer, reasoning of some models aside


class _Answer(BaseModel):
    """What a model is asked for when JSON is wanted."""

    greeting: bool = Field(description="Whether the message is a greeting.")


@attrs.define
class Check:
    """A model, what it is asked for, and what came of it.

    Attributes:
        model: `provider:model`, or the name of an offer.
        asked: The capability that the routes want of it.
        how: How it is asked for that, as ledgers say it.
        routes: The routes that it serves so.
        ok: Whether it answered.
        said: What it answered, or the error's text.
        error: The error's type; empty when all is well.
        milliseconds: From the question to the whole answer.
        tokens: In and out together, where the provider says so.
        cost: In US dollars, where known.
        found: What its provider found out about it, in words, by topic.
    """

    model: str
    asked: str
    how: str
    routes: list[str]
    ok: bool = False
    said: str = ""
    error: str = ""
    milliseconds: float = 0.0
    tokens: int | None = None
    cost: float | None = None
    found: Mapping[str, str] = attrs.field(factory=dict)


async def check_models(
    opened: OpenedModels, rows: Sequence[RouteRow], deadline: float
) -> Sequence[Check]:
    """Ask every model of these routes once for each thing that they ask of it, all at once.

    Args:
        opened: The models.
        rows: The routes, with what serves them, fallbacks included.
        deadline: Seconds that one model may take.
    """
    asked: dict[tuple[Capability, str], tuple[Check, RouteRow, Served]] = {}
    for row in rows:
        for served in row.served:
            key = (row.capability, served.name)
            if key not in asked:
                how = how_asked(row.capability, served.way)
                check = Check(served.name, row.capability.value, how, [])
                asked[key] = (check, row, served)
            routes = asked[key][0].routes
            if row.route not in routes:
                routes.append(row.route)
    lanes = Lanes()
    async with anyio.create_task_group() as group:
        for check, row, served in asked.values():
            asking = _Asking(check, row, served, opened, lanes, deadline)
            group.start_soon(asking.run)
    checks = [check for check, _, _ in asked.values()]
    answering = {check.model: served for check, _, served in asked.values() if check.ok}
    await _probe(opened, answering, checks, deadline)
    await _remember(opened.artifacts, checks)
    return checks


async def _probe(
    opened: OpenedModels,
    answering: Mapping[str, Served],
    checks: Sequence[Check],
    deadline: float,
) -> None:
    """Have providers find out about the models that answer, each model once."""

    async def probe(name: str, served: Served) -> None:
        try:
            with anyio.fail_after(deadline):
                found = await opened.routes.get(served.provider).probe(served.model)
        except TimeoutError:
            found = {"probe": f"no answer within {deadline:g} s"}
        except Exception as exc:
            # The model answers: that more could not be found out takes nothing from that.
            found = {"probe": str(exc)}
        for check in checks:
            if check.model == name:
                check.found = dict(found)

    async with anyio.create_task_group() as group:
        for name, served in answering.items():
            if served.provider:
                group.start_soon(probe, name, served)


@attrs.frozen(eq=False)
class _Asking:
    """One check under way."""

    check: Check
    row: RouteRow
    served: Served
    opened: OpenedModels
    lanes: Lanes
    deadline: float

    async def run(self) -> None:
        check = self.check
        started = anyio.current_time()
        try:
            with anyio.fail_after(self.deadline):
                check.said = await self._ask()
        except TimeoutError:
            check.error = TimeoutError.__name__
            check.said = f"no answer within {self.deadline:g} s; --deadline gives it more"
        except PoiseError as exc:
            check.error, check.said = type(exc).__name__, str(exc)
        except Exception as exc:
            # A plugin that breaks its contract is what a check is there to find.
            check.error, check.said = type(exc).__name__, f"{self.served.name}: {exc!r}"
        else:
            check.ok = True
        check.milliseconds = (anyio.current_time() - started) * 1000

    async def _ask(self) -> str:
        route, models = self.row.route, self._models()
        match self.row.capability:
            case Capability.EMBED:
                rows = await models.embed(["Hello!"], route=route)
                return f"a vector of {rows.shape[1]}"
            case Capability.DECIDE:
                (answer,) = await models.decide(route, _question())
                said = {True: "yes", False: "no", None: "undecided"}[answer.yes]
                p = answer.probability
                return said if p is None else f"{said}, p = {p:.2f}"
            case Capability.STRUCTURED:
                found = await models.ask(route, _prompt("Is that a greeting?"), _Answer)
                return found.text
            case Capability.MODERATE:
                (moderation,) = await models.moderate(["Hello!"], route=route)
                return "flagged" if moderation.flagged else "not flagged"
            case Capability.TEXT:
                return await self._written(models)

    async def _written(self, models: RoutedModels) -> str:
        words, last = "", TextChunk()
        options = GenerationOptions(max_output=_OUTPUT)
        prompt = _prompt("Answer with the one word OK.")
        async with aclosing(
            cast("Any", models.write(self.row.route, prompt, options=options))
        ) as chunks:
            async for last in chunks:
                words += last.text
        if last.finish is Finish.REFUSED:
            served = self.served
            raise RefusedError(served.provider, served.model, self.row.route, last.reason)
        return words.strip() or f"no words ({last.finish.value if last.finish else 'no finish'})"

    def _models(self) -> RoutedModels:
        """Return the door through which this model alone is found, without retries."""
        limits = attrs.evolve(
            self.opened.config.limits(),
            retries=0,
            model_timeout=self.deadline,
            index_timeout=self.deadline,
        )
        only = Agent(AgentId(_CHECKER), _CHECKER, models={self.row.route: (self.served.name,)})
        return RoutedModels(
            self.opened.routes,
            HookCaller(self._listening),
            limits,
            lanes=self.lanes,
        ).on_behalf_of(only, _CHECKER)

    def _listening(self, hook: str) -> Sequence[Implementation]:
        """Return the plugins' hooks, and one more that counts what the answer took."""
        theirs = self.opened.plugins.implementations(hook)
        ours = Implementation(_CHECKER, self._heard, ("usage",))
        return (*theirs, ours) if hook == _HEARD else theirs

    async def _heard(self, usage: Usage | None) -> None:
        if usage is None:
            return
        check = self.check
        check.tokens = (check.tokens or 0) + usage.input_tokens + usage.output_tokens
        price = self.opened.routes.price(self.served)
        if price is not None:
            check.cost = (check.cost or 0.0) + price.cost(usage)


def _question() -> DecisionRequest:
    question = Question(
        "greeting",
        "Is the message a greeting?",
        yes_if="the customer says hello",
        no_if="the customer wants something",
        examples=("Hello!", "Good morning"),
        counterexamples=("I lost my card",),
        prior=0.9,
    )
    return DecisionRequest(Prompt(()), ("Hello!",), (question,))


def _prompt(task: str) -> Prompt:
    return Prompt.of(
        Section("message", 'The customer says: "Hello!"', Stability.SESSION),
        Section("task", task, Stability.TURN),
    )


# -- what was found out is kept --


async def _remember(artifacts: ArtifactStore | None, checks: Sequence[Check]) -> None:
    if artifacts is None:
        return
    known = await remembered(artifacts)
    today = f"{SystemClock().now():%Y-%m-%d}"
    for check in checks:
        result = "ok" if check.ok else check.error
        known.setdefault(check.model, {}).update(
            {check.asked: f"{result} on {today}", **check.found}
        )
    await artifacts.save(REMEMBERED, json.dumps(known).encode())


async def remembered(artifacts: ArtifactStore | None) -> dict[str, dict[str, str]]:
    """Return what earlier checks found out, by model and topic; nothing where none was made."""
    kept = await artifacts.load(REMEMBERED) if artifacts is not None else None
    known: dict[str, dict[str, str]] = json.loads(kept) if kept else {}
    return known
