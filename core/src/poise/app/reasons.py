"""One sentence for each fate in a ledger: why a candidate ended as it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from poise.turn.fates import Fate
from poise.turn.ledger import LedgerLine

Lines = Mapping[str, LedgerLine]


def reason_for(line: LedgerLine, lines: Lines) -> str:
    """Return why the candidate of `line` had its fate.

    Args:
        line: The candidate's.
        lines: All lines of the ledger by subject, for the names of causes.
    """
    try:
        say = _REASONS[Fate(line.fate)]
    except ValueError:
        return f"A newer version of Poise wrote the fate {line.fate!r}."
    sentence = say(line, names_of(line, lines))
    return f"{sentence} {line.rationale}".strip() if line.rationale else sentence


def names_of(line: LedgerLine, lines: Lines) -> str:
    """Return the names of a line's causes, joined; empty when it has none."""
    return ", ".join(repr(lines[each].name if each in lines else each) for each in line.cause)


def _judge(line: LedgerLine) -> str:
    return line.judged_by or "nobody"


def _sure(line: LedgerLine) -> str:
    return "" if line.probability is None else f" (probability {line.probability:.2f})"


def _by(names: str, otherwise: str = "another rule") -> str:
    return names or otherwise


def _in_context(line: LedgerLine, names: str) -> str:
    return "It was shown as one that may apply, and nobody was asked to judge it."


def _not_applicable(line: LedgerLine, names: str) -> str:
    return f"{_judge(line)} found that it does not apply{_sure(line)}."


def _already_applied(line: LedgerLine, names: str) -> str:
    if names:
        return f"{names} implies it, and what it asks for was done earlier in this session."
    if line.judged_by is None:
        return "What it asks for was done earlier in this session, and nothing new brings it up."
    return (
        f"What it asks for was done earlier in this session, and {line.judged_by} found nothing "
        f"new that calls for it again{_sure(line)}."
    )


def _matched(line: LedgerLine, names: str) -> str:
    if line.kind == "transient":
        return "It was contributed for this turn alone, by a tool or a plugin."
    return f"{_judge(line)} found that it applies{_sure(line)}, and nothing set it aside."


def _implied(line: LedgerLine, names: str) -> str:
    if line.relation == "trigger":
        return f"It is started by {_by(names, 'a rule')}."
    return f"It is implied by {_by(names, 'an active rule')}."


def _unmet_all(line: LedgerLine, names: str) -> str:
    if line.relation == "journey":
        return f"It is a step of {names}, which waits for something itself."
    return f"It depends on {_by(names)}, and that does not hold."


def _unmet_any(line: LedgerLine, names: str) -> str:
    return f"It depends on at least one of {_by(names, 'several rules')}, and none holds."


def _outranked(line: LedgerLine, names: str) -> str:
    if line.relation == "journey":
        return f"It is a step of {names}, which is outranked."
    if line.relation == "dependency":
        return f"It depends on {names}, which was outranked, so it is gone as well."
    return f"It applies, but {_by(names)} takes priority over it, so it is not acted on."


def _excluded(line: LedgerLine, names: str) -> str:
    if line.relation == "journey":
        return f"It is a step of {names}, which is excluded."
    if line.relation == "dependency":
        return f"It depends on {names}, which was excluded, so it is gone as well."
    return f"It applies, but {_by(names)} excludes it, so it is left out altogether."


def _lower_priority(line: LedgerLine, names: str) -> str:
    if line.relation == "journey":
        return f"It is a step of {names}, which has a lower priority than another."
    return f"It applies, but {_by(names)} has a higher priority within the same rank."


def _ambiguous(line: LedgerLine, names: str) -> str:
    if names:
        return f"{names}: it may be meant or not, so the customer is asked before it is acted on."
    return f"{_judge(line)} found it unclear what the customer means, so the customer is asked."


def _undecided(line: LedgerLine, names: str) -> str:
    return (
        f"{_judge(line)} could not tell whether it applies{_sure(line)}; it is shown as one that "
        f"may, and nothing follows from it."
    )


def _conflict(line: LedgerLine, names: str) -> str:
    return f"It is part of a circle without a way out: {_by(names, 'itself')}."


def _over_budget(line: LedgerLine, names: str) -> str:
    return "It was found, but better ones filled the number of rules that may join on one turn."


def _silenced(line: LedgerLine, names: str) -> str:
    return f"It was silenced by {_by(names, 'a plugin')}."


_REASONS: Mapping[Fate, Callable[[LedgerLine, str], str]] = {
    Fate.IN_CONTEXT: _in_context,
    Fate.NOT_APPLICABLE: _not_applicable,
    Fate.ALREADY_APPLIED: _already_applied,
    Fate.MATCHED: _matched,
    Fate.IMPLIED: _implied,
    Fate.UNMET_DEPENDENCY_ALL: _unmet_all,
    Fate.UNMET_DEPENDENCY_ANY: _unmet_any,
    Fate.OUTRANKED: _outranked,
    Fate.EXCLUDED: _excluded,
    Fate.LOWER_PRIORITY: _lower_priority,
    Fate.AMBIGUOUS: _ambiguous,
    Fate.UNDECIDED: _undecided,
    Fate.CONFLICT: _conflict,
    Fate.OVER_BUDGET: _over_budget,
    Fate.SILENCED: _silenced,
}
