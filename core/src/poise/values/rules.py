"""Rules: policies, which say what to do, and observations, which only recognise a situation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from types import MappingProxyType

import attrs

from poise.errors import InvalidValueError
from poise.values.agents import CompositionMode, Effort
from poise.values.ids import AgentId, CannedResponseId, GroupId, RuleId, TagId, ToolId

ALWAYS = "always"
"""The `matcher` of a rule that applies on every turn."""


class RuleKind(Enum):
    """What a rule is."""

    POLICY = "policy"
    OBSERVATION = "observation"


class Weight(IntEnum):
    """How much it matters that a rule is judged rather than merely shown."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2


class WayIn(Enum):
    """What can make a rule relevant to a session.

    SIGNALS: something that a customer says, or a tool's result. DEPENDENCY: nothing of its own; it
    comes up with what depends on it or implies it (rules about state). TOOL: a tool that it guards
    is about to be offered. REPLY: it is about the reply, so every reply is held against it and
    nobody judges it before. ALWAYS: every turn considers it.
    """

    SIGNALS = "signals"
    DEPENDENCY = "dependency"
    TOOL = "tool"
    REPLY = "reply"
    ALWAYS = "always"


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        raise InvalidValueError("rule", "signals", "must be a list of texts, not one text")
    return tuple(value)  # type: ignore[arg-type]  # checked by the caller's annotation


def _tools(value: Iterable[ToolId]) -> tuple[ToolId, ...]:
    return tuple(value)


def _responses(value: Iterable[CannedResponseId]) -> tuple[CannedResponseId, ...]:
    return tuple(value)


def _tags(value: Iterable[TagId]) -> frozenset[TagId]:
    return frozenset(value)


def _labels(value: Iterable[str]) -> frozenset[str]:
    return frozenset(value)


def _groups(value: Iterable[GroupId]) -> frozenset[GroupId]:
    return frozenset(value)


def _frozen_text(value: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType(dict(value))


@attrs.frozen
class Rule:
    """A policy or an observation of one agent.

    A policy is `when` (may be absent) and `then`, or `title` and `content`. An observation is
    `when` alone (or a code matcher). Functions are named, never held: the names are keys of the
    snapshot's `bindings`, so a rule can be stored, hashed and compared.

    Attributes:
        id: Stable id.
        agent: The owning agent.
        kind: POLICY or OBSERVATION.
        title: A short name for people.
        when: The condition, as a sentence about the conversation.
        then: What to do while it holds.
        content: A steering line, a procedure or a document; a description where `when` is given.
        signals: Phrases that should bring the rule up.
        anti_signals: Near misses that should not.
        own_signals_only: An observation does not take the signals of its dependents as its own.
        weight: LOW, MEDIUM (default) or HIGH.
        always_judged: Considered and judged on every turn, whatever discovery says.
        way_in: What can make the rule relevant; default SIGNALS.
        matcher: Name of a code matcher, `always`, or `None` for judgement by a model.
        effort: Lifts the turn's effort at least to this while the rule is matched.
        composition_mode: Makes the turn's composition at least this strict while matched.
        tools: Offered while the rule is active.
        canned_responses: Approved wording in view while the rule is active.
        guards: Tools before whose calls the rule is judged, whatever discovery says.
        priority: Competes within `rank`; default 0.
        rank: Within which `priority` competes: of the active rules and journeys of one rank only
            those with the highest priority are acted on. `None` for nowhere.
        tags: Names for use in relations.
        labels: Put on the session when the rule is matched.
        groups: Only customers in one of these see the rule; empty means all.
        continuous: The action stays due while the condition holds; `None` leaves it to annotation.
        customer_dependent: The action needs the customer's part; `None` leaves it to annotation.
        agent_intention: The condition is about what the agent is about to do; `None` likewise.
        track: Whether having been applied makes the rule go quiet.
        on_selected: Binding called when the rule survives resolution.
        on_message: Binding called after a reply that the rule shaped has been sent.
        enabled: Switched off rules keep their place in the catalog and do nothing.
        metadata: Read by plugins, never put into a prompt.
    """

    id: RuleId
    agent: AgentId
    kind: RuleKind
    title: str | None = None
    when: str | None = None
    then: str | None = None
    content: str | None = None
    signals: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    anti_signals: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    own_signals_only: bool = False
    weight: Weight = Weight.MEDIUM
    always_judged: bool = False
    way_in: WayIn = WayIn.SIGNALS
    matcher: str | None = None
    effort: Effort | None = None
    composition_mode: CompositionMode | None = None
    tools: tuple[ToolId, ...] = attrs.field(default=(), converter=_tools)
    canned_responses: tuple[CannedResponseId, ...] = attrs.field(default=(), converter=_responses)
    guards: tuple[ToolId, ...] = attrs.field(default=(), converter=_tools)
    priority: int = 0
    rank: str | None = None
    tags: frozenset[TagId] = attrs.field(default=frozenset(), converter=_tags)
    labels: frozenset[str] = attrs.field(default=frozenset(), converter=_labels)
    groups: frozenset[GroupId] = attrs.field(default=frozenset(), converter=_groups)
    continuous: bool | None = None
    customer_dependent: bool | None = None
    agent_intention: bool | None = None
    track: bool = True
    on_selected: str | None = None
    on_message: str | None = None
    enabled: bool = True
    metadata: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen_text, hash=False)

    def __attrs_post_init__(self) -> None:
        thing = f"{self.kind.value} {self.name!r}"
        for field in ("title", "when", "then", "content"):
            text = getattr(self, field)
            if text is not None and not text.strip():
                raise InvalidValueError(thing, field, "is empty; leave it out instead")
        for field in ("signals", "anti_signals"):
            if any(not text.strip() for text in getattr(self, field)):
                raise InvalidValueError(thing, field, "holds an empty phrase")
        if self.way_in is WayIn.TOOL and not self.guards:
            raise InvalidValueError(thing, "way_in", "is TOOL, and `guards` names no tool")
        if self.rank is not None and not self.rank.strip():
            raise InvalidValueError(thing, "rank", "is empty; leave it out instead")
        if self.kind is RuleKind.OBSERVATION:
            if self.then is not None:
                raise InvalidValueError(
                    thing, "then", "is for policies: an observation prescribes nothing"
                )
            if self.when is None and self.matcher is None:
                raise InvalidValueError(thing, "when", "is missing, and there is no matcher")
        elif self.then is None and self.content is None:
            raise InvalidValueError(
                thing, "then", "is missing: give `then`, or `title` and `content`"
            )

    @property
    def name(self) -> str:
        """What people call the rule: its title, else its condition, else what it says."""
        return self.title or self.when or self.then or self.content or str(self.id)

    @property
    def text(self) -> str:
        """The rule as one readable text, as prompts and `poise why` show it."""
        parts: list[str] = []
        if self.when and self.then:
            parts.append(f"When {self.when}, then {self.then}")
        elif self.then:
            parts.append(self.then)
        elif self.when:
            parts.append(f"When {self.when}")
        if self.content:
            parts.append(self.content)
        body = "\n".join(parts)
        return f"{self.title}: {body}" if self.title and body else body or (self.title or "")

    @property
    def bypasses_discovery(self) -> bool:
        """Whether every turn considers the rule, so that it costs every turn."""
        if self.way_in is WayIn.TOOL and not self.always_judged:
            return False
        return (
            self.always_judged
            or self.matcher is not None
            or self.way_in in (WayIn.ALWAYS, WayIn.REPLY)
        )
