"""Tools: what an agent may call, with which arguments, and what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import attrs

from poise.errors import InvalidValueError
from poise.values.ids import AgentId, CustomerId, SessionId, ToolId, TurnId


class ParameterKind(Enum):
    """The neutral types of arguments; every provider and tool service can express them."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    LIST = "list"
    RECORD = "record"


class ArgumentSource(Enum):
    """Where an argument may come from.

    ANY: the conversation, variables, the customer, defaults. CUSTOMER: only what the customer
    said. CONTEXT: never the customer's words (variables, earlier results, the customer's record).
    """

    ANY = "any"
    CUSTOMER = "customer"
    CONTEXT = "context"


def _frozen(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))


def _choices(value: Iterable[str | int | float]) -> tuple[str | int | float, ...]:
    return tuple(value)


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


def _labels(value: Iterable[str]) -> frozenset[str]:
    return frozenset(value)


def _parameters(value: Iterable[Parameter]) -> tuple[Parameter, ...]:
    return tuple(value)


@attrs.frozen
class Parameter:
    """One parameter of a tool, or one field of a record.

    Attributes:
        name: As the tool names it.
        kind: Its neutral type.
        description: What it means; read by models and shown when the agent asks for it.
        required: Whether the tool can't run without it.
        nullable: Whether `None` is a value.
        default: What an absent optional argument becomes.
        choices: The only values allowed, when not empty.
        items: The element of a LIST.
        fields: The fields of a RECORD.
        pattern: A regular expression that a STRING matches as a whole; ids are found by it.
        source: Where the argument may come from; default ANY.
        precedence: Lower numbers are asked for first.
        question: What the agent asks when the argument is missing; default built from the name.
    """

    name: str
    kind: ParameterKind
    description: str = ""
    required: bool = True
    nullable: bool = False
    default: Any = None  # any value of the parameter's kind
    choices: tuple[str | int | float, ...] = attrs.field(default=(), converter=_choices)
    items: Parameter | None = None
    fields: tuple[Parameter, ...] = attrs.field(default=(), converter=_parameters)
    pattern: str | None = None
    source: ArgumentSource = ArgumentSource.ANY
    precedence: int = 0
    question: str | None = None


@attrs.frozen
class Tool:
    """Something that the agent may call while a rule offers it.

    Attributes:
        id: Stable id.
        agent: The owning agent.
        name: As models, rules and ledgers name it.
        service: The name of the tool service that runs it.
        description: What it does; read by models.
        parameters: In declared order.
        consequential: Changes something in the world; needs a screened turn and is reviewed.
        timeout: Seconds before the call counts as unknown; `None` takes the setting (30).
    """

    id: ToolId
    agent: AgentId
    name: str
    service: str
    description: str = ""
    parameters: tuple[Parameter, ...] = attrs.field(default=(), converter=_parameters)
    consequential: bool = False
    timeout: float | None = None

    def __attrs_post_init__(self) -> None:
        if not self.name.strip():
            raise InvalidValueError("tool", "name", "is empty")
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            raise InvalidValueError(f"tool {self.name!r}", "parameters", "holds one name twice")

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter called `name`, or `None`."""
        return next((each for each in self.parameters if each.name == name), None)


@attrs.frozen
class ToolCall:
    """One call that a turn wants to make.

    Attributes:
        key: `session:base:tool:digest of arguments:n`; a restarted turn computes the same key.
        tool: What to call.
        arguments: By name; JSON values, dates as ISO text.
        sources: For each argument, where its value stands: verbatim text and origin.
        why: The rules that offered the tool.
    """

    key: str
    tool: ToolId
    arguments: Mapping[str, Any] = attrs.field(converter=_frozen, hash=False)
    sources: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen, hash=False)
    why: tuple[str, ...] = attrs.field(default=(), converter=_texts)


@attrs.frozen
class ToolResult:
    """What a tool returns.

    Attributes:
        data: JSON for the model and for later turns.
        fields: Values for the fields of canned responses; `data` itself serves where it is a
            mapping.
        transient_rules: Instructions for this turn only; heeded where the service may instruct.
        labels: Put on the session.
        mode: `manual` hands the session over to a person, `auto` takes it back.
        error: What went wrong, for the agent; `None` for success.
        metadata: For programs; never in a prompt.
    """

    data: Any = None  # any JSON
    fields: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen, hash=False)
    transient_rules: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    labels: frozenset[str] = attrs.field(default=frozenset(), converter=_labels)
    mode: str | None = None
    error: str | None = None
    metadata: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen, hash=False)


@attrs.frozen
class ToolContext:
    """What a tool may know of the turn that calls it: passed, never ambient.

    Attributes:
        tenant: The tenant of the turn's scope.
        agent: Who calls.
        customer: For whom.
        session: In which conversation.
        turn: In which turn.
        key: The call's idempotency key; empty when a variable is being loaded.
        variables: The customer's variables by name.
        customer_metadata: The customer's metadata.
    """

    tenant: str
    agent: AgentId
    customer: CustomerId
    session: SessionId
    turn: TurnId
    key: str = ""
    variables: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen, hash=False)
    customer_metadata: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen, hash=False)
