"""Conformance suites for discovery and annotation: fill in `subject` and inherit."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from poise.ports.discovery import Annotator, Discoverer
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Budget, Candidate, Sighting
from poise.turn.context import Plan, TurnContext
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.queries import Query, QueryKind
from poise.turn.state import Membership, SessionState
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import ALWAYS, Rule, WayIn, Weight

_TOPICS = {
    "lost card": [
        "I can't find my debit card",
        "my card has gone missing",
        "I lost my bank card yesterday",
        "someone took my card out of my bag",
        "my purse with the card in it was stolen",
        "I left my card at a restaurant",
    ],
    "opening hours": [
        "when do you open on Saturdays",
        "what are your opening hours",
        "is the branch open at lunchtime",
        "how late are you open tonight",
        "do you close on public holidays",
        "until when can I come by today",
    ],
    "exchange rate": [
        "what is the exchange rate for euros",
        "how many dollars do I get for my pounds",
        "can you convert yen for me",
        "which rate do you use for foreign currency",
        "I want to change money before my trip",
        "is your euro rate better today",
    ],
    "mortgage": [
        "I want to buy a house and need a mortgage",
        "what interest would a home loan have",
        "how much can I borrow for a flat",
        "can I repay my mortgage early",
        "do you finance a house that is not built yet",
        "how long does a mortgage application take",
    ],
    "password": [
        "I forgot the password of my account",
        "the app does not accept my login",
        "how do I reset my password",
        "I can't sign in on my new phone",
        "my account is locked after three attempts",
        "send me a new password please",
    ],
}
_UNRELATED = "zebra xylophone quartz"


class _NoProgress:
    def report(self, phase: str, done: int, total: int) -> None:
        """Do nothing."""


def _catalog() -> CatalogSnapshot:
    topic = observation("about cards", own_signals_only=True, signals=["my bank card, please"])
    rules = [policy(title, signals=signals) for title, signals in _TOPICS.items()]
    always = policy("steering", matcher=ALWAYS)
    needs = Relation(RelationKind.DEPENDENCY, rules[0].id, topic.id)
    return catalog_of([*rules, topic, always], [needs])


def _query(text: str, offset: int = 0) -> Query:
    return Query(QueryKind.MESSAGE, text, offset)


def _state(members: Sequence[Rule], hits: Sequence[int] | None = None) -> SessionState:
    at = hits or range(len(members))
    return SessionState(
        working_set={
            rule.id: Membership(since=hit, last_hit=hit)
            for rule, hit in zip(members, at, strict=True)
        }
    )


class DiscovererConformance:
    """What every `Discoverer` promises, on a small catalog of plain topics."""

    @pytest.fixture
    def subject(self) -> Discoverer:
        raise NotImplementedError("fill in the fixture `subject`: return your discoverer")

    @pytest.fixture
    def snapshot(self) -> CatalogSnapshot:
        return _catalog()

    @pytest.fixture
    def titled(self, snapshot: CatalogSnapshot) -> dict[str, Rule]:
        return {rule.name: rule for rule in snapshot.rules.values()}

    @pytest.fixture
    async def turn(self, subject: Discoverer, snapshot: CatalogSnapshot) -> TurnContext:
        index = await subject.prepare(snapshot, _NoProgress())
        return turn_of(snapshot, "hello", index=index)

    # -- the index --

    @pytest.mark.anyio
    async def test_equal_content_gives_an_equal_index(
        self, subject: Discoverer, snapshot: CatalogSnapshot
    ) -> None:
        first = await subject.prepare(snapshot, _NoProgress())
        second = await subject.prepare(_catalog(), _NoProgress())

        assert first == second, "equal content and embedder give an equal index id"

    @pytest.mark.anyio
    async def test_another_catalog_gets_another_index_and_the_first_still_serves(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        more = policy("parking", signals=["where can I park my car", "is there a garage"])
        grown = catalog_of([*turn.snapshot.rules.values(), more], turn.snapshot.relations)

        index = await subject.prepare(grown, _NoProgress())
        seen = await subject.discover(turn, [_query("what are your opening hours")])

        assert index != turn.index, "a changed catalog has an index of its own"
        assert titled["opening hours"].id in _hits(seen), "running turns keep their own index"
        assert more.id not in {each.rule for each in seen}, "a rule of another index was sighted"

    @pytest.mark.anyio
    async def test_an_empty_catalog_is_prepared_and_finds_nothing(
        self, subject: Discoverer
    ) -> None:
        empty = catalog_of()
        index = await subject.prepare(empty, _NoProgress())

        assert not await subject.discover(turn_of(empty, "hi", index=index), [_query("hi")])

    # -- sightings --

    @pytest.mark.anyio
    @pytest.mark.parametrize("title", _TOPICS)
    async def test_a_rules_own_signal_brings_it_up_and_says_by_what(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule], title: str
    ) -> None:
        query = _query(_TOPICS[title][0], offset=4)

        seen = await subject.discover(turn, [query])
        found = _of(titled[title].id, seen)

        assert found.is_hit, f"{query.text!r} is a signal of {title!r} and was no hit: {found}"
        assert found.query == query, "a hit names the text that scored"
        assert found.signal, "a hit names the rule's phrase nearest to the text"
        assert 0.0 <= found.probability <= 1.0, f"no probability: {found.probability}"
        assert found.margin == pytest.approx(found.score - found.threshold, abs=1e-4), (
            "the margin is score minus threshold"
        )

    @pytest.mark.anyio
    async def test_sightings_come_best_first_and_once_per_rule(
        self, subject: Discoverer, turn: TurnContext
    ) -> None:
        seen = await subject.discover(turn, [_query(texts[1]) for texts in _TOPICS.values()])

        margins = [each.margin for each in seen]
        rules = [each.rule for each in seen]
        assert margins == sorted(margins, reverse=True), f"not best margin first: {margins}"
        assert len(set(rules)) == len(rules), "a rule has exactly one sighting, of its best text"

    @pytest.mark.anyio
    async def test_what_bypasses_discovery_is_scored_whatever_its_margin(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        expected = await subject.explain(titled["steering"].id, turn.snapshot, [_query(_UNRELATED)])

        seen = {each.rule for each in await subject.discover(turn, [_query(_UNRELATED)])}

        assert (titled["steering"].id in seen) == (expected is not None), (
            "a rule of the index that bypasses discovery is in play, so it has a sighting"
        )

    @pytest.mark.anyio
    async def test_the_working_set_and_candidates_are_scored_whatever_their_margin(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        member, candidate = titled["mortgage"], titled["password"]
        turn = attrs.evolve(turn, state=_state([member]), candidates=(Candidate(candidate),))

        seen = {each.rule for each in await subject.discover(turn, [_query(_UNRELATED)])}

        assert member.id in seen, "a member of the working set has no sighting: can't be renewed"
        assert candidate.id in seen, "a candidate of an earlier pass has no sighting"

    @pytest.mark.anyio
    async def test_what_a_sighted_rule_needs_is_scored_with_it(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        seen = await subject.discover(turn, [_query(_TOPICS["lost card"][0])])

        assert titled["about cards"].id in {each.rule for each in seen}, (
            "what a hit depends on comes up with it, whatever its margin"
        )

    @pytest.mark.anyio
    async def test_new_hits_beyond_the_admit_limit_are_over_budget(
        self, subject: Discoverer, turn: TurnContext
    ) -> None:
        turn = attrs.evolve(turn, plan=Plan(admit_limit=2))

        seen = await subject.discover(turn, [_query(texts[0]) for texts in _TOPICS.values()])
        hits = [each for each in seen if each.is_hit and each.rule not in turn.snapshot.bypass]
        admitted = [each for each in hits if not each.over_budget]

        assert len(hits) >= len(_TOPICS), "every topic's own signal is a hit"
        assert hits[:2] == admitted, "the best two new hits are admitted, the rest over budget"

    @pytest.mark.anyio
    async def test_what_is_in_play_takes_nothing_from_the_admit_limit(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        members = [titled["mortgage"], titled["password"]]
        turn = attrs.evolve(turn, plan=Plan(admit_limit=0), state=_state(members))

        seen = await subject.discover(turn, [_query(texts[0]) for texts in _TOPICS.values()])
        admitted = {each.rule for each in seen if each.is_hit and not each.over_budget}

        assert {rule.id for rule in members} <= admitted, "a rule in play renews its last hit"
        assert admitted <= {*(rule.id for rule in members), *turn.snapshot.bypass}

    @pytest.mark.anyio
    async def test_a_pruned_rule_returns_by_a_newer_text_alone(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        rule = titled["mortgage"]
        text = _TOPICS["mortgage"][0]
        turn = attrs.evolve(turn, state=SessionState(pruned={rule.id: 7}))

        by_old = await subject.discover(turn, [_query(text, offset=7)])
        by_new = await subject.discover(turn, [_query(text, offset=8)])

        assert rule.id not in _hits(by_old), "a text from before the pruning brought it back"
        assert rule.id in _hits(by_new), "a fresh trigger readmits a pruned rule"

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ["", " ", "\0", "{}", "{{…}}", "🙂" * 50, "a" * 100_000])
    async def test_no_text_is_too_odd(
        self, subject: Discoverer, turn: TurnContext, text: str
    ) -> None:
        seen = await subject.discover(turn, [_query(text)])

        assert all(each.rule in turn.snapshot.rules for each in seen)

    # -- explaining --

    @pytest.mark.anyio
    async def test_explaining_agrees_with_discovering(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        queries = [_query(_TOPICS["password"][2])]

        found = _of(titled["password"].id, await subject.discover(turn, queries))
        told = await subject.explain(titled["password"].id, turn.snapshot, queries)

        assert told is not None
        assert (told.is_hit, told.signal, told.query) == (found.is_hit, found.signal, found.query)
        assert told.margin == pytest.approx(found.margin, abs=1e-3)

    @pytest.mark.anyio
    async def test_an_unknown_rule_is_not_explained(
        self, subject: Discoverer, turn: TurnContext
    ) -> None:
        assert await subject.explain(RuleId("rule_x"), turn.snapshot, [_query("hi")]) is None

    # -- scoring for whoever checks a catalog --

    @pytest.mark.anyio
    async def test_scoring_agrees_with_explaining(
        self, subject: Discoverer, turn: TurnContext
    ) -> None:
        texts = [said[2] for said in _TOPICS.values()]

        scored = await subject.score(texts, turn.snapshot)

        assert len(scored) == len(texts), "one list per text, in their order"
        for text, hits in zip(texts, scored, strict=True):
            assert all(each.is_hit for each in hits), "hits alone"
            margins = [each.margin for each in hits]
            assert margins == sorted(margins, reverse=True), "best first"
            found = {each.rule: each.margin for each in hits}
            for rule in turn.snapshot.rules:
                told = await subject.explain(rule, turn.snapshot, [_query(text)])
                expected = told.margin if told is not None and told.is_hit else None
                assert found.get(rule) == pytest.approx(expected, abs=1e-3), (
                    f"{rule} is scored otherwise than it is explained for {text!r}"
                )

    @pytest.mark.anyio
    async def test_no_texts_are_scored_as_nothing(
        self, subject: Discoverer, turn: TurnContext
    ) -> None:
        assert list(await subject.score((), turn.snapshot)) == []

    # -- pruning --

    @pytest.mark.anyio
    async def test_nothing_is_pruned_while_it_fits(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        turn = attrs.evolve(turn, state=_state([titled[title] for title in _TOPICS]))

        assert not list(subject.prune(turn, Budget(rules=len(_TOPICS))))

    @pytest.mark.anyio
    async def test_pruning_makes_it_fit_and_drops_members_only(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        members = [titled[title] for title in _TOPICS]
        turn = attrs.evolve(turn, state=_state(members))

        for size in range(len(members) + 1):
            dropped = list(subject.prune(turn, Budget(rules=size)))

            assert len(set(dropped)) == len(dropped), "a rule was dropped twice"
            assert set(dropped) <= set(turn.state.working_set), "dropped what was no member"
            assert len(members) - len(dropped) <= size, f"{len(dropped)} dropped for size {size}"
            assert dropped == list(subject.prune(turn, Budget(rules=size))), "pruning is pure"

    @pytest.mark.anyio
    async def test_high_weight_is_pruned_last(
        self, subject: Discoverer, snapshot: CatalogSnapshot, titled: dict[str, Rule]
    ) -> None:
        heavy = policy("fraud", signals=["somebody uses my account"], weight=Weight.HIGH)
        grown = catalog_of([*snapshot.rules.values(), heavy], snapshot.relations)
        index = await subject.prepare(grown, _NoProgress())
        members = [heavy, titled["mortgage"], titled["password"]]
        turn = turn_of(grown, "hello", index=index, state=_state(members))

        assert heavy.id not in subject.prune(turn, Budget(rules=1)), (
            "HIGH weight goes last, however old its last hit is"
        )

    @pytest.mark.anyio
    async def test_what_is_active_on_this_turn_is_never_pruned(
        self, subject: Discoverer, turn: TurnContext, titled: dict[str, Rule]
    ) -> None:
        members = [titled[title] for title in _TOPICS]
        active = members[0].id
        resolution = Resolution({active: Outcome(active, Fate.MATCHED)})
        turn = attrs.evolve(turn, state=_state(members), resolution=resolution)

        assert active not in subject.prune(turn, Budget(rules=0)), (
            "a rule that this very turn acts on was dropped"
        )


def _hits(seen: Sequence[Sighting]) -> set[RuleId]:
    return {each.rule for each in seen if each.is_hit}


def _of(rule: RuleId, seen: Sequence[Sighting]) -> Sighting:
    found = next((each for each in seen if each.rule == rule), None)
    assert found is not None, f"no sighting of {rule}"
    return found


class AnnotatorConformance:
    """What every `Annotator` promises, with no language model at hand."""

    @pytest.fixture
    def subject(self) -> Annotator:
        raise NotImplementedError("fill in the fixture `subject`: return your annotator")

    @pytest.fixture
    def rules(self) -> Sequence[Rule]:
        return (
            policy("plain"),
            policy("bare", then=None, content="Keep sentences short."),
            policy("continuous", continuous=True),
            policy("about state", way_in=WayIn.DEPENDENCY),
            policy("every turn", way_in=WayIn.ALWAYS),
            observation("seen", signals=["a phrase"], agent_intention=True),
        )

    @pytest.mark.anyio
    async def test_every_rule_gets_one_annotation(
        self, subject: Annotator, rules: Sequence[Rule]
    ) -> None:
        found = await subject.annotate(rules)

        assert set(found) == {rule.id for rule in rules}, "one annotation for each of the rules"

    @pytest.mark.anyio
    async def test_no_rules_get_none(self, subject: Annotator) -> None:
        assert not await subject.annotate(())

    @pytest.mark.anyio
    async def test_what_the_author_said_stands(
        self, subject: Annotator, rules: Sequence[Rule]
    ) -> None:
        found = await subject.annotate(rules)

        for rule in rules:
            said = found[rule.id]
            if rule.way_in is not WayIn.SIGNALS:
                assert said.way_in is rule.way_in, f"{rule.name!r}: the author's flag decides"
            for flag in ("continuous", "customer_dependent", "agent_intention"):
                declared = getattr(rule, flag)
                if declared is not None:
                    assert getattr(said, flag) == declared, f"{rule.name!r}: {flag} was declared"

    @pytest.mark.anyio
    async def test_equal_rules_get_equal_annotations(
        self, subject: Annotator, rules: Sequence[Rule]
    ) -> None:
        first = await subject.annotate(rules)

        assert dict(first) == dict(await subject.annotate(rules)), "it changed its mind"
