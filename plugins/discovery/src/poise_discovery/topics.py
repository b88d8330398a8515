"""What a sighted policy says about its topic: that the customer is talking about it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise.turn.candidates import Sighting
from poise.values.catalog import CatalogSnapshot
from poise.values.rules import RuleKind
from poise_discovery.phrases import dependents


def with_topics(found: Sequence[Sighting], snapshot: CatalogSnapshot) -> list[Sighting]:
    """Return the sightings, each topic at least as likely as whatever depends on it.

    An observation that takes the signals of its dependents as its own holds wherever one of them
    does. Its own head has to cover all of them with one plane, so for the odd phrase it falls
    behind the head of the one policy that knows it.
    """
    chances = {each.rule: each.probability for each in found if each.is_hit}
    raised: list[Sighting] = []
    for each in found:
        rule = snapshot.rules.get(each.rule)
        if rule is not None and rule.kind is RuleKind.OBSERVATION and not rule.own_signals_only:
            theirs = (chances.get(other, 0.0) for other in dependents(snapshot, each.rule))
            each = attrs.evolve(each, probability=max(each.probability, *theirs, 0.0))
        raised.append(each)
    return raised
