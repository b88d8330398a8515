"""What is doubtful about a catalog's approved wording, found at start instead of on a turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poise.hooks.findings import Finding, Severity
from poise.values.agents import CompositionMode
from poise.values.canned import CannedResponse, Role
from poise.values.catalog import CatalogSnapshot
from poise_compose.plain import Writing
from poise_compose.templates import Wording

_SAID = frozenset({Role.REPLY, Role.NO_MATCH})


def findings_of(catalog: CatalogSnapshot) -> Sequence[Finding]:
    """Return what is doubtful about the approved responses of `catalog`."""
    findings: list[Finding] = []
    replies = 0
    for response in catalog.canned_responses.values():
        if response.role in _SAID:
            replies += response.role is Role.REPLY
            findings.extend(_of_response(response))
    strict = catalog.agent.composition_mode is CompositionMode.CANNED_STRICT
    if strict and not replies:
        findings.append(
            Finding(
                "compose.no_replies",
                catalog.agent.name,
                "the agent may only say approved responses and has none, so it always says its "
                "no-match text; add canned responses or choose another composition mode",
            )
        )
    return findings


def _of_response(response: CannedResponse) -> Iterator[Finding]:
    wording = Wording.of(response.template, Writing())
    if wording.refused:
        yield Finding(
            "compose.template",
            response.id,
            f"{response.template[:60]!r} is never said: its template {wording.refused}",
            Severity.ERROR,
        )
    free = [name for name in wording.fields if name.split(".")[0] == "generic"]
    if free:
        yield Finding(
            "compose.generic_field",
            response.id,
            f"{response.template[:60]!r} is said only where a language model fills "
            f"{', '.join(free)}; the strict composer leaves it out",
            Severity.NOTE,
        )
