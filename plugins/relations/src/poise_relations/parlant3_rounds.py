"""The rounds of the former generation's resolution: who stands when nothing changes any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from poise.turn.fates import Fate, Outcome, ResolutionRequest
from poise.values.ids import RuleId, Subject
from poise.values.relationships import RelationKind
from poise_relations.parlant3_edges import Acting, Edges
from poise_relations.parties import Party


@attrs.frozen(eq=False)
class Settled:
    """How the rounds ended.

    Attributes:
        standing: Whatever nothing set aside.
        acting: Of these, all but the rules that ask.
        entailed: What was implied by an entailment, whether it stands or not.
        removed: What was taken out for good, with its outcome.
        asked_by: By what is in question, the rules that ask.
    """

    standing: Acting
    acting: Acting
    entailed: Acting
    removed: Mapping[Subject, Outcome]
    asked_by: Mapping[Subject, tuple[Subject, ...]]


def settle(request: ResolutionRequest, parties: Mapping[Subject, Party], edges: Edges) -> Settled:
    """Return how the rounds end, with the questions of those rules only that stand."""
    stopped: dict[Subject, Outcome] = {}
    while True:
        settled = _Rounds(request, parties, edges, stopped).settled()
        silent = [
            party
            for each, party in parties.items()
            if party.asks and each not in stopped and each not in settled.standing
        ]
        if not silent:
            return settled
        # What is itself in question may yet turn out not to be, once the other questions are gone.
        free = [party for party in silent if party.id not in settled.asked_by]
        stopped |= {party.id: _stopping(party, settled, edges) for party in free or silent}


def _stopping(asking: Party, settled: Settled, edges: Edges) -> Outcome:
    """Return what keeps a rule from asking what is meant."""
    aside = settled.removed.get(asking.id) or edges.unmet(asking, settled.acting)
    if aside is not None:
        return aside
    others = settled.asked_by[asking.id]
    return Outcome(asking.id, Fate.AMBIGUOUS, others, RelationKind.DISAMBIGUATION.value)


class _Rounds:
    def __init__(
        self,
        request: ResolutionRequest,
        parties: Mapping[Subject, Party],
        edges: Edges,
        stopped: Mapping[Subject, Outcome],
    ) -> None:
        self._request = request
        self._parties = parties
        self._edges = edges
        self._asking = frozenset(each for each, party in parties.items() if party.asks)
        self._asked_by = self._questions(self._asking - stopped.keys())
        self._removed: dict[Subject, Outcome] = dict(stopped)

    def _questions(self, asking: Iterable[Subject]) -> Mapping[Subject, tuple[Subject, ...]]:
        found: dict[Subject, tuple[Subject, ...]] = {}
        for head in sorted(asking):
            among = self._request.verdicts[RuleId(head)].among
            for each in self._request.snapshot.in_doubt(RuleId(head)):
                if not among or each in among:
                    found[each] = (*found.get(each, ()), head)
        return found

    def settled(self) -> Settled:
        entailed: Acting = frozenset()
        while True:
            standing = self._standing(entailed)
            acting = standing - self._asking
            taken = self._taken(standing, acting, entailed)
            if taken:
                self._removed |= taken
                entailed = frozenset()
                continue
            found = entailed | self._implied(acting)
            if found == entailed:
                return Settled(standing, acting, entailed, self._removed, self._asked_by)
            entailed = found

    def _standing(self, entailed: Acting) -> Acting:
        """Return those that lack nothing: take away until nothing more goes.

        A circle of dependencies stands while nothing in it lacks anything else, and so does a
        journey with the trigger that depends on it.
        """
        free = {
            each: party
            for each, party in self._parties.items()
            if each not in self._removed and each not in self._asked_by
        }
        found = {each for each, party in free.items() if party.is_given or each in entailed}
        matched = frozenset(found - self._asking)
        found |= {each for each, party in free.items() if self._edges.triggers(party, matched)}
        while True:
            acting = frozenset(found - self._asking)
            lost = {each for each in found if not self._stands(free[each], acting, entailed)}
            if not lost:
                return frozenset(found)
            found -= lost

    def _stands(self, party: Party, acting: Acting, entailed: Acting) -> bool:
        if party.journey is not None and party.journey.id not in acting:
            return False
        is_wanted = party.is_given or party.id in entailed
        if not is_wanted and not self._edges.triggers(party, acting):
            return False
        return self._edges.unmet(party, acting) is None

    def _taken(self, standing: Acting, acting: Acting, entailed: Acting) -> dict[Subject, Outcome]:
        """Return what this round removes. What loses still beats those below it."""
        taken: dict[Subject, Outcome] = {}
        for each in standing:
            outcome = self._edges.beaten(self._parties[each], acting)
            if outcome is not None:
                taken[each] = outcome
        self._take_nodes_along(taken, standing)
        beaten = dict(taken)
        for each in standing - beaten.keys() if beaten else ():
            outcome = self._edges.robbed(self._parties[each], acting, beaten)
            if outcome is not None:
                taken[each] = outcome
        self._take_nodes_along(taken, standing)
        top, topmost = highest(acting - taken.keys() - entailed, self._parties, self._edges)
        for each in standing - taken.keys() - entailed:
            if topmost and self._edges.number(self._parties[each]) < top:
                taken[each] = Outcome(each, Fate.LOWER_PRIORITY, topmost, "rank")
        return taken

    def _take_nodes_along(self, taken: dict[Subject, Outcome], standing: Acting) -> None:
        for each in standing - taken.keys() if taken else ():
            journey = self._parties[each].journey
            if journey is not None and journey.id in taken:
                taken[each] = likewise(each, taken[journey.id])

    def _implied(self, acting: Acting) -> Acting:
        return frozenset(
            each
            for each, party in self._parties.items()
            if not party.is_given and self._edges.implying(party, acting)
        )


def highest(
    subjects: Iterable[Subject], parties: Mapping[Subject, Party], edges: Edges
) -> tuple[int, tuple[Subject, ...]]:
    """Return the highest number among rules and journeys, and which of them have it.

    Nodes have their journey's, so they are left out.
    """
    numbers = {
        each: edges.number(parties[each]) for each in subjects if parties[each].journey is None
    }
    top = max(numbers.values(), default=0)
    return top, tuple(sorted(each for each, number in numbers.items() if number == top))


def likewise(node: Subject, journey: Outcome) -> Outcome:
    """Return the outcome of a node whose journey was set aside: by the same, if not by itself."""
    causes = tuple(each for each in journey.causes if each != node)
    if not causes:
        return Outcome(node, journey.fate, (journey.subject,), "journey")
    return attrs.evolve(journey, subject=node, causes=causes)
