"""How a rule's action behaves: what its author said, else what was annotated."""

from __future__ import annotations

import re

from poise import CatalogSnapshot
from poise.values.rules import Rule, RuleKind

_END = re.compile(r"\b(?:until|till)\b\s+(?P<end>[^.;]+)", re.IGNORECASE)


def is_continuous(rule: Rule, snapshot: CatalogSnapshot) -> bool:
    """Say whether the action stays due while the condition holds."""
    annotation = snapshot.annotations.get(rule.id)
    said = rule.continuous
    return said if said is not None else annotation is not None and annotation.continuous


def is_customer_dependent(rule: Rule, snapshot: CatalogSnapshot) -> bool:
    """Say whether the action waits on the customer's part."""
    annotation = snapshot.annotations.get(rule.id)
    said = rule.customer_dependent
    return said if said is not None else annotation is not None and annotation.customer_dependent


def is_about_agent(rule: Rule, snapshot: CatalogSnapshot) -> bool:
    """Say whether the condition is about what the agent itself is about to do."""
    annotation = snapshot.annotations.get(rule.id)
    said = rule.agent_intention
    return said if said is not None else annotation is not None and annotation.agent_intention


def is_done_once(rule: Rule, snapshot: CatalogSnapshot) -> bool:
    """Say whether the rule goes quiet once its action was carried out."""
    return rule.kind is RuleKind.POLICY and rule.track and not is_continuous(rule, snapshot)


def end_of(rule: Rule) -> str | None:
    """Return what ends a continuous action, where it names that: *until a rating is given*."""
    found = _END.search(rule.then or rule.content or "")
    return found["end"].strip() if found else None
