"""How the account of a turn, and the explanation of one rule, read on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.app.explain import Explanation, TurnRecord
from poise.app.reasons import names_of
from poise.app.reckoning import Reckoning
from poise.cli.tables import faint, heading, one_line, table
from poise.turn.fates import Fate
from poise.turn.ledger import CallLine, CompositionLine, Ledger, LedgerLine, RequestLine

_RIGHT = frozenset({"score", "needed", "p", "ms"})

_FIRST = tuple(fate.value for fate in (Fate.MATCHED, Fate.IMPLIED))
_LAST = tuple(fate.value for fate in (Fate.NOT_APPLICABLE, Fate.IN_CONTEXT, Fate.OVER_BUDGET))


def turn_text(record: TurnRecord, *, width: int | None = None) -> str:
    """Return the whole account of a turn."""
    ledger = record.ledger
    parts = [
        heading(f"Turn {record.number}") + f"  {ledger.turn}  {ledger.outcome}",
        *(f"> {one_line(text)}" for text in record.said),
        *(f"< {one_line(text)}" for text in record.replies),
        "",
        candidates_text(ledger, width=width),
    ]
    if ledger.calls:
        parts += ["", calls_text(ledger, width=width)]
    if ledger.composition is not None:
        parts += ["", composition_text(ledger.composition)]
    parts += [f"! {each.part}: {each.reason}; {each.instead}" for each in ledger.degradations]
    parts += [f"! left out: {one_line(each)}" for each in ledger.omissions]
    parts += ["", faint(times_text(ledger))]
    return "\n".join(parts)


def compact_text(record: TurnRecord, *, width: int | None = None) -> str:
    """Return what matters of a turn in few lines, for printing after each reply."""
    ledger = record.ledger
    parts = [candidates_text(ledger, width=width)]
    parts += [_call_text(call) for call in ledger.calls]
    parts += [f"! {each.part}: {one_line(each.reason)}" for each in ledger.degradations]
    parts.append(faint(times_text(ledger)))
    return "\n".join(parts)


def candidates_text(ledger: Ledger, *, width: int | None = None) -> str:
    """Return the candidates with their fates, those that were acted on first."""
    if not ledger.lines:
        return "no rule came up"
    lines = {line.subject: line for line in ledger.lines}
    return table(
        ("rule", "fate", "because of", "score", "needed", "p", "judged by"),
        [
            (
                line.name,
                line.fate,
                _because(line, lines),
                _number(line.score),
                _number(line.threshold),
                _number(line.probability, digits=2),
                line.judged_by,
            )
            for line in sorted(ledger.lines, key=_rank)
        ],
        width=width,
        right=_RIGHT,
    )


def _rank(line: LedgerLine) -> int:
    return 0 if line.fate in _FIRST else 2 if line.fate in _LAST else 1


def _because(line: LedgerLine, lines: Mapping[str, LedgerLine]) -> str:
    names = names_of(line, lines)
    return f"{names} ({line.relation})" if names and line.relation else names


def _number(value: float | None, *, digits: int = 3) -> str | None:
    return None if value is None else f"{value:.{digits}f}"


def calls_text(ledger: Ledger, *, width: int | None = None) -> str:
    """Return the tool calls: arguments, what came of them, and the rules that offered them."""
    names = {line.subject: line.name for line in ledger.lines}
    return table(
        ("tool", "arguments", "outcome", "detail", "offered by", "ms"),
        [
            (
                call.tool,
                _arguments(call),
                call.outcome,
                call.detail,
                ", ".join(names.get(each, each) for each in call.why),
                f"{call.milliseconds:.0f}",
            )
            for call in ledger.calls
        ],
        width=width,
        right=_RIGHT,
    )


def _arguments(call: CallLine) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())


def _call_text(call: CallLine) -> str:
    detail = f": {one_line(call.detail)}" if call.detail else ""
    return f"tool {call.tool}({one_line(_arguments(call))}) {call.outcome}{detail}"


def composition_text(composition: CompositionLine) -> str:
    """Return how the reply was made, in a line or two."""
    text = (
        f"composed by {composition.composer}, {composition.mode} (set by {composition.mode_set_by})"
    )
    if composition.chosen:
        text += f", from {', '.join(composition.chosen)}"
    if composition.candidates:
        text += f" of {len(composition.candidates)} in view"
    return f"{text}\n{one_line(composition.note)}" if composition.note else text


def times_text(ledger: Ledger) -> str:
    """Return where the time went, and which models were asked."""
    stages = [f"{name} {spent:.1f}" for name, spent in ledger.milliseconds.items()]
    total = sum(ledger.milliseconds.values())
    text = f"{total:.0f} ms" + (f" ({', '.join(stages)})" if stages else "")
    requests = [
        f"{each.route} {each.items} by {each.model} {each.milliseconds:.0f} ms"
        + (f", {tokens}" if (tokens := _tokens_text([each])) else "")
        + (f" ({one_line(each.note)})" if each.note else "")
        + (f" failed: {one_line(each.error)}" if each.error else "")
        for each in ledger.requests
    ]
    total_tokens = _tokens_text(ledger.requests)
    return (
        text
        + (f"; models: {'; '.join(requests)}" if requests else "; no model was asked")
        + (f"; in all {total_tokens}" if total_tokens and len(requests) > 1 else "")
    )


def _tokens_text(requests: Sequence[RequestLine]) -> str:
    """Return what requests took together, as far as that is known; empty where it is not."""
    counted = [each for each in requests if each.fresh is not None]
    if not counted:
        return ""
    fresh, cached, output = (
        sum(getattr(each, name) or 0 for each in counted) for name in ("fresh", "cached", "output")
    )
    costs = [each.cost for each in counted if each.cost is not None]
    cost = f", ${sum(costs):.4g}" if costs else ""
    return f"{fresh} fresh + {cached} cached → {output} tokens{cost}"


def reckoning_text(counted: Reckoning) -> str:
    """Return how many rules of the catalog had which fate, so that one sees that none is lost."""
    fates = ", ".join(f"{count} {fate}" for fate, count in counted.fates.items())
    beside = ", ".join(f"{count} {kind}" for kind, count in counted.beside.items())
    return f"{counted.rules} rules in the catalog: {fates}" + (
        f"; beside: {beside}" if beside else ""
    )


def explanation_text(explanation: Explanation, *, notes: Sequence[str] = ()) -> str:
    """Return why one rule had its fate, with the chain of causes and the figures."""
    lines = [
        heading(one_line(explanation.name)) + f"  {explanation.fate}",
        one_line(explanation.sentence),
    ]
    lines += [
        f"{'  ' * depth}└ {one_line(step.name)}  {step.fate}: {one_line(step.sentence)}"
        for depth, step in enumerate(explanation.chain, start=1)
    ]
    lines += [
        f"  {name.replace('_', ' ')}: {one_line(str(value))}"
        for name, value in explanation.figures.items()
    ]
    lines += [one_line(each) for each in explanation.counterfactuals]
    lines += [f"Note: {note}" for note in notes]
    lines.append(faint(explanation.rule))
    return "\n".join(lines)
