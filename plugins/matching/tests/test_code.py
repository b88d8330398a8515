"""Rules judged by code: each function on its own, none of them a model's business."""

import logging
import threading
from functools import partial

import anyio
import pytest

from poise.testing.models import ScriptedModels
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.verdicts import Verdict, VerdictKind
from poise_matching import CodeMatcher, MatchingSettings

pytestmark = pytest.mark.anyio

APPLIES, DOES_NOT, UNDECIDED = VerdictKind.APPLIES, VerdictKind.DOES_NOT, VerdictKind.UNDECIDED


async def judge(*functions, timeout=5.0, threads=8, models=None):
    """Return the verdicts on one rule per function, in order."""
    rules = [observation(f"R{place}", matcher=f"m{place}") for place in range(len(functions))]
    bindings = {f"m{place}": function for place, function in enumerate(functions)}
    turn = turn_of(catalog_of(rules, bindings=bindings), "hello", models=models)
    matcher = CodeMatcher(MatchingSettings(code_timeout=timeout, code_threads=threads))
    candidates = [Candidate(rule, judged=True) for rule in rules]
    with anyio.fail_after(10):
        return await matcher.inquire(candidates, turn)


async def yes(turn):
    return True


async def no(turn):
    return False


async def test_code_matchers_are_independent_and_need_no_model():
    """B-007."""
    models = ScriptedModels()

    verdicts = await judge(yes, no, yes, models=models)

    assert [each.kind for each in verdicts] == [APPLIES, DOES_NOT, APPLIES]
    assert models.requests == []


async def test_verdicts_say_that_code_judged_and_which():
    (verdict,) = await judge(no)

    assert verdict.from_code
    assert verdict.judged_by == "code/m0"


async def test_a_function_may_take_the_rule_too_and_may_be_plain():
    seen = []

    def plain(turn, rule):
        seen.append((turn.new_messages, rule.title))
        return True

    async def with_rule(turn, rule):
        return rule.title == "R1"

    verdicts = await judge(plain, with_rule)

    assert [each.kind for each in verdicts] == [APPLIES, APPLIES]
    assert seen == [(("hello",), "R0")]


async def test_a_default_of_the_authors_own_is_left_alone():
    def at_least(turn, count=1):
        return len(turn.new_messages) >= count

    async def named(limit, turn):
        return len(turn.new_messages) < limit

    class Judge:
        async def __call__(self, turn):
            return True

    verdicts = await judge(at_least, partial(named, 5), Judge(), lambda turn: yes(turn))

    assert [each.kind for each in verdicts] == [APPLIES] * 4


async def test_a_function_may_return_a_verdict_of_its_own():
    async def detailed(turn, rule):
        return Verdict(rule.id, VerdictKind.PARTLY_APPLIED, "till", 0.9, owed="the receipt")

    (verdict,) = await judge(detailed)

    assert verdict.kind is VerdictKind.PARTLY_APPLIED
    assert (verdict.owed, verdict.judged_by, verdict.from_code) == ("the receipt", "till", True)


async def test_a_function_that_raises_leaves_its_own_rule_undecided_and_is_logged(caplog):
    async def broken(turn):
        raise LookupError("no such account")

    with caplog.at_level(logging.WARNING):
        verdicts = await judge(yes, broken, no)

    assert [each.kind for each in verdicts] == [APPLIES, UNDECIDED, DOES_NOT]
    assert "no such account" in verdicts[1].rationale
    (record,) = caplog.records
    assert record.matcher == "m1"


@pytest.mark.parametrize("answer", [None, "yes", 1])
async def test_an_answer_that_is_neither_bool_nor_verdict_is_undecided(answer):
    (verdict,) = await judge(lambda turn: answer)

    assert verdict.kind is UNDECIDED
    assert "return a bool or a Verdict" in verdict.rationale


async def test_a_verdict_on_another_rule_is_undecided():
    async def confused(turn):
        return Verdict(policy("another").id, APPLIES, "x")

    (verdict,) = await judge(confused)

    assert verdict.kind is UNDECIDED


async def test_an_unbound_name_is_undecided_and_named():
    rule = observation("R", matcher="nowhere")
    turn = turn_of(catalog_of([rule]), "hello")

    (verdict,) = await CodeMatcher(MatchingSettings()).inquire([Candidate(rule)], turn)

    assert verdict.kind is UNDECIDED
    assert "'nowhere'" in verdict.rationale


async def test_a_function_that_never_returns_leaves_the_others_alone():
    async def waits(turn):
        await anyio.Event().wait()
        return True

    verdicts = await judge(yes, waits, no, timeout=0.05)

    assert [each.kind for each in verdicts] == [APPLIES, UNDECIDED, DOES_NOT]
    assert "0.05 s" in verdicts[1].rationale


async def test_a_plain_function_that_never_returns_is_left_behind():
    released = threading.Event()

    def waits(turn):
        released.wait()
        return True

    try:
        verdicts = await judge(waits, yes, timeout=0.05)
    finally:
        released.set()

    assert [each.kind for each in verdicts] == [UNDECIDED, APPLIES]


async def test_plain_functions_do_not_hold_up_the_event_loop():
    here, there = threading.get_ident(), []

    def where(turn):
        there.append(threading.get_ident())
        return True

    await judge(where)

    assert there[0] != here


async def test_cancelling_the_turn_passes_through():
    started = anyio.Event()

    async def waits(turn):
        started.set()
        await anyio.Event().wait()

    async with anyio.create_task_group() as group:
        group.start_soon(partial(judge, waits, timeout=60.0))
        await started.wait()
        group.cancel_scope.cancel()

    assert group.cancel_scope.cancelled_caught


async def test_it_claims_what_names_a_matcher_and_nothing_else():
    matcher = CodeMatcher(MatchingSettings())
    by_code, by_model = observation("R", matcher="m"), observation("S")
    turn = turn_of(catalog_of([by_code, by_model]))

    claims = [matcher.claims(Candidate(rule), turn) for rule in (by_code, by_model)]

    assert claims == [True, False]
