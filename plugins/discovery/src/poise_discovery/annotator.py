"""Annotates rules by what their authors declared, without any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.ports.discovery import Annotator
from poise.values.catalog import Annotation
from poise.values.ids import RuleId
from poise.values.rules import ALWAYS, Rule, WayIn


class FlagAnnotator(Annotator):
    """Takes an author's flags for what they say, and nothing for granted."""

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        return {
            rule.id: Annotation(
                way_in=way_in(rule),
                continuous=bool(rule.continuous),
                customer_dependent=bool(rule.customer_dependent),
                agent_intention=bool(rule.agent_intention),
            )
            for rule in rules
        }


def way_in(rule: Rule) -> WayIn:
    """Return what can make the rule relevant, by its flags.

    A rule about what the agent is about to do is brought up by no customer's words, unless its
    author gave signals for it.
    """
    if rule.matcher == ALWAYS:
        return WayIn.ALWAYS
    if rule.way_in is WayIn.SIGNALS and rule.agent_intention and not rule.signals:
        return WayIn.DEPENDENCY
    return rule.way_in
