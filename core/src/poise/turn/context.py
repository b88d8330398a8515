"""What every port of a turn receives: one frozen value, replaced between stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

import attrs

from poise.turn.candidates import Candidate, Sighting
from poise.turn.fates import Fate, Resolution
from poise.turn.history import History
from poise.turn.models import TurnModels
from poise.turn.queries import Query
from poise.turn.speech import Utterance
from poise.turn.state import SessionState
from poise.turn.tooling import Insight, OfferedTool, ToolOutcome, ToolPlan
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.agents import Agent, CompositionMode, Effort
from poise.values.catalog import CatalogSnapshot
from poise.values.customers import Customer
from poise.values.ids import IndexId, RuleId, TurnId
from poise.values.rules import Rule, RuleKind, Weight
from poise.values.scope import Scope
from poise.values.sessions import SessionHeader
from poise.values.terms import Term

T = TypeVar("T")


class Wake(Enum):
    """What made a turn start."""

    MESSAGE = "message"
    APPROVAL = "approval"
    OPERATOR = "operator"
    TIMER = "timer"
    UTTER = "utter"


@attrs.frozen
class StashKey(Generic[T]):
    """A typed key of one plugin's data on a turn; make one per plugin, at module level."""

    owner: str
    kind: type[T]


class Stash:
    """What plugins keep on a turn, each under its own key: the only part that is written to."""

    def __init__(self) -> None:
        self._kept: dict[StashKey[Any], Any] = {}

    def put(self, key: StashKey[T], value: T) -> None:
        """Keep `value` under `key` for the rest of the turn.

        Raises:
            TypeError: The value is not of the key's type.
        """
        if not isinstance(value, key.kind):
            raise TypeError(f"stash of {key.owner!r} holds {key.kind.__name__}, not {value!r}")
        self._kept[key] = value

    def get(self, key: StashKey[T]) -> T | None:
        """Return what is kept under `key`, or `None`."""
        return self._kept.get(key)


@attrs.frozen
class Plan:
    """How much a turn may spend, and on whom.

    Attributes:
        effort: The turn's effort, lifts included.
        max_iterations: How often *prepare* may run.
        judged: Weights that are judged even without consequences.
        one_request: All inquiries of a pass go out as one request; otherwise one per candidate.
        explain: Judges are asked for a rationale.
        admit_limit: How many newly sighted rules may join on a turn.
        reconsider: Route over which what stays undecided is asked once more, where it leads to
            another model; `None` for never.
    """

    effort: Effort = Effort.MEDIUM
    max_iterations: int = 3
    judged: frozenset[Weight] = frozenset({Weight.HIGH})
    one_request: bool = True
    explain: bool = False
    admit_limit: int = 10
    reconsider: str | None = None


@attrs.frozen
class TurnContext:
    """A turn so far. Each field says which stage fills it.

    Attributes:
        id: *wake*.
        scope: *wake*.
        base: *load*: offset of the first unanswered message.
        upto: *load*: how many events the session had when the turn last read it.
        wake: *wake*: why the turn runs.
        deadline: *wake*: when the turn gives up.
        now: *wake*: the moment that the turn calls now, so that equal state gives equal bytes.
        agent: *load*.
        customer: *load*.
        session: *load*.
        snapshot: *load*: the catalog for the whole turn.
        index: *load*: the discovery index that belongs to the snapshot.
        state: *load*.
        history: *load*: the newest events, windowed.
        variables: *load*: values by name, fresh.
        terms: *load*: vocabulary that the conversation mentions.
        language: *load*: of the customer, where known.
        requested: *wake*: for UTTER: what the agent is asked to say, an instruction each.
        effort: *plan*, raised by *match*.
        mode: *plan*, raised by *resolve*: how freely the reply may be worded.
        mode_set_by: Who set the mode: `agent` or a rule's name.
        plan: *plan*.
        queries: *discover*: every text scored so far.
        sightings: *discover*: the newest score of each scored candidate.
        candidates: *discover*: everything considered so far.
        verdicts: *match*.
        transient: *prepare*: rules contributed for this turn alone.
        fields: *prepare*: template fields that hooks contributed.
        resolution: *resolve*.
        offered: *infer*: tools that surviving rules offer.
        tool_plan: *infer*.
        results: *call*: outcomes of this turn, oldest first.
        said: *compose*, *emit*.
        models: The only way to models.
        stash: Plugins' own data.
    """

    id: TurnId
    scope: Scope
    base: int
    upto: int
    wake: Wake
    deadline: datetime
    now: datetime
    agent: Agent
    customer: Customer
    session: SessionHeader
    snapshot: CatalogSnapshot
    index: IndexId
    state: SessionState
    history: History
    models: TurnModels = attrs.field(repr=False)
    stash: Stash = attrs.field(factory=Stash, repr=False, eq=False)
    variables: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    terms: Sequence[Term] = ()
    language: str | None = None
    requested: tuple[str, ...] = ()
    effort: Effort = Effort.MEDIUM
    mode: CompositionMode = CompositionMode.FLUID
    mode_set_by: str = "agent"
    plan: Plan = attrs.field(factory=Plan)
    queries: tuple[Query, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    transient: tuple[Rule, ...] = ()
    fields: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    resolution: Resolution = attrs.field(factory=Resolution)
    offered: tuple[OfferedTool, ...] = ()
    tool_plan: ToolPlan = attrs.field(factory=ToolPlan)
    results: tuple[ToolOutcome, ...] = ()
    said: tuple[Utterance, ...] = ()

    @property
    def new_messages(self) -> tuple[str, ...]:
        """The customer's unanswered messages, verbatim, oldest first."""
        return tuple(
            event.text
            for event in self.history.events
            if event.is_customer_message and event.offset >= self.base
        )

    @property
    def active_rules(self) -> tuple[Rule, ...]:
        """The rules to be acted on; transient ones, and what is to be clarified, come last."""
        rules = self.snapshot.rules
        return (
            *(rules[RuleId(each)] for each in self.resolution.active if each in rules),
            *self.transient,
            *map(self._asking_for, self.clarifications),
        )

    def _asking_for(self, verdict: Verdict) -> Rule:
        """Return what a verdict asks for as a rule of this turn: to clarify before anything else.

        It has the approved wording of the observation that it is unclear, and never its own title,
        so that whoever words the reply finds one instruction among the others.
        """
        head = self.snapshot.rules[verdict.rule]
        options = "; ".join(verdict.options)
        return Rule(
            id=RuleId(f"clarify_{head.id}"),
            agent=head.agent,
            kind=RuleKind.POLICY,
            then=f"Ask the customer which one is meant, and do nothing else about it yet: "
            f"{verdict.question}" + (f" (the choices: {options})" if options else ""),
            weight=Weight.HIGH,
            canned_responses=head.canned_responses,
        )

    @property
    def owed(self) -> Mapping[RuleId, str]:
        """What is still to be done of rules that were carried out in part: nothing else of them."""
        return {
            verdict.rule: verdict.owed
            for verdict in self.verdicts
            if verdict.kind is VerdictKind.PARTLY_APPLIED and verdict.owed
        }

    @property
    def clarifications(self) -> tuple[Verdict, ...]:
        """The verdicts that it is unclear what the customer means, as far as they still count."""
        return tuple(
            verdict
            for verdict in self.verdicts
            if verdict.kind is VerdictKind.AMBIGUOUS
            and verdict.question
            and self.resolution.fate_of(verdict.rule) is Fate.AMBIGUOUS
        )

    @property
    def insights(self) -> tuple[Insight, ...]:
        """Why offered tools were not called."""
        return self.tool_plan.insights
