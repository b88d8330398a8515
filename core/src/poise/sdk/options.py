"""What may be said of a rule when it is declared: the keyword arguments of `create_…`.

Left out or `None` means not said. Enums may be given by name, such as `weight="high"`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from poise.values.agents import CompositionMode, Effort
from poise.values.customers import Tag
from poise.values.relationships import TagEnd
from poise.values.rules import WayIn, Weight

if TYPE_CHECKING:
    from poise.sdk.rules import RuleHandle
    from poise.sdk.tool import DeclaredTool
    from poise.values.canned import CannedResponse

MATCH_ALWAYS: Final = "always"
"""The `matcher` of a rule that applies on every turn; it may have no condition."""

CodeMatcher = Callable[..., Any]
"""Judges a rule in code: takes the turn, or turn and rule, returns a bool or a `Verdict`; async
or not."""

Handler = Callable[..., Awaitable[Any]]
"""An async function called with the turn and the rule; what it returns is not looked at."""

Conditions = str | Sequence[str]
"""One condition, or several of which one is enough."""


class RuleOptions(TypedDict, total=False):
    """What any rule may say.

    Attributes:
        id: The rule's key; default: its title, else a digest of condition and action.
        conditions: The condition under another name, like `triggers`; a list is alternatives.
        signals: Phrases that should bring the rule up.
        anti_signals: Near misses that should not.
        tools: Offered while the rule is active; functions under `@poise.tool`.
        dependencies: Rules that must hold too, or `any_of(tag)`, `all_of(tag)`.
        canned_responses: Approved wording: responses, or templates as plain texts.
        weight: LOW, MEDIUM (default) or HIGH; `criticality` is the same.
        priority: Competes within `rank`; default 0.
        rank: A name that rules share of which only those with the highest priority are acted on.
        guards: Tools before whose calls the rule is judged, whether or not anything a customer
            says brings it up; functions under `@poise.tool`.
        tags: By name, or as created.
        labels: Put on the session when the rule is matched.
        groups: Only customers in one of these see the rule.
        effort: Lifts the turn's effort at least to this while the rule is matched.
        composition_mode: Makes the reply at least this strict while matched.
        matcher: `poise.MATCH_ALWAYS`, or a function that judges instead of a model.
        always_judged: Considered and judged on every turn.
        way_in: What can make the rule relevant; default TOOL with `guards` and without signals,
            else SIGNALS.
        agent_intention: The condition is about what the agent is about to do.
        track: Whether having been applied makes the rule go quiet; default yes.
        on_selected: Called with turn and rule when the rule survives resolution.
        on_message: Called with turn and rule once a reply that it shaped has been sent.
        enabled: Whether it does anything; default yes.
        metadata: Read by plugins, never put into a prompt.
    """

    id: str | None
    conditions: Conditions | None
    triggers: Conditions | None
    signals: Sequence[str] | None
    anti_signals: Sequence[str] | None
    tools: Sequence[DeclaredTool[..., Any]] | None
    dependencies: Sequence[RuleHandle | TagEnd] | None
    canned_responses: Sequence[CannedResponse | str] | None
    weight: Weight | str | None
    criticality: Weight | str | None
    priority: int | None
    rank: str | None
    guards: Sequence[DeclaredTool[..., Any]] | None
    tags: Sequence[Tag | str] | None
    labels: Sequence[str] | None
    groups: Sequence[str] | None
    effort: Effort | str | None
    composition_mode: CompositionMode | str | None
    matcher: CodeMatcher | Literal["always"] | None
    always_judged: bool | None
    way_in: WayIn | str | None
    agent_intention: bool | None
    track: bool | None
    on_selected: Handler | None
    on_message: Handler | None
    enabled: bool | None
    metadata: Mapping[str, str] | None


class ActingOptions(RuleOptions, total=False):
    """What a rule that prescribes something may say besides.

    Attributes:
        continuous: The action stays due while the condition holds.
        customer_dependent: The action needs the customer's part.
    """

    continuous: bool | None
    customer_dependent: bool | None


class PolicyOptions(ActingOptions, total=False):
    """What a policy may say.

    Attributes:
        when: The condition; `condition` is the same.
        then: What to do while it holds; `action` is the same.
        description: The same as `content`.
    """

    when: Conditions | None
    condition: Conditions | None
    then: str | None
    action: str | None
    description: str | None


class GuidelineOptions(ActingOptions, total=False):
    """What a guideline may say besides condition, action and description.

    Attributes:
        title: A short name for people.
        when: The same as `condition`.
        then: The same as `action`.
        content: The same as `description`.
    """

    title: str | None
    when: Conditions | None
    then: str | None
    content: str | None


class ObservationOptions(RuleOptions, total=False):
    """What an observation may say besides its condition and its title.

    Attributes:
        condition: The same as `when`.
        description: More about the situation; `note` is the same.
        own_signals_only: Don't take the signals of what depends on it as its own.
    """

    condition: Conditions | None
    description: str | None
    note: str | None
    own_signals_only: bool | None
