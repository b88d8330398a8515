"""From a session's log to what happened and why: pure functions, no words for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from poise.app.reasons import reason_for
from poise.app.reckoning import derived_fate
from poise.errors import PoiseError
from poise.turn.candidates import Sighting
from poise.turn.fates import DerivedFate
from poise.turn.ledger import Ledger, LedgerLine, ledger_from_json, ledger_to_json
from poise.turn.queries import Query, QueryKind, customer_queries
from poise.turn.state import SessionState
from poise.values.customers import Customer
from poise.values.events import Event, EventKind
from poise.values.rules import Rule

T = TypeVar("T")


@attrs.define
class NoSuchTurnError(PoiseError, LookupError):
    """A session has no turn of that number or id."""

    wanted: str
    turns: int

    def __str__(self) -> str:
        if not self.turns:
            return "this session has no finished turn yet"
        return f"no turn {self.wanted!r}; give a number from 1 to {self.turns}, or a turn's id"


@attrs.define
class UnclearRuleError(PoiseError, LookupError):
    """A text fits several rules."""

    wanted: str
    fitting: tuple[str, ...]

    def __str__(self) -> str:
        shown = ", ".join(repr(name) for name in self.fitting[:5])
        return f"{self.wanted!r} fits {len(self.fitting)} rules: {shown}; give more of it"


@attrs.frozen
class TurnRecord:
    """One turn of a session, as the log has it.

    Attributes:
        number: From 1.
        event: The `match` event.
        ledger: Its account.
        said: The customer's words that it answered.
        replies: What was said on the agent's side.
    """

    number: int
    event: Event
    ledger: Ledger
    said: tuple[str, ...]
    replies: tuple[str, ...]


@attrs.frozen
class Step:
    """One step of a chain of causes: a rule, its fate, and the sentence that says why."""

    rule: str
    name: str
    fate: str
    sentence: str


@attrs.frozen
class Explanation:
    """Why a rule had its fate.

    Attributes:
        rule: Its id.
        name: What people call it.
        fate: What became of it, stored or derived.
        sentence: Why.
        chain: The causes, nearest first, each with its own reason.
        figures: What was measured: query, signal, score, threshold, margin, probability, judge.
        counterfactuals: Single changes after which it would have been matched, nearest first.
    """

    rule: str
    name: str
    fate: str
    sentence: str
    chain: tuple[Step, ...] = ()
    figures: Mapping[str, Any] = attrs.field(factory=dict)
    counterfactuals: tuple[str, ...] = ()


# -- turns --


def turn_records(events: Sequence[Event]) -> tuple[TurnRecord, ...]:
    """Return the turns of a session from its events, oldest first, cancelled ones included."""
    records: list[TurnRecord] = []
    for event in events:
        if event.kind is not EventKind.MATCH:
            continue
        ledger = ledger_from_json(event.data)
        records.append(
            TurnRecord(
                number=len(records) + 1,
                event=event,
                ledger=ledger,
                said=tuple(
                    each.text
                    for each in events
                    if each.is_customer_message and ledger.base <= each.offset < ledger.upto
                ),
                replies=tuple(
                    each.text
                    for each in events
                    if each.is_agent_message and each.turn is not None and each.turn == event.turn
                ),
            )
        )
    return tuple(records)


def choose_turn(records: Sequence[TurnRecord], wanted: str | None = None) -> TurnRecord:
    """Return the turn of that number or id; without one the last.

    Raises:
        NoSuchTurnError: There is none.
    """
    found = records[-1:] if wanted is None else [r for r in records if is_turn(r, wanted)]
    if not found:
        raise NoSuchTurnError(wanted or "last", len(records))
    return found[-1]


def is_turn(record: TurnRecord, wanted: str) -> bool:
    """Say whether `wanted` is the number or the id of a turn."""
    return wanted in (str(record.number), record.event.turn, record.ledger.turn)


def turn_to_json(record: TurnRecord) -> dict[str, Any]:
    """Return a turn as JSON: the ledger with the words of both sides."""
    return {
        "number": record.number,
        "said": list(record.said),
        "replies": list(record.replies),
        **ledger_to_json(record.ledger),
    }


# -- rules with a line in the ledger --


def find_line(ledger: Ledger, wanted: str) -> LedgerLine | None:
    """Return the line of the rule that `wanted` means: its id, its name, or a clear part of it.

    Raises:
        UnclearRuleError: Several rules fit equally well.
    """
    return _fitting(wanted, [(line.subject, line.name, line) for line in ledger.lines])


def find_rule(rules: Iterable[Rule], wanted: str) -> Rule | None:
    """Return the rule of a catalog that `wanted` means; raises as `find_line` does."""
    return _fitting(wanted, [(rule.id, rule.name, rule) for rule in rules])


def _fitting(wanted: str, known: Sequence[tuple[str, str, T]]) -> T | None:
    text = wanted.casefold().strip()
    if not text:
        return None
    # From exact to loose: a whole title wins over being part of a longer one.
    for fitting in (
        [each for each in known if each[0] == wanted],
        [each for each in known if each[1].casefold() == text],
        [each for each in known if text in each[1].casefold() or each[0].startswith(wanted)],
    ):
        if len(fitting) > 1:
            raise UnclearRuleError(wanted, tuple(name for _, name, _ in fitting))
        if fitting:
            return fitting[0][2]
    return None


def explain_line(ledger: Ledger, line: LedgerLine) -> Explanation:
    """Return why a candidate had its fate, with the chain of what caused it."""
    lines = {each.subject: each for each in ledger.lines}
    chain: list[Step] = []
    seen = {line.subject}
    waiting = list(line.cause)
    while waiting:
        cause = waiting.pop(0)
        if cause in seen:
            continue
        seen.add(cause)
        found = lines.get(cause)
        if found is None:
            chain.append(
                Step(cause, cause, "not_a_candidate", "It was not considered on this turn.")
            )
            continue
        chain.append(Step(cause, found.name, found.fate, reason_for(found, lines)))
        waiting.extend(found.cause)
    figures = {
        "query": line.query,
        "signal": line.signal,
        "score": line.score,
        "threshold": line.threshold,
        "margin": None
        if line.score is None or line.threshold is None
        else round(line.score - line.threshold, 4),
        "probability": line.probability,
        "judged_by": line.judged_by,
        "rationale": line.rationale or None,
        "iteration": line.iteration,
    }
    return Explanation(
        line.subject,
        line.name,
        line.fate,
        reason_for(line, lines),
        tuple(chain),
        {name: value for name, value in figures.items() if value is not None},
    )


# -- rules without one --


def scored_queries(events: Sequence[Event], ledger: Ledger) -> tuple[Query, ...]:
    """Return the texts that a turn scored: the customer's anew from the log, the rest as noted."""
    seen = [event for event in events if event.offset < ledger.upto]
    noted = (
        Query(QueryKind.TOOL_RESULT, str(each.get("text", "")), int(each.get("offset", 0)))
        for each in ledger.queries
        if each.get("kind") == QueryKind.TOOL_RESULT.value
    )
    return (*customer_queries(seen, ledger.base), *noted)


def explain_absent(
    rule: Rule, *, customer: Customer, before: SessionState, sighting: Sighting | None
) -> Explanation:
    """Return why a rule of the catalog was no candidate.

    Args:
        rule: The rule.
        customer: Who was being answered.
        before: The session's state when the turn began.
        sighting: How the rule scores against the turn's texts; `None` if it is not indexed.
    """
    fate, sentence = _absence(rule, customer=customer, before=before, sighting=sighting)
    figures: dict[str, Any] = {}
    if sighting is not None:
        figures = {
            "query": sighting.query.text if sighting.query else None,
            "signal": sighting.signal,
            "score": round(sighting.score, 4),
            "threshold": round(sighting.threshold, 4),
            "margin": round(sighting.margin, 4),
            "probability": round(sighting.probability, 4),
        }
    return Explanation(
        rule.id,
        rule.name,
        fate,
        sentence,
        figures={name: value for name, value in figures.items() if value is not None},
    )


def _absence(
    rule: Rule, *, customer: Customer, before: SessionState, sighting: Sighting | None
) -> tuple[str, str]:
    fate = derived_fate(rule, customer, before).value
    if fate == DerivedFate.DISABLED.value:
        return fate, "It is switched off."
    if fate == DerivedFate.NOT_FOR_THIS_AGENT_OR_CUSTOMER.value:
        groups = ", ".join(sorted(rule.groups))
        return (
            fate,
            f"It is for customers of {groups}, and {customer.name} is in none of these.",
        )
    if sighting is None:
        return fate, (
            "Discovery does not look for it: it comes up only with a rule that depends on it "
            "or implies it, and none did."
        )
    if sighting.is_hit:
        return fate, (
            "With today's catalog it would be found for this turn; it was not then, so the "
            "catalog or its index has changed since."
        )
    pruned = (
        f" It had been dropped from the working set at event {before.pruned[rule.id]}, and "
        f"nothing brought it up again."
        if rule.id in before.pruned
        else ""
    )
    return fate, (
        f"No text of this turn came near enough: the best scored {sighting.score:.3f}, and "
        f"{sighting.threshold:.3f} was needed.{pruned}"
    )
