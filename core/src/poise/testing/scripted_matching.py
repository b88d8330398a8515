"""A matcher and a planner that follow a script, and a resolver so plain that it must be right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from poise.ports.matching import Matcher, Planner, Resolver
from poise.turn.candidates import Candidate
from poise.turn.context import Plan, TurnContext
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.models import Question
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.ids import RuleId
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd


class ScriptedMatcher(Matcher):
    """Claims every rule and answers from a script; what the script leaves out is undecided.

    Args:
        script: The verdict's kind, by rule.
        asks: Ask one question per candidate instead, and conclude from the answers.
    """

    name = "scripted"

    def __init__(
        self, script: Mapping[RuleId, VerdictKind] | None = None, *, asks: bool = False
    ) -> None:
        self._script = script or {}
        self._asks = asks

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return True

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        if self._asks:
            questions = tuple(Question(each.rule.id, each.rule.name) for each in candidates)
            return Inquiry("Answer the questions.", questions)
        return [
            Verdict(each.rule.id, self._script.get(each.rule.id, VerdictKind.UNDECIDED), self.name)
            for each in candidates
        ]

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        kinds = {True: VerdictKind.APPLIES, False: VerdictKind.DOES_NOT}
        found = ((each.rule.id, answers.get(each.rule.id)) for each in candidates)
        return [
            Verdict(
                rule,
                VerdictKind.UNDECIDED if answer.yes is None else kinds[answer.yes],
                f"{self.name}/{answer.judged_by}",
                answer.probability,
            )
            for rule, answer in found
        ]


class ScriptedPlanner(Planner):
    """Plans every turn alike, at the turn's own effort."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan or Plan()

    async def plan(self, turn: TurnContext) -> Plan:
        return attrs.evolve(self._plan, effort=turn.effort)


class NaiveResolver(Resolver):
    """The well-founded model by its definition, over every rule and every relation: small inputs.

    It shares no code with any other resolver, so agreeing with it means something.
    """

    def resolve(self, request: ResolutionRequest) -> Resolution:
        reading = _Reading(request)
        certain: frozenset[RuleId] = frozenset()
        while True:
            possible = reading.what_follows(certain)
            found = reading.what_follows(possible)
            if found == certain:
                break
            certain = found
        outcomes = (
            reading.outcome(rule, certain, possible) for rule in sorted(request.snapshot.rules)
        )
        return Resolution({each.subject: each for each in outcomes if each is not None})


class _Reading:
    def __init__(self, request: ResolutionRequest) -> None:
        self._request = request
        self._rules = request.snapshot.rules
        self._relations = request.snapshot.relations

    def what_follows(self, assumed: frozenset[RuleId]) -> frozenset[RuleId]:
        """Return the active rules when only `assumed` ones outrank and exclude."""
        found: set[RuleId] = set()
        while True:
            new = {
                rule
                for rule in self._rules
                if rule not in found
                and self._is_wanted(rule, found)
                and not self._unmet(rule, found, assumed)
                and not self._acting(RelationKind.EXCLUSION, rule, assumed)
                and not self._acting(RelationKind.PRIORITY, rule, assumed)
            }
            if not new:
                return frozenset(found)
            found |= new

    def outcome(
        self, rule: RuleId, certain: frozenset[RuleId], possible: frozenset[RuleId]
    ) -> Outcome | None:
        verdict = self._request.verdicts.get(rule)
        implied = self._implying(rule, certain)
        if rule in certain:
            if self._applies(rule):
                return Outcome(rule, Fate.MATCHED)
            return Outcome(rule, Fate.IMPLIED, implied, "entailment")
        if rule in possible:
            return Outcome(rule, Fate.CONFLICT, tuple(sorted(possible - certain)), "cycle")
        is_candidate = verdict is not None or rule in self._request.shown
        is_wanted = self._applies(rule) or bool(implied)
        is_open = is_candidate and (
            verdict is None or verdict.kind in (VerdictKind.UNDECIDED, VerdictKind.AMBIGUOUS)
        )
        excluding = self._acting(RelationKind.EXCLUSION, rule, certain)
        outranking = self._acting(RelationKind.PRIORITY, rule, certain)
        unmet = self._unmet(rule, possible, certain)
        if excluding and (is_wanted or is_open):
            return Outcome(rule, Fate.EXCLUDED, excluding, "exclusion")
        if unmet and is_wanted:
            plain = [each for each in unmet if each.kind is RelationKind.DEPENDENCY]
            fate = Fate.UNMET_DEPENDENCY_ALL if plain else Fate.UNMET_DEPENDENCY_ANY
            lacking = {
                target
                for relation in plain or unmet
                for target in self._lacking(relation, rule, certain, possible)
            }
            kind = RelationKind.DEPENDENCY if plain else RelationKind.DEPENDENCY_ANY
            return Outcome(rule, fate, tuple(sorted(lacking)), kind.value)
        if outranking and (is_wanted or is_open):
            return Outcome(rule, Fate.OUTRANKED, outranking, "priority")
        if is_candidate:
            return Outcome(rule, self._plain_fate(rule, verdict))
        hushed = self._implying(rule, certain, quiet=True)
        return Outcome(rule, Fate.ALREADY_APPLIED, hushed, "entailment") if hushed else None

    def _plain_fate(self, rule: RuleId, verdict: Verdict | None) -> Fate:
        if not self._rules[rule].enabled:
            return Fate.NOT_APPLICABLE
        if verdict is None:
            return Fate.IN_CONTEXT
        return {
            VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
            VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
            VerdictKind.AMBIGUOUS: Fate.AMBIGUOUS,
            VerdictKind.UNDECIDED: Fate.UNDECIDED,
        }[verdict.kind]

    def _applies(self, rule: RuleId) -> bool:
        verdict = self._request.verdicts.get(rule)
        return (
            self._rules[rule].enabled
            and verdict is not None
            and verdict.kind in (VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED)
        )

    def _is_wanted(self, rule: RuleId, found: Collection[RuleId]) -> bool:
        return self._applies(rule) or bool(self._implying(rule, found))

    def _implying(
        self, rule: RuleId, active: Collection[RuleId], *, quiet: bool = False
    ) -> tuple[RuleId, ...]:
        verdict = self._request.verdicts.get(rule)
        groups = self._rules[rule].groups
        if not self._rules[rule].enabled or (groups and not groups & self._request.groups):
            return ()
        if verdict and verdict.from_code and verdict.kind is VerdictKind.DOES_NOT:
            return ()
        return self._sources(
            (
                relation
                for relation in self._relations
                if relation.kind is RelationKind.ENTAILMENT
                and (relation.always or not self._is_quiet(rule)) is not quiet
            ),
            rule,
            active,
        )

    def _is_quiet(self, rule: RuleId) -> bool:
        verdict = self._request.verdicts.get(rule)
        if verdict and verdict.kind is VerdictKind.ALREADY_APPLIED:
            return True
        value = self._rules[rule]
        annotation = self._request.snapshot.annotations.get(rule)
        continuous = value.continuous
        if continuous is None:
            continuous = annotation is not None and annotation.continuous
        return rule in self._request.applied and value.track and not continuous

    def _acting(
        self, kind: RelationKind, rule: RuleId, active: Collection[RuleId]
    ) -> tuple[RuleId, ...]:
        return self._sources(
            (relation for relation in self._relations if relation.kind is kind), rule, active
        )

    def _sources(
        self, relations: Iterable[Relation], rule: RuleId, active: Collection[RuleId]
    ) -> tuple[RuleId, ...]:
        """Return the active rules through which one of `relations` acts on `rule`."""
        found: set[RuleId] = set()
        for relation in relations:
            if rule not in self._members(relation.target):
                continue
            every = isinstance(relation.source, TagEnd) and relation.source.every
            carriers = {
                each
                for each in self._members(relation.source)
                if each != rule and (not every or self._rules[each].enabled)
            }
            # A rule that is to be implied can't be one of "all" that imply it: it is not yet there.
            needed = (
                carriers | ({rule} & set(self._members(relation.source)))
                if every and relation.kind is RelationKind.ENTAILMENT
                else carriers
            )
            acts = needed <= set(active) if every else bool(carriers & set(active))
            if acts:
                found |= carriers & set(active)
        return tuple(sorted(found))

    def _unmet(
        self, rule: RuleId, found: Collection[RuleId], assumed: Collection[RuleId]
    ) -> list[Relation]:
        unmet: list[Relation] = []
        groups: dict[tuple[End, str | None], list[Relation]] = {}
        for relation in self._relations:
            if rule not in self._members(relation.source):
                continue
            if self._members(relation.target) == (rule,):
                continue  # through a tag it would depend on itself alone
            if relation.kind is RelationKind.DEPENDENCY:
                if not self._is_met(relation, rule, found, assumed):
                    unmet.append(relation)
            elif relation.kind is RelationKind.DEPENDENCY_ANY:
                groups.setdefault((relation.source, relation.group), []).append(relation)
        for group in groups.values():
            if not any(self._is_met(each, rule, found, assumed) for each in group):
                unmet.extend(group)
        return unmet

    def _is_met(
        self,
        relation: Relation,
        rule: RuleId,
        found: Collection[RuleId],
        assumed: Collection[RuleId],
    ) -> bool:
        targets = [each for each in self._members(relation.target) if each != rule]
        holding = [each for each in targets if self._holds(each, relation, found, assumed)]
        if isinstance(relation.target, TagEnd) and relation.target.every:
            enabled = {each for each in targets if self._rules[each].enabled}
            return bool(holding) and enabled <= set(holding)
        return bool(holding)

    def _holds(
        self,
        target: RuleId,
        relation: Relation,
        found: Collection[RuleId],
        assumed: Collection[RuleId],
    ) -> bool:
        if target in found:
            return True
        if relation.mode is DependencyMode.THIS_TURN:
            return False
        return target in self._request.confirmed or (
            self._applies(target) and not self._acting(RelationKind.EXCLUSION, target, assumed)
        )

    def _lacking(
        self,
        relation: Relation,
        rule: RuleId,
        certain: Collection[RuleId],
        possible: Collection[RuleId],
    ) -> Collection[RuleId]:
        """Return what would meet `relation` if it were active; of a tag, best what is enabled."""
        lacking = {
            each
            for each in self._members(relation.target)
            if each != rule and not self._holds(each, relation, certain, possible)
        }
        return {each for each in lacking if self._rules[each].enabled} or lacking

    def _members(self, end: End) -> tuple[RuleId, ...]:
        return self._request.snapshot.members(end)
