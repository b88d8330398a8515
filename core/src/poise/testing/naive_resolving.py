"""A resolver so plain that it must be right: every definition read out over the whole catalog."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from poise.ports.matching import Resolver
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import JourneyId, NodeId, RuleId, Subject
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd

_APPLYING = (VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED)


class NaiveResolver(Resolver):
    """The well-founded model by its definition, over every subject and relation: small inputs.

    It shares no code with any other resolver, so agreeing with it means something. It works on
    *standing*, which is to be active or, for a rule judged ambiguous, to ask; see `_Turn.stand`.
    """

    def resolve(self, request: ResolutionRequest) -> Resolution:
        turn = _Turn(request)
        certain: frozenset[Subject] = frozenset()
        while True:
            possible = turn.stand(certain)
            found = turn.stand(possible)
            if found == certain:
                break
            certain = found
        outcomes = (turn.outcome(each, certain, possible) for each in sorted(turn.subjects))
        return Resolution({each.subject: each for each in outcomes if each is not None})


class _Turn:
    def __init__(self, request: ResolutionRequest) -> None:
        snapshot = request.snapshot
        self._request = request
        self._snapshot: CatalogSnapshot = snapshot
        self.subjects: tuple[Subject, ...] = (
            *snapshot.rules,
            *snapshot.journeys,
            *snapshot.journey_of,
        )
        self._nodes = frozenset(node for node in request.nodes if node in snapshot.journey_of)
        self._under_way = frozenset(
            each
            for each in (*request.journeys, *(snapshot.journey_of[node] for node in self._nodes))
            if each in snapshot.journeys
        )

    def stand(self, assumed: Collection[Subject]) -> frozenset[Subject]:
        """Return what stands when only `assumed` ones set others aside: the least such set."""
        found: set[Subject] = set()
        while True:
            new = {
                each
                for each in self.subjects
                if each not in found
                and self._is_wanted(each, found)
                and not self._unmet(each, found, assumed)
                and not self._through(RelationKind.EXCLUSION, each, assumed)
                and not self._through(RelationKind.PRIORITY, each, assumed)
                and not self._higher(each, assumed)
                and not self._asking(each, assumed)
            }
            if not new:
                return frozenset(found)
            found |= new

    def outcome(
        self, each: Subject, certain: Collection[Subject], possible: Collection[Subject]
    ) -> Outcome | None:
        if each in certain:
            return self._standing(each, certain)
        if each in possible:
            cycle = sorted(set(possible) - set(certain))
            return Outcome(each, Fate.CONFLICT, tuple(cycle), "cycle")
        journey = self._snapshot.journey_of.get(NodeId(each))
        if journey is not None:
            if each not in self._nodes:
                return None
            if journey not in possible:
                own = self.outcome(journey, certain, possible)
                return own and Outcome(each, own.fate, (journey,), "journey")
        is_wanted = journey is not None or self._is_wanted(each, certain)
        aside = self._aside(each, certain, possible, is_wanted=is_wanted)
        return aside or self._left_alone(each, certain)

    def _standing(self, each: Subject, certain: Collection[Subject]) -> Outcome:
        if self._is_ambiguous(each):
            return Outcome(each, Fate.AMBIGUOUS)
        if self._applies(each) or each in self._under_way or each in self._nodes:
            return Outcome(each, Fate.MATCHED)
        triggers = self._triggers(each, certain)
        if triggers:
            return Outcome(each, Fate.IMPLIED, triggers, "trigger")
        return Outcome(each, Fate.IMPLIED, self._implying(each, certain), "entailment")

    def _aside(
        self,
        each: Subject,
        certain: Collection[Subject],
        possible: Collection[Subject],
        *,
        is_wanted: bool,
    ) -> Outcome | None:
        verdict = self._request.verdicts.get(RuleId(each))
        shown = each in self._request.shown and verdict is None
        is_open = shown or (
            verdict is not None and verdict.kind in (VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS)
        )
        excluding = self._through(RelationKind.EXCLUSION, each, certain)
        asking = self._asking(each, certain)
        unmet = self._unmet(each, possible, certain)
        outranking = self._through(RelationKind.PRIORITY, each, certain)
        higher = self._higher(each, certain)
        if excluding and (is_wanted or is_open):
            return Outcome(each, Fate.EXCLUDED, excluding, "exclusion")
        if asking and is_wanted:
            return Outcome(each, Fate.AMBIGUOUS, asking, "disambiguation")
        if unmet and is_wanted:
            plain = [one for one in unmet if one.kind is RelationKind.DEPENDENCY]
            fate = Fate.UNMET_DEPENDENCY_ALL if plain else Fate.UNMET_DEPENDENCY_ANY
            kind = RelationKind.DEPENDENCY if plain else RelationKind.DEPENDENCY_ANY
            lacking = {
                target
                for relation in plain or unmet
                for target in self._lacking(relation, each, certain, possible)
            }
            return Outcome(each, fate, tuple(sorted(lacking)), kind.value)
        if outranking and (is_wanted or is_open):
            return Outcome(each, Fate.OUTRANKED, outranking, "priority")
        if higher and (is_wanted or is_open):
            return Outcome(each, Fate.LOWER_PRIORITY, higher, "rank")
        return None

    def _left_alone(self, each: Subject, certain: Collection[Subject]) -> Outcome | None:
        """Return what becomes of one that neither stands nor is set aside."""
        verdict = self._request.verdicts.get(RuleId(each))
        if each in self._snapshot.journeys:
            return Outcome(each, Fate.NOT_APPLICABLE) if each in self._under_way else None
        if verdict is None and each not in self._request.shown:
            hushed = self._implying(each, certain, quiet=True)
            return Outcome(each, Fate.ALREADY_APPLIED, hushed, "entailment") if hushed else None
        if not self._is_on(each):
            return Outcome(each, Fate.NOT_APPLICABLE)
        if verdict is None:
            return Outcome(each, Fate.IN_CONTEXT)
        return Outcome(
            each,
            {
                VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
                VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
                VerdictKind.UNDECIDED: Fate.UNDECIDED,
            }[verdict.kind],
        )

    # What makes a subject wanted

    def _is_wanted(self, each: Subject, found: Collection[Subject]) -> bool:
        if each in self._snapshot.journey_of:
            return each in self._nodes and self._snapshot.journey_of[NodeId(each)] in found
        if not self._is_on(each):
            return False
        if self._applies(each) or self._is_ambiguous(each) or each in self._under_way:
            return True
        return bool(self._triggers(each, found) or self._implying(each, found))

    def _is_on(self, each: Subject) -> bool:
        if each in self._snapshot.rules:
            return self._snapshot.rules[RuleId(each)].enabled
        journey = self._snapshot.journey_of.get(NodeId(each), JourneyId(each))
        return self._snapshot.journeys[journey].enabled

    def _applies(self, each: Subject) -> bool:
        verdict = self._request.verdicts.get(RuleId(each))
        return verdict is not None and verdict.kind in _APPLYING and self._is_on(each)

    def _is_ambiguous(self, each: Subject) -> bool:
        verdict = self._request.verdicts.get(RuleId(each))
        return verdict is not None and verdict.kind is VerdictKind.AMBIGUOUS and self._is_on(each)

    def _active(self, standing: Collection[Subject]) -> frozenset[Subject]:
        return frozenset(each for each in standing if not self._is_ambiguous(each))

    def _triggers(self, each: Subject, standing: Collection[Subject]) -> tuple[Subject, ...]:
        journey = self._snapshot.journeys.get(JourneyId(each))
        triggers = journey.triggers if journey is not None else ()
        return tuple(sorted(self._active(standing).intersection(triggers)))

    def _implying(
        self, each: Subject, standing: Collection[Subject], *, quiet: bool = False
    ) -> tuple[Subject, ...]:
        if each in self._snapshot.journey_of or not self._is_on(each) or self._is_ambiguous(each):
            return ()
        rule = self._snapshot.rules.get(RuleId(each))
        verdict = self._request.verdicts.get(RuleId(each))
        if rule is not None and rule.groups and not rule.groups & self._request.groups:
            return ()
        if verdict and verdict.from_code and verdict.kind is VerdictKind.DOES_NOT:
            return ()
        relations = (
            relation
            for relation in self._snapshot.relations
            if relation.kind is RelationKind.ENTAILMENT
            and (relation.always or not self._is_quiet(each)) is not quiet
        )
        return self._sources(relations, each, standing)

    def _is_quiet(self, each: Subject) -> bool:
        rule = self._snapshot.rules.get(RuleId(each))
        if rule is None:
            return False
        verdict = self._request.verdicts.get(rule.id)
        if verdict and verdict.kind is VerdictKind.ALREADY_APPLIED:
            return True
        annotation = self._snapshot.annotations.get(rule.id)
        continuous = rule.continuous
        if continuous is None:
            continuous = annotation is not None and annotation.continuous
        return rule.id in self._request.applied and rule.track and not continuous

    # What sets a subject aside

    def _through(
        self, kind: RelationKind, each: Subject, standing: Collection[Subject]
    ) -> tuple[Subject, ...]:
        relations = (one for one in self._snapshot.relations if one.kind is kind)
        return self._sources(relations, each, standing)

    def _sources(
        self, relations: Iterable[Relation], each: Subject, standing: Collection[Subject]
    ) -> tuple[Subject, ...]:
        """Return the active ones through which one of `relations` acts on a subject."""
        active = self._active(standing)
        found: set[Subject] = set()
        for relation in relations:
            if each not in self._members(relation.target):
                continue
            every = isinstance(relation.source, TagEnd) and relation.source.every
            carriers = set(self._members(relation.source))
            needed = {one for one in carriers if not every or self._is_on(one)} - {each}
            if every and relation.kind is RelationKind.ENTAILMENT and each in carriers:
                continue  # it would be one of "all" that imply it, and it is not yet there
            if needed and needed <= active if every else needed & active:
                found |= carriers & active - {each}
        return tuple(sorted(found))

    def _higher(self, each: Subject, standing: Collection[Subject]) -> tuple[Subject, ...]:
        """Return the active subjects of the same rank, where one has a higher priority."""
        rank, priority = self._place(each)
        if rank is None:
            return ()
        of_rank = [one for one in self._active(standing) if self._place(one)[0] == rank]
        top = max((self._place(one)[1] for one in of_rank), default=priority)
        if top <= priority:
            return ()
        return tuple(sorted(one for one in of_rank if self._place(one)[1] == top))

    def _place(self, each: Subject) -> tuple[str | None, int]:
        thing = self._snapshot.rules.get(RuleId(each)) or self._snapshot.journeys.get(
            JourneyId(each)
        )
        return (thing.rank, thing.priority) if thing is not None else (None, 0)

    def _asking(self, each: Subject, standing: Collection[Subject]) -> tuple[Subject, ...]:
        """Return the rules that ask whether it is this subject that is meant."""
        found: set[Subject] = set()
        for relation in self._snapshot.relations:
            if relation.kind is not RelationKind.DISAMBIGUATION:
                continue
            if each not in self._members(relation.target):
                continue
            for head in self._members(relation.source):
                verdict = self._request.verdicts.get(RuleId(head))
                if head == each or head not in standing or not self._is_ambiguous(head):
                    continue
                if verdict is not None and (not verdict.among or each in verdict.among):
                    found.add(head)
        return tuple(sorted(found))

    # What a subject needs

    def _unmet(
        self, each: Subject, found: Collection[Subject], assumed: Collection[Subject]
    ) -> list[Relation]:
        unmet: list[Relation] = []
        groups: dict[tuple[End, str | None], list[Relation]] = {}
        for relation in self._snapshot.relations:
            if each not in self._members(relation.source) or self._is_circular(relation, each):
                continue
            if relation.kind is RelationKind.DEPENDENCY:
                if not self._is_met(relation, each, found, assumed):
                    unmet.append(relation)
            elif relation.kind is RelationKind.DEPENDENCY_ANY:
                groups.setdefault((relation.source, relation.group), []).append(relation)
        for group in groups.values():
            if not any(self._is_met(one, each, found, assumed) for one in group):
                unmet.extend(group)
        return unmet

    def _is_circular(self, relation: Relation, each: Subject) -> bool:
        """Say whether it would depend on itself; a node needs its own journey in any case."""
        members = set(self._members(relation.target))
        journey = self._snapshot.journey_of.get(NodeId(each))
        every = isinstance(relation.target, TagEnd) and relation.target.every
        if journey in members and not every:
            return True
        return bool(members) and members <= {each, journey}

    def _others(self, relation: Relation, each: Subject) -> set[Subject]:
        own = {each, self._snapshot.journey_of.get(NodeId(each))}
        return {one for one in self._members(relation.target) if one not in own}

    def _is_met(
        self,
        relation: Relation,
        each: Subject,
        found: Collection[Subject],
        assumed: Collection[Subject],
    ) -> bool:
        targets = self._others(relation, each)
        holding = {one for one in targets if self._holds(one, relation, found, assumed)}
        if isinstance(relation.target, TagEnd) and relation.target.every:
            return bool(holding) and {one for one in targets if self._is_on(one)} <= holding
        return bool(holding)

    def _holds(
        self,
        target: Subject,
        relation: Relation,
        found: Collection[Subject],
        assumed: Collection[Subject],
    ) -> bool:
        if relation.mode is DependencyMode.THIS_SESSION and (
            target in self._request.confirmed
            or (
                self._applies(target) and not self._through(RelationKind.EXCLUSION, target, assumed)
            )
        ):
            return True
        active = self._active(found)
        nodes = self._nodes_of(target)
        return target in active and (not nodes or bool(active & nodes))

    def _nodes_of(self, each: Subject) -> frozenset[NodeId]:
        return frozenset(node for node in self._nodes if self._snapshot.journey_of[node] == each)

    def _lacking(
        self,
        relation: Relation,
        each: Subject,
        certain: Collection[Subject],
        possible: Collection[Subject],
    ) -> Collection[Subject]:
        """Return what would meet `relation` if it were active; of a tag, best what is enabled."""
        lacking: set[Subject] = set()
        for one in self._others(relation, each):
            if not self._holds(one, relation, certain, possible):
                nodes = self._nodes_of(one)
                lacking |= nodes if nodes and one in certain else {one}
        return {one for one in lacking if self._is_on(one)} or lacking

    def _members(self, end: End) -> tuple[Subject, ...]:
        return self._snapshot.members(end)
