"""What stands in a round of the former generation's resolution, and what was removed before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject

_APPLYING = frozenset({VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED})


@attrs.frozen(eq=False)
class Board:
    """A round's beginning.

    Attributes:
        request: What is to be resolved.
        candidates: All that needs an outcome.
        matched: What was judged to apply or is under way, and is not in question.
        asked: Outcomes of what is in question, and of the rules that ask.
        removed: Outcomes of what earlier rounds removed for good.
        implied: What earlier rounds implied.
    """

    request: ResolutionRequest
    candidates: frozenset[Subject]
    matched: frozenset[Subject]
    asked: Mapping[Subject, Outcome]
    removed: Mapping[Subject, Outcome] = attrs.field(factory=dict)
    implied: frozenset[Subject] = frozenset()

    @classmethod
    def of(cls, request: ResolutionRequest) -> Board:
        """Return the board of the first round; ids that the catalog does not know are left out."""
        snapshot = request.snapshot
        rules = {each for each in (*request.verdicts, *request.shown) if each in snapshot.rules}
        nodes = {each for each in request.nodes if each in snapshot.journey_of}
        journeys = {each for each in request.journeys if each in snapshot.journeys}
        journeys |= {snapshot.journey_of[node] for node in nodes}
        applying: set[Subject] = {
            each.rule
            for each in request.verdicts.values()
            if each.rule in rules and each.kind in _APPLYING and snapshot.rules[each.rule].enabled
        }
        under_way = {each for each in journeys if snapshot.journeys[each].enabled}
        in_play = {each for each in nodes if snapshot.journey_of[each] in under_way}
        matched = applying | under_way | in_play
        asked = _asked(request, matched)
        return cls(
            request, frozenset(rules | nodes | journeys), frozenset(matched - asked.keys()), asked
        )

    @property
    def snapshot(self) -> CatalogSnapshot:
        """The turn's catalog."""
        return self.request.snapshot

    @property
    def standing(self) -> frozenset[Subject]:
        """What a round starts from: matched or implied, and not removed."""
        return (self.matched | self.implied) - self.removed.keys()

    def without(self, removed: Mapping[Subject, Outcome]) -> Board:
        """Return the next round's board once these have been removed."""
        return attrs.evolve(self, removed={**self.removed, **removed}, implied=frozenset())

    def with_implied(self, found: Iterable[Subject]) -> Board:
        """Return the next round's board with these implied too."""
        return attrs.evolve(self, implied=self.implied | frozenset(found))

    def nodes_of(self, journey: Subject) -> tuple[NodeId, ...]:
        """Return the nodes of a journey that are in play."""
        known = self.snapshot.journeys.get(JourneyId(journey))
        return tuple(
            node.id for node in (known.nodes if known else ()) if node.id in self.request.nodes
        )


def _asked(request: ResolutionRequest, matched: Iterable[Subject]) -> Mapping[Subject, Outcome]:
    found: dict[Subject, Outcome] = {}
    for verdict in sorted(request.verdicts.values(), key=lambda each: each.rule):
        rule = request.snapshot.rules.get(verdict.rule)
        if verdict.kind is not VerdictKind.AMBIGUOUS or rule is None or not rule.enabled:
            continue
        found[verdict.rule] = Outcome(verdict.rule, Fate.AMBIGUOUS)
        for subject in _in_question(verdict, request.snapshot):
            if subject in matched:
                found[subject] = Outcome(subject, Fate.AMBIGUOUS, (verdict.rule,), "disambiguation")
    return found


def _in_question(verdict: Verdict, snapshot: CatalogSnapshot) -> Iterable[Subject]:
    """Yield what a doubt is about; with a journey also its nodes, and what would start it."""
    for subject in snapshot.in_doubt(RuleId(verdict.rule)):
        if verdict.among and subject not in verdict.among:
            continue
        yield subject
        journey = snapshot.journeys.get(JourneyId(subject))
        if journey is not None:
            yield from journey.triggers
            yield from (node.id for node in journey.nodes)
