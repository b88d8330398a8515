"""What a rule's own words say of its action and its condition, without any model."""

from __future__ import annotations

import attrs

from poise.values.rules import Rule, RuleKind
from poise_discovery.actions import continues_throughout, goes_on, needs_customer
from poise_discovery.intentions import subject_of


@attrs.frozen
class Reading:
    """Three answers about a rule.

    Attributes:
        continuous: The action stays due while the condition holds.
        customer_dependent: The action needs the customer's part.
        agent_intention: The condition is about what the agent is about to do.
    """

    continuous: bool = False
    customer_dependent: bool = False
    agent_intention: bool = False


def read(rule: Rule) -> Reading:
    """Return what the author declared, and for the rest what the rule's English words say.

    Words that say nothing plainly say no.
    """
    declared = declared_of(rule)
    continuous, dependent, intention = (
        declared.get("continuous"),
        declared.get("customer_dependent"),
        declared.get("agent_intention"),
    )
    return Reading(
        continuous=_goes_on(rule) if continuous is None else continuous,
        customer_dependent=needs_customer(action_of(rule)) if dependent is None else dependent,
        agent_intention=(
            subject_of(rule.when or "") is not None if intention is None else intention
        ),
    )


def declared_of(rule: Rule) -> dict[str, bool]:
    """Return the answers that need no reading: the author's, and those that follow from the kind.

    What prescribes nothing has no action, and what holds on every turn no condition.
    """
    found: dict[str, bool] = {}
    if not action_of(rule):
        found.update(continuous=False, customer_dependent=False)
    if rule.when is None:
        found["agent_intention"] = False
    for name in ("continuous", "customer_dependent", "agent_intention"):
        said = getattr(rule, name)
        if said is not None:
            found[name] = said
    return found


def action_of(rule: Rule) -> str:
    """Return what a policy prescribes; nothing for an observation."""
    if rule.kind is RuleKind.OBSERVATION:
        return ""
    return rule.then or rule.content or ""


def _goes_on(rule: Rule) -> bool:
    action = action_of(rule)
    return goes_on(action) if rule.then else continues_throughout(action)
