"""What is doubtful about a catalog's approved wording, found at start instead of on a turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from poise.hooks.findings import Finding, Severity
from poise.values.agents import CompositionMode
from poise.values.canned import CannedResponse, Role
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import CannedResponseId
from poise.values.rules import Rule
from poise_compose.asking import asks
from poise_compose.plain import Writing
from poise_compose.pool import Approved
from poise_compose.supplies import Supplies

_SAID = frozenset({Role.REPLY, Role.NO_MATCH})


def findings_of(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return what is doubtful about the approved responses of `catalog`."""
    return tuple(_findings(catalog))


def _findings(catalog: CatalogSnapshot) -> Iterator[Finding]:
    strict = catalog.agent.composition_mode is CompositionMode.CANNED_STRICT
    carriers: dict[CannedResponseId, list[Rule]] = defaultdict(list)
    for rule in catalog.rules.values():
        for carried in dict.fromkeys(rule.canned_responses):
            carriers[carried].append(rule)
    supplies = Supplies(catalog)
    writing = Writing()
    for response in catalog.canned_responses.values():
        carrying = carriers.get(response.id, [])
        if response.role in _SAID:
            approved = Approved.of(response, writing)
            yield from _of_wording(approved)
            if not approved.wording.refused:
                yield from _of_life(approved, carrying)
                yield from _of_fields(approved, carrying, supplies)
        elif strict:
            yield Finding(
                "compose.unused_role",
                response.id,
                f"{_called(response)} is for {response.role.name}, and an agent that may only say "
                f"approved responses says none of that role",
                Severity.NOTE,
            )
    if strict and all(each.role is not Role.REPLY for each in catalog.canned_responses.values()):
        yield Finding(
            "compose.no_replies",
            catalog.agent.id,
            "the agent may only say approved responses and has none, so it always says its "
            "no-match text; add canned responses or choose another composition mode",
        )


def _of_wording(approved: Approved) -> Iterator[Finding]:
    wording = approved.wording
    if wording.refused:
        yield Finding(
            "compose.template",
            approved.id,
            f"{_called(approved.response)} is never said: its template {wording.refused}",
            Severity.ERROR,
        )
    free = [name for name in wording.fields if name.split(".")[0] == "generic"]
    if free:
        yield Finding(
            "compose.generic_field",
            approved.id,
            f"{_called(approved.response)} is said only where a language model fills "
            f"{', '.join(free)}; the strict composer leaves it out",
            Severity.NOTE,
        )


def _of_life(approved: Approved, carrying: Sequence[Rule]) -> Iterator[Finding]:
    if carrying and not any(rule.enabled for rule in carrying):
        names = ", ".join(repr(rule.name) for rule in carrying)
        yield Finding(
            "compose.dead_response",
            approved.id,
            f"{_called(approved.response)} is never said: it belongs to {names}, which "
            f"{'is' if len(carrying) == 1 else 'are'} switched off",
        )
    elif (
        not carrying
        and approved.response.role is Role.REPLY
        and not approved.texts
        and not asks(approved)
    ):
        yield Finding(
            "compose.dead_response",
            approved.id,
            f"{_called(approved.response)} is never said: it has no words of its own and no "
            f"signals, so nothing that a customer says is near it; give it signals, or a rule",
        )


def _of_fields(
    approved: Approved, carrying: Sequence[Rule], supplies: Supplies
) -> Iterator[Finding]:
    elsewhere: list[str] = []
    nowhere: list[str] = []
    for name in approved.wording.fields:
        if supplies.has(name):
            continue
        if not supplies.may_come_from_tools(name):
            nowhere.append(name)
        elif not supplies.has_tools_at_hand(carrying):
            elsewhere.append(name)
    # A template with conditions or filters may be made to do without a field.
    needed = approved.wording.program is None
    if nowhere:
        yield Finding(
            "compose.unsupplied_field",
            approved.id,
            f"{_called(approved.response)} is {'never said' if needed else 'said in part'}: "
            f"nothing here supplies {_fields(nowhere)}, unless a hook does",
            Severity.WARNING if needed else Severity.NOTE,
        )
    if elsewhere:
        yield Finding(
            "compose.unsupplied_field",
            approved.id,
            f"{_called(approved.response)} waits for {_fields(elsewhere)}, which only the result "
            f"of a tool could supply, and "
            + (
                "no rule that brings it into view offers one"
                if carrying
                else "it belongs to no rule that would offer one"
            ),
            Severity.NOTE,
        )


def _fields(names: Sequence[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _called(response: CannedResponse) -> str:
    return repr(response.template[:60])
