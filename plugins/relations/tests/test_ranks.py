"""Numeric priority: within a rank only the highest of what is active is acted on."""

from poise.testing.relating import excludes, implies, needs, outranks, request_of, verdict
from poise.testing.turns import journey, policy
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.verdicts import VerdictKind
from poise_relations import WellFoundedResolver

LOW, MID, TOP = (policy(name, rank="tone", priority=at) for at, name in enumerate(("L", "M", "T")))
PEER = policy("peer of the top", rank="tone", priority=2)
ELSEWHERE = policy("elsewhere", rank="other", priority=9)
FREE = policy("free", priority=9)
A = policy("A")
RULES = [LOW, MID, TOP, PEER, ELSEWHERE, FREE, A]


def resolve(relations=(), applying=(), **fields) -> Resolution:
    return WellFoundedResolver().resolve(request_of(RULES, relations, applying, **fields))


def test_the_lower_of_a_rank_is_muted_and_names_the_highest_that_are_active():
    resolution = resolve([], [LOW, MID, TOP, PEER])

    highest = tuple(sorted([TOP.id, PEER.id]))
    assert resolution.outcomes[LOW.id] == Outcome(LOW.id, Fate.LOWER_PRIORITY, highest, "rank")
    assert resolution.outcomes[MID.id] == Outcome(MID.id, Fate.LOWER_PRIORITY, highest, "rank")
    assert set(resolution.active) == {TOP.id, PEER.id}
    assert Fate.LOWER_PRIORITY.is_muted


def test_priority_says_nothing_beyond_its_rank_nor_without_one():
    resolution = resolve([], [LOW, ELSEWHERE, FREE])

    assert set(resolution.active) == {LOW.id, ELSEWHERE.id, FREE.id}


def test_only_what_is_active_now_competes():
    absent = resolve([], [LOW], verdicts=[verdict(TOP, VerdictKind.DOES_NOT)])
    shown = resolve([], [LOW], shown=[TOP])
    excluded = resolve([excludes(A, TOP)], [LOW, TOP, A])

    for resolution in (absent, shown, excluded):
        assert resolution.fate_of(LOW.id) is Fate.MATCHED


def test_a_rule_that_lost_within_its_rank_outranks_and_implies_nothing():
    resolution = resolve([outranks(LOW, A), implies(LOW, FREE)], [LOW, TOP, A])

    assert set(resolution.active) == {TOP.id, A.id}


def test_implied_rules_compete_like_any_other():
    wins = resolve([implies(A, TOP)], [A, LOW])
    loses = resolve([implies(A, LOW)], [A, TOP])

    assert wins.outcomes[LOW.id].causes == (TOP.id,)
    assert loses.outcomes[LOW.id] == Outcome(LOW.id, Fate.LOWER_PRIORITY, (TOP.id,), "rank")


def test_what_is_shown_as_open_can_be_muted_by_rank():
    resolution = resolve([], [TOP], shown=[LOW], verdicts=[verdict(MID, VerdictKind.UNDECIDED)])

    assert resolution.fate_of(LOW.id) is Fate.LOWER_PRIORITY
    assert resolution.fate_of(MID.id) is Fate.LOWER_PRIORITY


def test_an_unmet_need_and_being_outranked_are_told_before_rank():
    resolution = resolve([needs(LOW, FREE), outranks(A, MID)], [LOW, MID, TOP, A])

    assert resolution.fate_of(LOW.id) is Fate.UNMET_DEPENDENCY_ALL
    assert resolution.fate_of(MID.id) is Fate.OUTRANKED


def test_journeys_and_rules_share_a_rank():
    high = journey("high", rank="tone", priority=5)
    low = journey("low", rank="tone", priority=-1)

    above = resolve([], [TOP], journeys=[high], under_way=[high])
    below = resolve([], [TOP], journeys=[low], under_way=[low])

    assert above.outcomes[TOP.id].causes == (high.id,)
    assert below.outcomes[low.id] == Outcome(low.id, Fate.LOWER_PRIORITY, (TOP.id,), "rank")


def test_a_priority_against_the_order_of_a_rank_is_a_conflict_of_the_two():
    resolution = resolve([outranks(LOW, TOP)], [LOW, TOP, A])

    cycle = tuple(sorted([LOW.id, TOP.id]))
    assert resolution.outcomes[LOW.id] == Outcome(LOW.id, Fate.CONFLICT, cycle, "cycle")
    assert resolution.outcomes[TOP.id] == Outcome(TOP.id, Fate.CONFLICT, cycle, "cycle")
    assert set(resolution.active) == {A.id}


def test_a_higher_rule_that_needs_the_lower_one_this_session_gets_it_though_muted():
    resolution = resolve([needs(TOP, LOW)], [LOW, TOP])

    assert set(resolution.active) == {TOP.id}
