"""The fold: what follows from a session's events, whoever wrote them and however they are cut."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.ports.stores import placed
from poise.testing.events import logs, new_event, said
from poise.testing.turns import SESSION
from poise.turn.ledger import Ledger, LedgerLine, ledger_to_json
from poise.turn.state import Membership, Owed, SessionState, Unsettled, fold
from poise.turn.state_json import state_from_json, state_to_json
from poise.values.events import Event, EventKind, NewEvent, Source
from poise.values.ids import CustomerId, RuleId, TurnId
from poise.values.sessions import SessionMode

TURN = TurnId("turn_1")
A, B = RuleId("rule_a"), RuleId("rule_b")
LINE = {"kind": "policy", "fate": "matched"}


def log_of(*events: NewEvent) -> list[Event]:
    return [placed(event, SESSION, offset) for offset, event in enumerate(events)]


def line(rule: RuleId, fate: str = "matched", **more: Any) -> LedgerLine:
    return LedgerLine(subject=rule, kind=more.pop("kind", "policy"), name=rule, fate=fate, **more)


def match(
    *lines: LedgerLine, outcome: str = "sent", upto: int = 99, turn: TurnId = TURN, **more: Any
) -> NewEvent:
    ledger = Ledger(turn=turn, base=0, upto=upto, outcome=outcome, catalog="c", lines=lines, **more)
    return new_event(EventKind.MATCH, ledger_to_json(ledger), turn=turn)


def settled(turn: TurnId = TURN, **data: Any) -> NewEvent:
    return new_event(EventKind.SETTLED, data, turn=turn)


def tool(stage: str, **data: Any) -> NewEvent:
    return new_event(EventKind.TOOL, {"key": "k", "tool": "freeze", "stage": stage, **data})


# -- laws --


@settings(deadline=None)
@given(logs(), st.data())
def test_folding_in_pieces_equals_folding_whole(log: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(log)))

    assert fold(log[cut:], fold(log[:cut])) == fold(log)


@settings(deadline=None)
@given(logs())
def test_fold_is_total_and_counts_every_event(log: list[Event]) -> None:
    state = fold(log)

    assert state.offset == len(log)


@settings(deadline=None)
@given(logs())
def test_fold_changes_nothing_it_was_given(log: list[Event]) -> None:
    middle = fold(log[: len(log) // 2])
    kept = state_to_json(middle)

    fold(log[len(log) // 2 :], middle)

    assert state_to_json(middle) == kept


@settings(deadline=None)
@given(logs(), st.data())
def test_checkpoint_written_as_text_equals_the_fold_from_scratch(
    log: list[Event], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(log)))
    checkpoint = json.loads(json.dumps(state_to_json(fold(log[:cut]))))

    assert fold(log[cut:], state_from_json(checkpoint)) == fold(log)


@settings(deadline=None)
@given(logs())
def test_event_that_is_not_understood_only_moves_the_offset(log: list[Event]) -> None:
    odd = attrs.evolve(
        placed(match(line(A), upto=0), SESSION, len(log)),
        data={"outcome": "sent", "upto": 0, "lines": [{**LINE, "subject": 7}]},
    )
    before = fold(log)

    assert fold([odd], before) == attrs.evolve(before, offset=len(log) + 1)


# -- what is unanswered --


def test_reply_answers_what_its_turn_had_read() -> None:
    state = fold(log_of(said("one"), said("two"), match(upto=1)))

    assert state.unanswered == (1,)


def test_persons_words_answer_what_came_before() -> None:
    state = fold(log_of(said("one"), said("a person here", Source.HUMAN_AGENT), said("two")))

    assert state.unanswered == (2,)


def test_words_of_a_turn_answer_only_what_its_account_says() -> None:
    words = new_event(EventKind.MESSAGE, {"text": "here"}, Source.AI_AGENT, turn=TURN)

    state = fold(log_of(said("one"), said("two"), words, match(upto=1)))

    assert state.unanswered == (1,)


def test_apology_answers_what_failed() -> None:
    error = new_event(EventKind.STATUS, {"status": "error", "upto": 1})

    assert fold(log_of(said("one"), error)).unanswered == ()


@pytest.mark.parametrize("answerer", [Source.HUMAN_AGENT, Source.AI_AGENT])
def test_imported_history_that_was_answered_leaves_nothing_to_answer(answerer: Source) -> None:
    imported = [
        said(f"message {place}", Source.CUSTOMER if place % 3 == 0 else answerer)
        for place in range(200)
    ]

    state = fold(log_of(*imported))

    assert state.unanswered == ()
    assert state.offset == 200


# -- what turns leave --


def test_sent_turn_without_settled_counts_every_matched_policy_as_applied() -> None:
    state = fold(
        log_of(match(line(A), line(B, "in_context"), line(RuleId("o"), kind="observation")))
    )

    assert dict(state.applied) == {A: 0}
    assert state.unsettled == Unsettled(TURN, (A,))


def test_settled_keeps_what_was_fulfilled_and_takes_back_the_rest() -> None:
    state = fold(log_of(match(line(A), line(B)), settled(fulfilled=[A])))

    assert dict(state.applied) == {A: 0}, "applied where the reply stands"
    assert state.unsettled is None


def test_settled_says_what_is_owed() -> None:
    state = fold(log_of(match(line(A)), settled(partly=[{"rule": A, "owed": "a receipt"}])))

    assert dict(state.applied) == {}
    assert dict(state.partly) == {A: Owed(1, "a receipt")}


def test_settled_or_not_the_next_turn_finds_one_of_two_legal_states() -> None:
    log = log_of(match(line(A), line(B)), settled(fulfilled=[A], pruned=[{"rule": B, "offset": 0}]))

    states = [frozenset(fold(log[:upto]).applied) for upto in (1, 2)]

    assert states == [frozenset({A, B}), frozenset({A})]


def test_settled_of_another_turn_takes_nothing_back() -> None:
    state = fold(log_of(match(line(A)), settled(TurnId("turn_0"), fulfilled=[])))

    assert A in state.applied
    assert state.unsettled is not None


@pytest.mark.parametrize("outcome", ["cancelled", "failed"])
def test_turn_without_reply_leaves_only_its_tool_calls(outcome: str) -> None:
    call = tool("finished", arguments={"card": "1"}, result={"data": 5})

    state = fold(log_of(said("x"), call, match(line(A, hit_at=0), outcome=outcome)))

    assert state.unanswered == (0,)
    assert not state.applied
    assert not state.working_set
    assert state.calls["k"].data == 5


def test_working_set_remembers_first_and_last_hit_and_last_match() -> None:
    state = fold(
        log_of(
            match(line(A, "in_context", hit_at=3)),
            match(line(A, "matched", hit_at=7)),
            match(line(A, "in_context", hit_at=5)),
        )
    )

    assert dict(state.working_set) == {A: Membership(since=3, last_hit=7, last_match=1)}


def test_rule_that_was_cut_or_contributed_takes_no_place() -> None:
    state = fold(
        log_of(match(line(A, "over_budget", hit_at=0), line(B, kind="transient", hit_at=0)))
    )

    assert not state.working_set
    assert not state.applied


def test_pruned_rule_leaves_the_working_set_until_it_comes_up_again() -> None:
    log = log_of(
        match(line(A, "in_context", hit_at=0)),
        settled(pruned=[{"rule": A, "offset": 1}]),
        match(line(A, "in_context", hit_at=2)),
    )

    pruned, back = fold(log[:2]), fold(log)

    assert dict(pruned.pruned) == {A: 1}
    assert not pruned.working_set
    assert not back.pruned
    assert A in back.working_set


def test_confirmed_keeps_its_first_offset() -> None:
    state = fold(log_of(match(line(A, confirmed=True)), match(line(A, confirmed=True))))

    assert dict(state.confirmed) == {A: 0}


# -- tools, labels, facts --


def test_later_stage_of_a_call_keeps_its_arguments() -> None:
    state = fold(
        log_of(
            tool("started", arguments={"card": "1"}),
            tool("finished", result={"data": {"ok": True}, "fields": {"n": 1}}),
        )
    )

    call = state.calls["k"]
    assert dict(call.arguments) == {"card": "1"}
    assert (call.stage, call.offset, call.data, dict(call.fields)) == (
        "finished",
        1,
        {"ok": True},
        {"n": 1},
    )


def test_failed_call_keeps_its_error() -> None:
    told = fold(log_of(tool("finished", result={"error": "no such card"})))
    broke = fold(log_of(tool("finished", error="it raised", result=None)))

    assert told.calls["k"].error == "no such card"
    assert broke.calls["k"].error == "it raised"


def test_labels_come_from_rules_and_finished_tools() -> None:
    state = fold(
        log_of(
            match(labels=("vip",)),
            tool("finished", result={"labels": ["blocked"]}),
            tool("refused", result={"labels": ["never"]}),
        )
    )

    assert state.labels == {"vip", "blocked"}


def test_session_event_changes_what_it_names_alone() -> None:
    def session(data: Mapping[str, Any]) -> NewEvent:
        return new_event(EventKind.SESSION, data)

    state = fold(
        log_of(
            session({"title": "Card", "customer": "customer_2", "labels": ["x"]}),
            session({"language": "de"}),
            new_event(EventKind.MODE, {"mode": "manual"}),
            new_event(EventKind.MODE, {"mode": "sideways"}),
        )
    )

    assert (state.title, state.customer, state.language) == ("Card", CustomerId("customer_2"), "de")
    assert state.labels == {"x"}
    assert state.mode is SessionMode.MANUAL


# -- the JSON form --


def test_checkpoint_of_another_version_is_refused() -> None:
    data = state_to_json(SessionState())

    with pytest.raises(InvalidValueError, match="version"):
        state_from_json({**data, "version": 0})


@pytest.mark.parametrize(
    "damage", [{"working_set": {"a": [1]}}, {"mode": "sideways"}, {"calls": {"k": {"what": 1}}}]
)
def test_damaged_checkpoint_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="damaged"):
        state_from_json({**state_to_json(SessionState()), **damage})
