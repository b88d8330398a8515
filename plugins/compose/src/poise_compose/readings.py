"""What each active rule has to say on this turn, before anything is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from poise.turn.context import TurnContext
from poise.values.ids import CannedResponseId
from poise.values.rules import Rule, RuleKind
from poise_compose.asking import Asking, Questions, asks
from poise_compose.evidence import Evidence
from poise_compose.fields import Fields
from poise_compose.pool import Approved, Pool
from poise_compose.progress import Progress, ToolProgress
from poise_compose.templates import Rendering, Wording

_BONUS_WEIGHT = 0.05
_BONUS_PRIORITY = 0.01
_PRIORITIES = 5


@attrs.frozen
class Usable:
    """A response whose fields are all filled."""

    approved: Approved
    rendering: Rendering


@attrs.frozen
class Reading:
    """An active rule that has something to say.

    Attributes:
        rule: The rule.
        evidence: How strongly it is about the new message.
        progress: Where its tools stand.
        usable: Its responses that can be said, in the author's order.
        questions: What it has to ask instead.
        failure: What to say since its tool failed.
        texts: What the customer's words are compared with to find how near the rule is.
    """

    rule: Rule
    evidence: float
    progress: Progress
    usable: tuple[Usable, ...] = ()
    questions: tuple[Asking, ...] = ()
    failure: Rendering | None = None
    texts: tuple[str, ...] = ()

    @property
    def is_policy(self) -> bool:
        """Whether the rule prescribes something; an observation speaks only where none does."""
        return self.rule.kind is RuleKind.POLICY

    @property
    def speaks(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.usable or self.questions or self.failure)

    @property
    def bonus(self) -> float:
        """What the author's weight and priority add to the rule's score."""
        priority = max(-_PRIORITIES, min(_PRIORITIES, self.rule.priority))
        return _BONUS_WEIGHT * self.rule.weight + _BONUS_PRIORITY * priority


@attrs.frozen
class Readings:
    """What is in view on a turn.

    Attributes:
        rules: The active rules that have something to say, in an order of their own.
        in_view: Every reply that an active rule carries.
        problems: Why responses in view can't be said, by response.
    """

    rules: tuple[Reading, ...]
    in_view: tuple[Approved, ...]
    problems: Mapping[CannedResponseId, str]


def read_rules(
    turn: TurnContext,
    pool: Pool,
    fields: Fields,
    *,
    questions: Questions,
    failed: Wording,
    spent: str = "",
) -> Readings:
    """Return what the turn's active rules have to say.

    Args:
        turn: The turn; muted, excluded and inactive rules contribute nothing.
        pool: The responses of its catalog.
        fields: What fills them.
        questions: How to ask for what a tool still needs.
        failed: What to say for a tool that failed.
        spent: A draft that was sent back: what stands in it is not said again.
    """
    evidence = Evidence(turn)
    progress = ToolProgress(turn)
    problems: dict[CannedResponseId, str] = {}
    in_view: dict[CannedResponseId, Approved] = {}
    readings: list[Reading] = []
    for rule in sorted(dict.fromkeys(turn.active_rules), key=lambda each: each.id):
        carried = [each for each in pool.carried_by(rule) if not asks(each)]
        asking = [each for each in pool.carried_by(rule) if asks(each)]
        in_view.update((each.id, each) for each in (*carried, *asking))
        state = progress.of(rule)
        usable = _usable(carried, fields, state, problems=problems, spent=spent)
        wanted: Sequence[Asking] = ()
        if state is Progress.WAITING:
            wide = (each for each in pool.wide if asks(each))
            wanted = questions.for_arguments(progress.asked(rule), fields, (*asking, *wide))
        failure = failed.render(fields) if state is Progress.FAILED else None
        reading = Reading(
            rule=rule,
            evidence=evidence.of(rule),
            progress=state,
            usable=usable,
            questions=tuple(wanted),
            failure=failure if failure is not None and failure.text is not None else None,
            texts=_texts(carried, evidence.nearest_signal(rule)),
        )
        if reading.speaks:
            readings.append(reading)
    return Readings(tuple(readings), tuple(in_view.values()), problems)


def _usable(
    carried: Sequence[Approved],
    fields: Fields,
    state: Progress,
    *,
    problems: dict[CannedResponseId, str],
    spent: str,
) -> tuple[Usable, ...]:
    found: list[Usable] = []
    for approved in carried:
        rendering = approved.wording.render(fields)
        if rendering.text is None:
            problems[approved.id] = rendering.problem
        elif rendering.text in spent:
            problems[approved.id] = "was sent back"
        elif state in (Progress.WAITING, Progress.FAILED):
            # It may report as done what the tool has not done, whatever fills its fields.
            problems[approved.id] = f"its rule's tool is {state.value}"
        else:
            found.append(Usable(approved, rendering))
    return tuple(found)


def _texts(carried: Sequence[Approved], signal: str | None) -> tuple[str, ...]:
    texts = [text for approved in carried for text in approved.texts]
    return tuple(dict.fromkeys((*texts, signal) if signal else texts))
