"""How a turn of the demo reads on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from poise.app.reasons import names_of
from poise.cli.tables import faint, heading, one_line, printable, table
from poise.turn.fates import Fate
from poise.turn.ledger import CallLine, Ledger, LedgerLine
from poise_example_bank.playing import Played

_IDLE = {
    Fate.NOT_APPLICABLE.value: "do not apply",
    Fate.UNDECIDED.value: "undecided",
    Fate.OVER_BUDGET.value: "over budget",
    Fate.ALREADY_APPLIED.value: "applied before",
    Fate.IN_CONTEXT.value: "shown unjudged",
}
"""Fates that nothing came of: counted, not listed."""

_RIGHT = frozenset({"score", "needed", "p"})


def turn_text(played: Played, *, width: int | None = None) -> str:
    """Return a turn: the words of both, the rules that mattered, tools and milliseconds."""
    record = played.record
    ledger = record.ledger
    lines = [f"{heading(f'{record.number:>2}')}  {faint(played.scene.shows)}"]
    lines += [f"{heading('customer')}  {one_line(said)}" for said in record.said]
    lines += [
        f"{heading('Harbour ')}  {line}"
        for reply in record.replies
        for line in printable(reply).splitlines()
        if line
    ]
    lines += ["", rules_text(ledger, width=width)]
    lines += [_call_text(call) for call in ledger.calls]
    lines += [f"! {each.part}: {one_line(each.reason)}" for each in ledger.degradations]
    lines.append(faint(times_text(ledger)))
    return "\n".join(lines)


def rules_text(ledger: Ledger, *, width: int | None = None) -> str:
    """Return the rules that something came of as a table, and the others as numbers."""
    known = {line.subject: line for line in ledger.lines}
    shown = sorted((line for line in ledger.lines if line.fate not in _IDLE), key=_rank)
    listed = table(
        ("rule", "became", "because of", "found by", "score", "needed", "p"),
        [
            (
                line.name,
                line.fate,
                _because(line, known),
                line.signal if _is_sighted(line) else None,
                _number(line.score),
                _number(line.threshold),
                _number(line.probability),
            )
            for line in shown
        ],
        width=width,
        right=_RIGHT,
    )
    sighted = sum(_is_sighted(line) for line in ledger.lines)
    idle = Counter(line.fate for line in ledger.lines if line.fate in _IDLE)
    rest = ", ".join(f"{count} {_IDLE[fate]}" for fate, count in sorted(idle.items()))
    summary = f"discovered {sighted} of {len(ledger.lines)} considered"
    return f"{listed}\n{faint(f'{summary}; the others: {rest}' if rest else summary)}"


def _rank(line: LedgerLine) -> tuple[bool, bool, float]:
    """Sort what was acted on first, policies before observations, the likeliest first."""
    acted = line.fate in (Fate.MATCHED.value, Fate.IMPLIED.value)
    return not acted, line.kind != "policy", -(line.probability or 0.0)


def _is_sighted(line: LedgerLine) -> bool:
    return line.score is not None and line.threshold is not None and line.score >= line.threshold


def _because(line: LedgerLine, known: Mapping[str, LedgerLine]) -> str:
    names = names_of(line, known)
    return f"{names} ({line.relation})" if names and line.relation else names


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _call_text(call: CallLine) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    detail = f": {one_line(call.detail)}" if call.detail else ""
    return f"tool {call.tool}({one_line(given)}) {call.outcome}{detail}, {call.milliseconds:.0f} ms"


def times_text(ledger: Ledger) -> str:
    """Return how long the turn took, and its longest stages."""
    spent = sorted(ledger.milliseconds.items(), key=lambda item: -item[1])[:4]
    stages = ", ".join(f"{name} {each:.0f}" for name, each in spent if each >= 0.5)
    return f"{sum(ledger.milliseconds.values()):.0f} ms" + (f" ({stages})" if stages else "")
