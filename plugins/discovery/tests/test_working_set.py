from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from poise.engine.fitting import estimate
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Budget, Sighting
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.queries import Query, QueryKind
from poise.turn.state import Awaited, Clarification, Membership, Owed, SessionState
from poise.values.ids import JourneyId, RuleId
from poise.values.journeys import Journey
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Weight
from poise_discovery.working_set import rules_to_drop, tokens_of

RULES = [policy(f"rule {at}", weight=Weight(at % 3)) for at in range(9)]
SNAPSHOT = catalog_of(RULES)


def turn_with(places: dict[RuleId, Membership], messages: int = 1, snapshot=SNAPSHOT, **fields):
    state = SessionState(working_set=places)
    return turn_of(snapshot, *["hello"] * messages, state=state, **fields)


def dropped(turn, rules: int, *, tokens=None, stale_after: int = 5, passing: float = 0.2):
    budget = Budget(rules, tokens)
    return rules_to_drop(turn, budget, stale_after=stale_after, passing=passing)


def sighted(rule: RuleId, probability: float, offset: int, margin: float = 1.0) -> Sighting:
    query = Query(QueryKind.MESSAGE, "hello", offset)
    return Sighting(rule, margin, margin, 0.0, probability, query)


places = st.dictionaries(
    st.sampled_from([rule.id for rule in RULES]),
    st.builds(
        lambda since, later, match: Membership(since, since + later, match),
        st.integers(0, 20),
        st.integers(0, 20),
        st.none() | st.integers(0, 40),
    ),
)


@given(places, st.integers(0, 9), st.sets(st.sampled_from([rule.id for rule in RULES])))
def test_the_rest_fits_and_what_is_active_stays(members, room, active) -> None:
    resolution = Resolution({rule: Outcome(rule, Fate.MATCHED) for rule in active})
    turn = turn_with(members, resolution=resolution)

    gone = dropped(turn, room)

    assert not set(gone) & active
    assert set(gone) <= set(members)
    assert len(set(gone)) == len(gone)
    kept_anyway = len(set(members) & active)
    assert len(members) - len(gone) <= max(room, kept_anyway)
    assert gone == dropped(turn, room)


@given(places, st.integers(0, 9))
def test_no_heavy_rule_goes_before_a_lighter_one(members, room) -> None:
    gone = [
        SNAPSHOT.rules[rule].weight is Weight.HIGH for rule in dropped(turn_with(members), room)
    ]

    assert gone == sorted(gone)


def test_the_longest_unseen_goes_first_and_a_match_counts_as_seen() -> None:
    a, b, c = (rule.id for rule in RULES[:2] + RULES[3:4])
    turn = turn_with({a: Membership(0, 1, last_match=9), b: Membership(0, 3), c: Membership(0, 2)})

    assert dropped(turn, 1) == (c, b)


def test_what_five_messages_did_not_bring_up_goes_though_there_is_room() -> None:
    old, recent, heavy = RULES[0].id, RULES[1].id, RULES[2].id
    turn = turn_with(
        {old: Membership(0, 0), recent: Membership(0, 6), heavy: Membership(0, 0)}, messages=10
    )

    assert dropped(turn, 30) == (old,)
    assert dropped(turn, 30, stale_after=20) == ()


def test_a_weak_hint_of_this_turn_alone_does_not_stay() -> None:
    weak, strong, again, matched = (RULES[at].id for at in (0, 1, 3, 4))
    members = {
        weak: Membership(2, 2),
        strong: Membership(2, 2),
        again: Membership(0, 2),
        matched: Membership(2, 2, last_match=2),
    }
    sightings = tuple(
        sighted(rule, chance, 2)
        for rule, chance in ((weak, 0.1), (strong, 0.9), (again, 0.1), (matched, 0.1))
    )
    turn = turn_with(members, messages=3, sightings=sightings)

    assert dropped(turn, 30) == (weak,)
    assert dropped(turn, 30, passing=0.0) == ()


def test_this_turns_hit_renews_before_it_is_logged() -> None:
    a, b = RULES[0].id, RULES[1].id
    members = {a: Membership(0, 0), b: Membership(0, 1)}
    turn = turn_with(members, messages=3, sightings=(sighted(a, 0.9, 2),))

    assert dropped(turn, 1) == (b,)


def test_what_a_member_depends_on_stays_with_it() -> None:
    topic, lost = observation("topic"), policy("lost")
    snapshot = catalog_of(
        [topic, lost, *RULES], [Relation(RelationKind.DEPENDENCY, lost.id, topic.id)]
    )
    members = {
        topic.id: Membership(0, 0),
        lost.id: Membership(5, 5),
        RULES[0].id: Membership(3, 3),
    }

    assert dropped(turn_with(members, snapshot=snapshot), 2) == (RULES[0].id,)


def test_tokens_are_a_budget_too() -> None:
    members = {rule.id: Membership(at, at) for at, rule in enumerate(RULES)}
    turn = turn_with(members)
    room = sum(tokens_of(rule) for rule in RULES) - 1

    assert len(dropped(turn, 30, tokens=room)) == 1


IDS = [rule.id for rule in RULES]
OPENNESS = ("active", "awaiting", "partly", "head", "option", "trigger")


@st.composite
def open_states(draw):
    """A working set with whatever may be open in it, and the rules that must stay for it."""
    members = draw(places)
    chosen = {how: draw(st.sets(st.sampled_from(IDS), max_size=2)) for how in OPENNESS}
    journey = Journey(
        JourneyId("journey_a"), RULES[0].agent, "a", triggers=tuple(sorted(chosen["trigger"]))
    )
    options = [*sorted(chosen["option"]), *([journey.id] if chosen["trigger"] else [])]
    clarifications = {
        head: Clarification(head, "which?", tuple((each, "this") for each in options), 0)
        for head in chosen["head"]
    }
    stays = set(chosen["active"]) | chosen["awaiting"] | chosen["partly"] | chosen["head"]
    if chosen["head"]:
        stays |= chosen["option"] | chosen["trigger"]
    state = SessionState(
        working_set=members,
        awaiting={rule: Awaited("tool", ("name",)) for rule in chosen["awaiting"]},
        partly={rule: Owed(0, "the rest") for rule in chosen["partly"]},
        clarifications=clarifications,
    )
    outcomes = {rule: Outcome(rule, Fate.MATCHED) for rule in chosen["active"]}
    sightings = draw(
        st.lists(
            st.builds(
                sighted,
                st.sampled_from(IDS),
                st.floats(0, 1),
                st.integers(0, 12),
                st.floats(-3, 3),
            ),
            max_size=6,
            unique_by=lambda each: each.rule,
        )
    )
    turn = turn_of(
        catalog_of(RULES, journeys=[journey]),
        *["hello"] * draw(st.integers(1, 12)),
        state=state,
        resolution=Resolution(outcomes),
        sightings=tuple(sightings),
    )
    return turn, stays


budgets = st.builds(Budget, st.integers(0, 10), st.none() | st.integers(0, 120))


@given(open_states(), budgets, st.integers(1, 20), st.floats(0, 1))
def test_what_is_open_stays_and_the_rest_fits(found, budget, stale_after, passing) -> None:
    turn, stays = found
    members = set(turn.state.working_set)

    gone = rules_to_drop(turn, budget, stale_after=stale_after, passing=passing)
    left = members - set(gone)

    assert set(gone) <= members
    assert len(set(gone)) == len(gone)
    assert not set(gone) & stays
    tokens = sum(tokens_of(turn.snapshot.rules[rule]) for rule in left)
    fits = len(left) <= budget.rules and (budget.tokens is None or tokens <= budget.tokens)
    assert fits or left <= stays


@given(open_states(), budgets, st.randoms(use_true_random=False))
def test_order_changes_nothing(found, budget, random) -> None:
    turn, _stays = found

    def shuffled(mapping):
        items = list(mapping.items())
        random.shuffle(items)
        return dict(items)

    sightings = list(turn.sightings)
    random.shuffle(sightings)
    other = attrs.evolve(
        turn,
        state=attrs.evolve(
            turn.state,
            **{
                field: shuffled(getattr(turn.state, field))
                for field in ("working_set", "awaiting", "partly", "clarifications")
            },
        ),
        snapshot=attrs.evolve(turn.snapshot, rules=shuffled(turn.snapshot.rules)),
        sightings=tuple(sightings),
    )

    kept = {"stale_after": 5, "passing": 0.25}
    assert rules_to_drop(turn, budget, **kept) == rules_to_drop(other, budget, **kept)


@given(open_states(), budgets)
def test_a_smaller_budget_never_keeps_more(found, budget) -> None:
    turn, _stays = found
    smaller = attrs.evolve(budget, rules=max(0, budget.rules - 1))

    gone = rules_to_drop(turn, budget, stale_after=5, passing=0.25)

    assert gone == rules_to_drop(turn, smaller, stale_after=5, passing=0.25)[: len(gone)]


def test_what_is_no_longer_open_goes_like_any_other() -> None:
    asked, other = RULES[0].id, RULES[1].id
    members = {asked: Membership(0, 0), other: Membership(5, 5)}
    awaiting = SessionState(working_set=members, awaiting={asked: Awaited("tool", ("name",))})

    def gone(state):
        turn = turn_of(SNAPSHOT, "hello", state=state)
        return rules_to_drop(turn, Budget(1), stale_after=5, passing=0.25)

    assert gone(awaiting) == (other,)
    assert gone(SessionState(working_set=members)) == (asked,)


@given(st.text(max_size=300))
def test_a_rule_is_never_taken_for_smaller_than_the_engine_takes_it(text) -> None:
    rule = policy("rule", then=f"x{text}")

    assert tokens_of(rule) >= estimate(rule.text)
    assert tokens_of(None) == 0


def test_a_rule_that_the_catalog_lost_goes() -> None:
    gone, owed = RuleId("rule_gone"), RuleId("rule_owed")
    members = {each: Membership(9, 9) for each in (gone, owed)}
    state = SessionState(
        working_set={**members, RULES[0].id: Membership(0, 0)}, partly={owed: Owed(0, "the rest")}
    )
    turn = turn_of(SNAPSHOT, "hello", state=state)

    assert rules_to_drop(turn, Budget(30), stale_after=5, passing=0.2) == (gone, owed)
