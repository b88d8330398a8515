"""A session's state: a pure fold over its events, and nothing that is not in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import attrs

from poise.turn.event_data import (
    NotUnderstoodError,
    dollars,
    items,
    mapping,
    number,
    text,
    text_or_none,
    texts,
)
from poise.values.events import Event, EventKind, Source, ToolStage
from poise.values.ids import CustomerId, RuleId, Subject, TurnId
from poise.values.sessions import SessionMode

K = TypeVar("K")
V = TypeVar("V")

FOLD_VERSION = 5
"""Raised whenever the fold makes something else of the same events, so that checkpoints of an
earlier version are worked out afresh instead of believed."""


def _frozen(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return value if isinstance(value, MappingProxyType) else MappingProxyType(dict(value))


@attrs.frozen
class Membership:
    """A rule's place in the working set: since when, last brought up where, last matched where."""

    since: int
    last_hit: int
    last_match: int | None = None


@attrs.frozen
class Owed:
    """What is still to be done of a partly applied rule, and since when."""

    offset: int
    what: str


@attrs.frozen
class Awaited:
    """What the last reply asked the customer for, on behalf of a rule: a tool's arguments."""

    tool: str
    parameters: tuple[str, ...]


@attrs.frozen
class Clarification:
    """What the last reply asked the customer to choose between.

    Attributes:
        head: The observation that it was unclear what was meant.
        question: What was asked.
        options: What was in question, each with what the customer would call it.
        offset: Where the account of the turn that asked stands.
    """

    head: RuleId
    question: str
    options: tuple[tuple[Subject, str], ...]
    offset: int


@attrs.frozen
class RecordedCall:
    """A tool call in the log: its last stage, where that stands, and what came back."""

    tool: str
    stage: str
    offset: int
    arguments: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen, hash=False)
    data: Any = None  # JSON of the result
    fields: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen, hash=False)
    transient_rules: tuple[str, ...] = ()
    error: str | None = None


@attrs.frozen
class Unsettled:
    """A sent turn that is not settled yet, and the policies it is assumed to have applied."""

    turn: TurnId
    assumed: tuple[RuleId, ...]


@attrs.frozen
class SessionState:
    """What follows from a session's events.

    Attributes:
        offset: How many events have been folded: the offset of the next one.
        working_set: Rules that the session has brought up.
        pruned: Rules that were dropped, with the offset from which a fresh trigger readmits them.
        confirmed: Rules once judged to apply and not excluded, with the offset.
        applied: Policies whose action was carried out, with the offset.
        partly: Policies of which something is owed.
        calls: Tool calls by key.
        awaiting: Rules for whose sake the last reply asked the customer for something.
        clarifications: What the last reply asked the customer to choose between, by observation.
        unanswered: Offsets of customer messages that no sent reply has answered.
        unsettled: The last sent turn, while its `settled` event is missing.
        mode: Who answers.
        labels: On the session.
        language: Of the customer, where known.
        title: For people.
        customer: As changed since opening, or `None`.
        spent: US dollars that its turns' requests to models have cost, as far as that is known.
    """

    offset: int = 0
    working_set: Mapping[RuleId, Membership] = attrs.field(
        factory=dict, converter=_frozen, hash=False
    )
    pruned: Mapping[RuleId, int] = attrs.field(factory=dict, converter=_frozen, hash=False)
    confirmed: Mapping[RuleId, int] = attrs.field(factory=dict, converter=_frozen, hash=False)
    applied: Mapping[RuleId, int] = attrs.field(factory=dict, converter=_frozen, hash=False)
    partly: Mapping[RuleId, Owed] = attrs.field(factory=dict, converter=_frozen, hash=False)
    calls: Mapping[str, RecordedCall] = attrs.field(factory=dict, converter=_frozen, hash=False)
    awaiting: Mapping[RuleId, Awaited] = attrs.field(factory=dict, converter=_frozen, hash=False)
    clarifications: Mapping[RuleId, Clarification] = attrs.field(
        factory=dict, converter=_frozen, hash=False
    )
    unanswered: tuple[int, ...] = ()
    unsettled: Unsettled | None = None
    mode: SessionMode = SessionMode.AUTO
    labels: frozenset[str] = frozenset()
    language: str | None = None
    title: str | None = None
    customer: CustomerId | None = None
    spent: float = 0.0


def fold(events: Iterable[Event], state: SessionState | None = None) -> SessionState:
    """Return the state after `events`, starting from `state` or from nothing.

    Total: an event that it does not understand only moves the offset. Folding a log in pieces
    gives what folding it whole gives.
    """
    draft = _Draft(state or SessionState())
    for event in events:
        step = _STEPS.get(event.kind)
        if step is not None:
            # Whole or not at all: a step reads everything before it changes anything.
            with suppress(NotUnderstoodError):
                step(draft, event)
        draft.offset = event.offset + 1
    return draft.finished()


class _Growing(Generic[K, V]):
    """A frozen mapping that is copied when it is first written to, and only then."""

    __slots__ = ("_copy", "_given")

    def __init__(self, given: Mapping[K, V]) -> None:
        self._given = given
        self._copy: dict[K, V] | None = None

    def get(self, key: K) -> V | None:
        return (self._given if self._copy is None else self._copy).get(key)

    def put(self, key: K, value: V) -> None:
        if self._copy is None:
            self._copy = dict(self._given)
        self._copy[key] = value

    def drop(self, key: K) -> None:
        if self.get(key) is not None:
            if self._copy is None:
                self._copy = dict(self._given)
            del self._copy[key]

    def frozen(self) -> Mapping[K, V]:
        return self._given if self._copy is None else MappingProxyType(self._copy)


class _Draft:
    """A state while events are folded into it."""

    def __init__(self, state: SessionState) -> None:
        self.offset = state.offset
        self.working_set = _Growing(state.working_set)
        self.pruned = _Growing(state.pruned)
        self.confirmed = _Growing(state.confirmed)
        self.applied = _Growing(state.applied)
        self.partly = _Growing(state.partly)
        self.calls = _Growing(state.calls)
        self.awaiting = state.awaiting
        self.clarifications = state.clarifications
        self.unanswered = list(state.unanswered)
        self.unsettled = state.unsettled
        self.mode = state.mode
        self.labels = state.labels
        self.language = state.language
        self.title = state.title
        self.customer = state.customer
        self.spent = state.spent

    def answer(self, upto: int) -> None:
        """Take note that the messages before offset `upto` have been answered."""
        if self.unanswered and self.unanswered[0] < upto:
            self.unanswered = [offset for offset in self.unanswered if offset >= upto]

    def finished(self) -> SessionState:
        return SessionState(
            offset=self.offset,
            working_set=self.working_set.frozen(),
            pruned=self.pruned.frozen(),
            confirmed=self.confirmed.frozen(),
            applied=self.applied.frozen(),
            partly=self.partly.frozen(),
            calls=self.calls.frozen(),
            awaiting=self.awaiting,
            clarifications=self.clarifications,
            unanswered=tuple(self.unanswered),
            unsettled=self.unsettled,
            mode=self.mode,
            labels=self.labels,
            language=self.language,
            title=self.title,
            customer=self.customer,
            spent=self.spent,
        )


# -- one step per kind of event --


def _message(draft: _Draft, event: Event) -> None:
    if event.source is Source.CUSTOMER:
        draft.unanswered.append(event.offset)
    elif event.is_agent_message and (event.turn is None or event.source is not Source.AI_AGENT):
        # A person's words, and an imported reply, answer what came before them, so no turn answers
        # it again. What a turn said answers as much as its account says it had read.
        draft.answer(event.offset)


def _tool(draft: _Draft, event: Event) -> None:
    data = event.data
    key = text(data.get("key"))
    result = mapping(data.get("result"))
    stage = text(data.get("stage"))
    labels = texts(result.get("labels")) if stage == ToolStage.FINISHED.value else ()
    before = draft.calls.get(key)
    draft.calls.put(
        key,
        RecordedCall(
            tool=text(data.get("tool"), before.tool if before else ""),
            stage=stage,
            offset=event.offset,
            # A later stage need not repeat what was called for.
            arguments=before.arguments
            if before is not None and "arguments" not in data
            else mapping(data.get("arguments")),
            data=result.get("data"),
            fields=mapping(result.get("fields")),
            transient_rules=tuple(texts(result.get("transient_rules"))),
            error=text(result.get("error"), "") or text(data.get("error"), "") or None,
        ),
    )
    if labels:
        draft.labels |= frozenset(labels)


@attrs.frozen
class _Line:
    """What the fold reads of a ledger's line."""

    rule: RuleId
    is_policy: bool
    is_active: bool
    is_confirmed: bool
    hit_at: int | None


def _lines(data: Mapping[str, Any]) -> Sequence[_Line]:
    found = []
    for item in items(data.get("lines")):
        line = mapping(item)
        kind, fate = line.get("kind"), line.get("fate")
        hit_at, is_confirmed = line.get("hit_at"), bool(line.get("confirmed"))
        is_active = fate in ("matched", "implied")
        if kind not in ("policy", "observation") or fate == "over_budget":
            continue
        if hit_at is None and not is_confirmed and not is_active:
            continue  # most lines: shown or judged not to apply, and nothing new
        found.append(
            _Line(
                rule=RuleId(text(line.get("subject"))),
                is_policy=kind == "policy",
                is_active=is_active,
                is_confirmed=is_confirmed,
                hit_at=None if hit_at is None else number(hit_at),
            )
        )
    return found


def _match(draft: _Draft, event: Event) -> None:
    data = event.data
    cost = _cost(data)
    if data.get("outcome") not in ("sent", "silent"):
        draft.spent += cost  # a cancelled or failed turn leaves its tool calls and its bill
        return
    upto = number(data.get("upto", event.offset))
    labels = texts(data.get("labels"))
    awaiting = _awaiting(data)
    clarifications = _clarifications(data, event.offset)
    lines = _lines(data)
    draft.awaiting = awaiting
    draft.clarifications = clarifications
    draft.spent += cost
    assumed: list[RuleId] = []
    for line in lines:
        if line.hit_at is not None:
            _hit(draft, line.rule, line.hit_at)
        if line.is_confirmed and draft.confirmed.get(line.rule) is None:
            draft.confirmed.put(line.rule, event.offset)
        if line.is_active:
            member = draft.working_set.get(line.rule)
            if member is not None:
                draft.working_set.put(line.rule, attrs.evolve(member, last_match=event.offset))
            if line.is_policy:
                draft.partly.drop(line.rule)
                if draft.applied.get(line.rule) is None:
                    assumed.append(line.rule)
                    draft.applied.put(line.rule, event.offset)
    # What was said after the turn read the log has not been answered by it.
    draft.answer(upto)
    draft.unsettled = None if event.turn is None else Unsettled(event.turn, tuple(assumed))
    if labels:
        draft.labels |= frozenset(labels)


def _cost(data: Mapping[str, Any]) -> float:
    """Return what the requests that an event tells of have cost."""
    return sum(dollars(mapping(line).get("cost")) for line in items(data.get("requests")))


def _awaiting(data: Mapping[str, Any]) -> Mapping[RuleId, Awaited]:
    found: dict[RuleId, Awaited] = {}
    for line in map(mapping, items(data.get("asked"))):
        asked = Awaited(text(line.get("tool")), tuple(texts(line.get("parameters"))))
        found.update(dict.fromkeys(map(RuleId, texts(line.get("rules"))), asked))
    return found


def _clarifications(data: Mapping[str, Any], offset: int) -> Mapping[RuleId, Clarification]:
    found: dict[RuleId, Clarification] = {}
    for line in map(mapping, items(data.get("clarifications"))):
        head = RuleId(text(line.get("head")))
        options = tuple(
            (RuleId(text(option.get("subject"))), text(option.get("as_said")))
            for option in map(mapping, items(line.get("options")))
        )
        found[head] = Clarification(head, text(line.get("question")), options, offset)
    return found


def _hit(draft: _Draft, rule: RuleId, at: int) -> None:
    seen = draft.working_set.get(rule)
    if seen is None:
        draft.working_set.put(rule, Membership(since=at, last_hit=at))
    elif at > seen.last_hit:
        draft.working_set.put(rule, attrs.evolve(seen, last_hit=at))
    draft.pruned.drop(rule)


def _settled(draft: _Draft, event: Event) -> None:
    cost = _cost(event.data)
    fulfilled = [RuleId(rule) for rule in texts(event.data.get("fulfilled"))]
    partly = [
        (RuleId(text(item.get("rule"))), text(item.get("owed")))
        for item in map(mapping, items(event.data.get("partly")))
    ]
    pruned = [
        (RuleId(text(item.get("rule"))), number(item.get("offset")))
        for item in map(mapping, items(event.data.get("pruned")))
    ]
    draft.spent += cost
    if draft.unsettled is not None and draft.unsettled.turn == event.turn:
        for rule in set(draft.unsettled.assumed).difference(fulfilled):
            draft.applied.drop(rule)
        draft.unsettled = None
    for rule in fulfilled:
        if draft.applied.get(rule) is None:
            draft.applied.put(rule, event.offset)
        draft.partly.drop(rule)
    for rule, owed in partly:
        draft.applied.drop(rule)
        draft.partly.put(rule, Owed(event.offset, owed))
    for rule, offset in pruned:
        draft.working_set.drop(rule)
        draft.pruned.put(rule, offset)


def _mode(draft: _Draft, event: Event) -> None:
    try:
        draft.mode = SessionMode(event.data.get("mode"))
    except ValueError as exc:
        raise NotUnderstoodError from exc


def _session(draft: _Draft, event: Event) -> None:
    data = event.data
    customer = CustomerId(text(data["customer"])) if "customer" in data else draft.customer
    labels = frozenset(texts(data["labels"])) if "labels" in data else draft.labels
    title = text_or_none(data["title"]) if "title" in data else draft.title
    language = text_or_none(data["language"]) if "language" in data else draft.language
    draft.customer, draft.labels, draft.title, draft.language = customer, labels, title, language


def _status(draft: _Draft, event: Event) -> None:
    if event.data.get("status") == "error" and event.data.get("upto") is not None:
        # The apology answered them: they must not start the failed turn again.
        draft.answer(number(event.data["upto"]))


_STEPS = {
    EventKind.MESSAGE: _message,
    EventKind.TOOL: _tool,
    EventKind.MATCH: _match,
    EventKind.SETTLED: _settled,
    EventKind.MODE: _mode,
    EventKind.SESSION: _session,
    EventKind.STATUS: _status,
}
