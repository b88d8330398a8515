"""From a log to turns, and from a ledger's line to the reasons for it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.app.explain import (
    NoSuchTurnError,
    UnclearRuleError,
    choose_turn,
    explain_absent,
    explain_line,
    find_line,
    scored_queries,
    turn_records,
)
from poise.app.reasons import reason_for
from poise.cli.accounts import compact_text, explanation_text, turn_text
from poise.testing.turns import SESSION, message, observation, policy
from poise.turn.candidates import Sighting
from poise.turn.fates import Fate
from poise.turn.ledger import (
    CallLine,
    CompositionLine,
    Degradation,
    Ledger,
    LedgerLine,
    RequestLine,
    ledger_to_json,
)
from poise.turn.queries import Query, QueryKind
from poise.turn.state import SessionState
from poise.values.customers import Customer
from poise.values.events import Event, EventKind, Source
from poise.values.ids import EventId, GroupId, RuleId, TurnId


def line(subject: str, fate: Fate, **fields: Any) -> LedgerLine:
    values: dict[str, Any] = {"kind": "policy", "name": f"Rule {subject}", **fields}
    return LedgerLine(subject=subject, fate=fate.value, **values)


def ledger(*lines: LedgerLine, **fields: Any) -> Ledger:
    values: dict[str, Any] = {
        "turn": "turn_1",
        "base": 0,
        "upto": 1,
        "outcome": "sent",
        "catalog": "v1",
        **fields,
    }
    return Ledger(lines=lines, **values)


def match(account: Ledger, offset: int) -> Event:
    said = message("", offset)
    return attrs.evolve(
        said,
        id=EventId(f"event_{offset}"),
        kind=EventKind.MATCH,
        source=Source.AI_AGENT,
        turn=TurnId(account.turn),
        data=ledger_to_json(account),
    )


def reply(text: str, offset: int, turn: str) -> Event:
    return attrs.evolve(message(text, offset, Source.AI_AGENT), turn=TurnId(turn))


LOG = (
    message("hi", 0),
    reply("hello", 1, "turn_1"),
    match(ledger(), 2),
    message("my card", 3),
    message("is lost", 4),
    match(ledger(turn="turn_2", base=3, upto=5, outcome="cancelled"), 5),
    reply("freezing it", 6, "turn_3"),
    match(ledger(turn="turn_3", base=3, upto=6), 7),
    message("thanks", 8),
)


# -- turns --


def test_turns_are_counted_with_the_words_of_both_sides() -> None:
    records = turn_records(LOG)

    assert [record.number for record in records] == [1, 2, 3]
    assert [record.said for record in records] == [
        ("hi",),
        ("my card", "is lost"),
        ("my card", "is lost"),
    ]
    assert [record.replies for record in records] == [("hello",), (), ("freezing it",)]
    assert records[0].event.session == SESSION


@pytest.mark.parametrize(
    ("wanted", "number"), [(None, 3), ("1", 1), ("turn_2", 2), ("3", 3), ("turn_3", 3)]
)
def test_turn_is_chosen_by_number_or_id_and_the_last_by_default(
    wanted: str | None, number: int
) -> None:
    assert choose_turn(turn_records(LOG), wanted).number == number


def test_turn_that_is_not_there_says_what_there_is() -> None:
    with pytest.raises(NoSuchTurnError, match="from 1 to 3"):
        choose_turn(turn_records(LOG), "4")
    with pytest.raises(NoSuchTurnError, match="no finished turn yet"):
        choose_turn(())


def test_texts_that_were_scored_come_from_the_log_and_tool_results_from_the_ledger() -> None:
    noted = ({"kind": "tool_result", "offset": 5, "text": "card blocked"},)

    queries = scored_queries(LOG, ledger(base=3, upto=5, queries=noted))

    assert [(query.kind, query.text) for query in queries] == [
        (QueryKind.MESSAGE, "my card"),
        (QueryKind.MESSAGE, "is lost"),
        (QueryKind.JOINED, "hi my card is lost"),
        (QueryKind.TOOL_RESULT, "card blocked"),
    ]


# -- finding a rule --


NAMED = ledger(
    line("rule_a", Fate.MATCHED, name="Lost card"),
    line("rule_b", Fate.MATCHED, name="Lost card abroad"),
    line("rule_c", Fate.MATCHED, name="Fees"),
)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("rule_b", "rule_b"),
        ("lost card", "rule_a"),
        ("ABROAD", "rule_b"),
        ("fee", "rule_c"),
        ("nothing", None),
        ("", None),
    ],
)
def test_rule_is_found_by_id_title_or_part_of_it(wanted: str, found: str | None) -> None:
    line_found = find_line(NAMED, wanted)

    assert (line_found.subject if line_found else None) == found


def test_text_that_fits_several_rules_names_them() -> None:
    with pytest.raises(UnclearRuleError, match="'lost' fits 2 rules: 'Lost card', 'Lost card ab"):
        find_line(NAMED, "lost")


# -- reasons --


@pytest.mark.parametrize("fate", Fate, ids=lambda fate: fate.value)
def test_every_fate_has_a_reason_that_names_its_cause(fate: Fate) -> None:
    other = line("b", Fate.MATCHED)
    about = line("a", fate, cause=("b",), judged_by="code")

    sentence = reason_for(about, {"a": about, "b": other})

    assert sentence.endswith(".")
    if fate in (
        Fate.IMPLIED,
        Fate.UNMET_DEPENDENCY_ALL,
        Fate.UNMET_DEPENDENCY_ANY,
        Fate.OUTRANKED,
        Fate.EXCLUDED,
        Fate.LOWER_PRIORITY,
        Fate.CONFLICT,
        Fate.SILENCED,
    ):
        assert "'Rule b'" in sentence


def test_fate_that_this_version_does_not_know_is_told_as_such() -> None:
    unknown = attrs.evolve(line("a", Fate.MATCHED), fate="sublimated")

    assert "'sublimated'" in reason_for(unknown, {})


def test_chain_of_causes_is_walked_to_its_end() -> None:
    account = ledger(
        line("a", Fate.UNMET_DEPENDENCY_ALL, cause=("b",), relation="dependency"),
        line("b", Fate.OUTRANKED, cause=("c",), relation="priority"),
        line("c", Fate.MATCHED, judged_by="decision_batch/x:y", probability=0.91),
    )

    found = explain_line(account, account.lines[0])

    assert [step.rule for step in found.chain] == ["b", "c"]
    assert found.sentence == "It depends on 'Rule b', and that does not hold."
    assert "'Rule c' takes priority" in found.chain[0].sentence
    assert "decision_batch/x:y found that it applies (probability 0.91)" in found.chain[1].sentence


def test_cause_that_was_no_candidate_is_said_to_be_none() -> None:
    account = ledger(line("a", Fate.UNMET_DEPENDENCY_ALL, cause=("gone",)))

    assert explain_line(account, account.lines[0]).chain[0].fate == "not_a_candidate"


IDS = st.sampled_from("abcdef")


@given(st.dictionaries(IDS, st.tuples(st.sampled_from(Fate), st.lists(IDS, max_size=4))))
def test_any_causes_even_in_circles_give_each_rule_once(
    graph: dict[str, tuple[Fate, list[str]]],
) -> None:
    account = ledger(*(line(rule, f, cause=tuple(c)) for rule, (f, c) in graph.items()))

    for each in account.lines:
        found = explain_line(account, each)
        steps = [step.rule for step in found.chain]
        assert len(steps) == len(set(steps))
        assert each.subject not in steps
        assert found.sentence
        assert explanation_text(found)


# -- rules that were no candidates --


def sighting(rule: RuleId, margin: float) -> Sighting:
    query = Query(QueryKind.MESSAGE, "my card", 3)
    return Sighting(rule, margin, 0.5 + margin, 0.5, 0.2, query, "my debit card")


def test_rule_that_no_text_came_near_says_by_how_much() -> None:
    rule = policy("Fees")

    found = explain_absent(
        rule,
        customer=Customer.guest(),
        before=SessionState(),
        sighting=sighting(rule.id, -0.2),
    )

    assert found.fate == "not_discovered"
    assert "the best scored 0.300, and 0.500 was needed" in found.sentence
    assert found.figures["margin"] == -0.2
    assert found.figures["signal"] == "my debit card"


def test_rule_that_is_switched_off_says_so() -> None:
    rule = policy("Fees", enabled=False)

    found = explain_absent(
        rule, customer=Customer.guest(), before=SessionState(), sighting=sighting(rule.id, 0.2)
    )

    assert (found.fate, found.sentence) == ("disabled", "It is switched off.")


def test_rule_for_other_customers_names_the_groups() -> None:
    rule = policy("Fees", groups={GroupId("gold")})

    found = explain_absent(
        rule, customer=Customer.guest(), before=SessionState(), sighting=sighting(rule.id, 0.2)
    )

    assert found.fate == "not_for_this_agent_or_customer"
    assert "customers of gold" in found.sentence


def test_rule_that_was_dropped_says_since_when() -> None:
    rule = policy("Fees")

    found = explain_absent(
        rule,
        customer=Customer.guest(),
        before=SessionState(pruned={rule.id: 12}),
        sighting=sighting(rule.id, -0.2),
    )

    assert found.fate == "pruned"
    assert "at event 12" in found.sentence


def test_rule_that_discovery_does_not_look_for_says_how_it_comes_up() -> None:
    found = explain_absent(
        observation("state"), customer=Customer.guest(), before=SessionState(), sighting=None
    )

    assert found.fate == "not_discovered"
    assert "only with a rule that depends on it" in found.sentence


# -- on a terminal --


def test_account_shows_candidates_calls_composition_failures_and_times() -> None:
    account = ledger(
        line("b", Fate.OUTRANKED, cause=("a",), relation="priority", score=0.4, threshold=0.3),
        line("a", Fate.MATCHED, judged_by="code"),
        calls=(
            CallLine("k", "freeze", {"card": "4711"}, why=("a",), outcome="refused", detail="no"),
        ),
        composition=CompositionLine("canned", "CANNED_STRICT", "agent", ("c1", "c2"), ("c1",)),
        degradations=(Degradation("embedder", "timed out", "went on without it"),),
        requests=(RequestLine("matching.verdict", "x:y", 2, 12.4),),
        milliseconds={"load": 1.0, "match": 12.4},
    )
    record = turn_records([message("my card", 0), match(account, 1)])[0]

    text = turn_text(record, width=200)

    rows = text.splitlines()
    assert next(i for i, row in enumerate(rows) if row.startswith("Rule a")) < next(
        i for i, row in enumerate(rows) if row.startswith("Rule b")
    )
    assert "'Rule a' (priority)" in text
    assert "freeze  card='4711'  refused  no" in text
    assert "composed by canned, CANNED_STRICT (set by agent), from c1 of 2 in view" in text
    assert "! embedder: timed out; went on without it" in text
    assert "13 ms (load 1.0, match 12.4); models: matching.verdict 2 by x:y 12 ms" in text
    assert "tool freeze(card='4711') refused: no" in compact_text(record, width=200)


def test_account_says_what_models_took_and_cost_one_by_one_and_in_all() -> None:
    account = ledger(
        requests=(
            RequestLine("embed", "e:m", 1, 3.0),
            RequestLine(
                "matching.verdict", "x:y", 2, 12.4, fresh=20, cached=80, output=5, cost=0.001
            ),
            RequestLine(
                "compose.message",
                "x:z",
                1,
                30.0,
                note="after x:y failed (RefusedError)",
                fresh=100,
                cached=0,
                output=50,
                cost=0.0025,
            ),
        ),
    )
    record = turn_records([message("hi", 0), match(account, 1)])[0]

    text = turn_text(record, width=400)

    assert "embed 1 by e:m 3 ms;" in text
    assert "by x:y 12 ms, 20 fresh + 80 cached → 5 tokens, $0.001;" in text
    assert "(after x:y failed (RefusedError));" in text
    assert "in all 120 fresh + 80 cached → 55 tokens, $0.0035" in text


def test_turn_without_candidates_says_so() -> None:
    record = turn_records([message("hi", 0), match(ledger(), 1)])[0]

    assert "no rule came up" in turn_text(record)
