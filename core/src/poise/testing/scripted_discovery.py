"""Discovery and annotation by script: shared words bring a rule up, in every run alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from poise.ports.discovery import Annotator, Discoverer, Progress
from poise.turn.candidates import Budget, Sighting
from poise.turn.context import TurnContext
from poise.turn.models import TurnModels
from poise.turn.queries import Query
from poise.values.catalog import Annotation, CatalogSnapshot
from poise.values.ids import IndexId, RuleId
from poise.values.rules import Rule, RuleKind, WayIn, Weight

THRESHOLD = 2 / 3
"""The share of a phrase's words that a text must hold."""

_LONGER = 4  # letters from which a word says what a text is about


class ScriptedAnnotator(Annotator):
    """Says what the author's flags say."""

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        return {
            rule.id: Annotation(
                way_in=rule.way_in,
                continuous=bool(rule.continuous),
                customer_dependent=bool(rule.customer_dependent),
                agent_intention=bool(rule.agent_intention),
            )
            for rule in rules
        }


class ScriptedDiscoverer(Discoverer):
    """Sights a rule when a text holds enough of the words of one of its phrases.

    Phrases are a rule's signals; an observation also takes those of what depends on it. A rule
    without any is sighted by a text of whose longer words half are its own. The share of words is
    score and probability in one.

    Args:
        script: By a piece of text, the names of the rules that a text with it brings up; words
            then count for nothing.
        models: Embed phrases and texts through these models, as a real discoverer does, so that a
            test sees what is asked and what comes of a failure; the vectors are not used.

    Attributes:
        prepared: The version of every snapshot that was indexed, oldest first.
    """

    def __init__(
        self,
        script: Mapping[str, Sequence[str]] | None = None,
        *,
        models: TurnModels | None = None,
    ) -> None:
        self.prepared: list[str] = []
        self._script = script
        self._models = models
        self._indexes: dict[IndexId, _Index] = {}

    async def prepare(self, snapshot: CatalogSnapshot, progress: Progress) -> IndexId:
        index_id = IndexId(f"scripted-{snapshot.version}")
        if index_id not in self._indexes:
            index = _Index.of(snapshot, self._script)
            progress.report("reading rules", 0, len(index.phrases))
            texts = [text for each in index.phrases.values() for text in each]
            if self._models is not None and texts:
                await self._models.embed(texts)
            progress.report("reading rules", len(index.phrases), len(index.phrases))
            self._indexes[index_id] = index
            self.prepared.append(snapshot.version)
        return index_id

    async def discover(self, turn: TurnContext, queries: Sequence[Query]) -> Sequence[Sighting]:
        index = self._indexes[turn.index]
        if self._models is not None:
            await turn.models.embed([query.text for query in queries])
        best = {
            rule: index.sighting(rule, queries, newer_than=turn.state.pruned.get(rule, -1))
            for rule in index.phrases
        }
        in_play = {
            *turn.state.working_set,
            *(candidate.rule.id for candidate in turn.candidates),
            *turn.snapshot.bypass,
        }
        hits = {rule for rule, sighting in best.items() if sighting.is_hit}
        wanted = set(turn.snapshot.with_needs(hits | in_play)) & best.keys()
        ranked = sorted((best[rule] for rule in wanted), key=lambda each: (-each.margin, each.rule))
        new = [each for each in ranked if each.is_hit and each.rule not in in_play]
        left_out = {each.rule for each in new[turn.plan.admit_limit :]}
        return [attrs.evolve(each, over_budget=each.rule in left_out) for each in ranked]

    def prune(self, turn: TurnContext, budget: Budget) -> Sequence[RuleId]:
        rules = turn.snapshot.rules
        members = turn.state.working_set
        active = set(turn.resolution.active)
        oldest_first = sorted(
            (rule for rule in members if rule not in active),
            key=lambda rule: (
                rule in rules and rules[rule].weight is Weight.HIGH,
                members[rule].last_hit,
                rule,
            ),
        )
        sizes = {rule: _size(rules.get(rule)) for rule in members}
        dropped: list[RuleId] = []
        for rule in oldest_first:
            fits = len(members) - len(dropped) <= budget.rules
            if fits and (budget.tokens is None or sum(sizes.values()) <= budget.tokens):
                break
            dropped.append(rule)
            del sizes[rule]
        return dropped

    async def explain(
        self, rule: RuleId, snapshot: CatalogSnapshot, queries: Sequence[Query]
    ) -> Sighting | None:
        index = _Index.of(snapshot, self._script)
        return index.sighting(rule, queries) if rule in index.phrases else None


@attrs.frozen
class _Index:
    """The phrases of the rules that a text can bring up."""

    phrases: Mapping[RuleId, Mapping[str, frozenset[str]]]
    own: Mapping[RuleId, frozenset[str]]
    anti: Mapping[RuleId, Sequence[frozenset[str]]]
    script: Mapping[str, Sequence[str]] | None
    names: Mapping[RuleId, str]

    @classmethod
    def of(
        cls, snapshot: CatalogSnapshot, script: Mapping[str, Sequence[str]] | None = None
    ) -> _Index:
        rules = [
            rule
            for rule in snapshot.rules.values()
            if rule.enabled and _way_in(rule, snapshot) is not WayIn.DEPENDENCY
        ]
        return cls(
            phrases={
                rule.id: {text: _words(text) for text in _phrases(rule, snapshot)} for rule in rules
            },
            own={rule.id: _words(rule.text) for rule in rules},
            anti={rule.id: [_words(text) for text in rule.anti_signals] for rule in rules},
            script=script,
            names={rule.id: rule.name for rule in rules},
        )

    def sighting(self, rule: RuleId, queries: Sequence[Query], *, newer_than: int = -1) -> Sighting:
        """Return how the texts that are newer than an offset score, the best one counting."""
        best = Sighting(rule, -THRESHOLD, 0.0, THRESHOLD, 0.0)
        for query in queries:
            if query.offset <= newer_than:
                continue
            for signal, score in self._scores(rule, query):
                if best.query is None or score > best.score:
                    margin = score - THRESHOLD
                    best = Sighting(rule, margin, score, THRESHOLD, score, query, signal)
        return best

    def _scores(self, rule: RuleId, query: Query) -> Iterable[tuple[str, float]]:
        if self.script is not None:
            for piece, names in self.script.items():
                if piece in query.text and self.names[rule] in names:
                    yield piece, 1.0
            return
        said = _words(query.text)
        near_miss = any(anti and anti <= said for anti in self.anti[rule])
        phrases = self.phrases[rule]
        if not phrases:
            longer = {word for word in said if len(word) >= _LONGER}
            share = len(longer & self.own[rule]) / len(longer) if longer else 0.0
            yield self.names[rule], 0.0 if near_miss else min(1.0, 2 * THRESHOLD * share)
        for signal, words in phrases.items():
            share = len(words & said) / len(words) if words else 0.0
            yield signal, 0.0 if near_miss else share


def _way_in(rule: Rule, snapshot: CatalogSnapshot) -> WayIn:
    annotation = snapshot.annotations.get(rule.id)
    return annotation.way_in if annotation else rule.way_in


def _phrases(rule: Rule, snapshot: CatalogSnapshot) -> Sequence[str]:
    annotation = snapshot.annotations.get(rule.id)
    found = [*rule.signals, *(annotation.signals if annotation else ())]
    if rule.kind is RuleKind.OBSERVATION and not rule.own_signals_only:
        for dependent in snapshot.dependents_of(rule.id):
            found += snapshot.rules[dependent].signals
    return tuple(dict.fromkeys(found))


def _words(text: str) -> frozenset[str]:
    spaced = "".join(each if each.isalnum() else " " for each in text.lower())
    return frozenset(spaced.split())


def _size(rule: Rule | None) -> int:
    return 0 if rule is None else len(rule.text.split())
