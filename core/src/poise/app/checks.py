"""What core finds doubtful about a catalog; pure, so that it runs at every start."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from poise.app.standing import never_met, related
from poise.hooks.findings import Finding, Severity
from poise.values.agents import CompositionMode
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import ToolId
from poise.values.relationships import End, TagEnd
from poise.values.rules import ALWAYS, Rule, RuleKind, Weight

BYPASS_LIMIT = 20
"""More rules than this that every turn considers are worth a finding."""

_COMPARED = 50  # rules of one condition that a further one is held against

CHECKS: Mapping[str, str] = {
    "catalog.invalid": "Something is declared that can't be",
    "catalog.bypass": "Many rules cost every turn",
    "catalog.composition": "No composer words replies in the agent's mode",
    "rules.duplicate": "Two rules say the same",
    "rules.overlap": "Two policies share a condition, and nothing says which of them goes first",
    "rules.never_met": "A rule depends on something that never holds",
    "rules.unread_signals": "Signals on a rule that is not found by signals",
    "rules.unread_weight": "A low weight on a rule that is judged on every turn",
    "tools.unreached": "A tool that no rule offers",
    "tools.idle_guard": "A guard of tools that no rule offers",
    "lint.failed": "A check could not be made",
}
"""The checks of core, each in a few words."""


def findings_of(
    catalog: CatalogSnapshot, modes: Collection[CompositionMode]
) -> tuple[Finding, ...]:
    """Return core's findings.

    Args:
        catalog: One agent's.
        modes: In which some composer here words replies.
    """
    return tuple(
        finding
        for check in (_costly, _unworded(modes), _never_met, _alike, _unread, _unreached)
        for finding in check(catalog)
    )


def plain(text: str) -> str:
    """Return a text without what is no difference in meaning: case, blanks and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


# -- the agent --


def _costly(catalog: CatalogSnapshot) -> Iterator[Finding]:
    if len(catalog.bypass) > BYPASS_LIMIT:
        yield Finding(
            "catalog.bypass",
            catalog.agent.id,
            f"{len(catalog.bypass)} rules cost every turn: they are always on, always judged or "
            f"judged by code; give some of them signals instead",
        )


def _unworded(
    modes: Collection[CompositionMode],
) -> Callable[[CatalogSnapshot], Iterator[Finding]]:
    def check(catalog: CatalogSnapshot) -> Iterator[Finding]:
        agent = catalog.agent
        if agent.composition_mode not in modes:
            yield Finding(
                "catalog.composition",
                agent.id,
                f"no composer here words replies in the mode {agent.composition_mode.name}, so "
                f"{agent.name} speaks from approved responses only and says its no-match text "
                f"otherwise; CANNED_STRICT says that you mean it",
            )

    return check


# -- rules --


def _never_met(catalog: CatalogSnapshot) -> Iterator[Finding]:
    for rule, end in never_met(catalog).items():
        yield Finding(
            "rules.never_met",
            rule,
            f"{catalog.rules[rule].name!r} never comes into force: it depends on "
            f"{_end_name(end, catalog)}, which never holds; switch that on, or drop the dependency",
        )


def _end_name(end: End, catalog: CatalogSnapshot) -> str:
    if isinstance(end, TagEnd):
        return f"{'all' if end.every else 'any'} of the tag {end.tag!r}"
    return repr(catalog.name_of(end))


def _alike(catalog: CatalogSnapshot) -> Iterator[Finding]:
    """Find the rules whose conditions are the same but for case, blanks and punctuation."""
    groups: dict[str, list[Rule]] = defaultdict(list)
    for rule in catalog.rules.values():
        if rule.enabled and rule.matcher is None and rule.when is not None:
            groups[plain(rule.when) or rule.when].append(rule)
    for rules in groups.values():
        for at, rule in enumerate(rules[1:], start=1):
            yield from _about_pair(rule, rules[: min(at, _COMPARED)], catalog)


def _about_pair(rule: Rule, earlier: Sequence[Rule], catalog: CatalogSnapshot) -> Iterator[Finding]:
    """Yield a finding about the first of `earlier` rules that nothing tells from `rule`."""
    for other in earlier:
        if _are_told_apart(rule, other, catalog):
            continue
        if rule.kind is not other.kind:
            policy, observed = (other, rule) if rule.kind is RuleKind.OBSERVATION else (rule, other)
            yield Finding(
                "rules.duplicate",
                policy.id,
                f"{policy.name!r} has the condition that {observed.name!r} observes, so it is "
                f"judged twice: let the policy depend on the observation instead",
            )
        elif _does(rule) == _does(other):
            yield Finding(
                "rules.duplicate",
                rule.id,
                f"{rule.name!r} says the same as {other.name!r}: drop one of them",
            )
        else:
            yield Finding(
                "rules.overlap",
                rule.id,
                f"{rule.name!r} has the condition of {other.name!r} and another action, so both "
                f"are acted on at once: join them, let one outrank the other, or tell their "
                f"conditions apart",
            )
        return


def _are_told_apart(first: Rule, second: Rule, catalog: CatalogSnapshot) -> bool:
    never_meet = bool(first.groups and second.groups) and not first.groups & second.groups
    compete = (
        first.rank is not None and first.rank == second.rank and first.priority != second.priority
    )
    return never_meet or compete or related(first.id, second.id, catalog)


def _does(rule: Rule) -> tuple[object, ...]:
    said = tuple(plain(text) for text in (rule.then, rule.content) if text)
    return said if rule.kind is RuleKind.POLICY else ()


def _unread(catalog: CatalogSnapshot) -> Iterator[Finding]:
    """Find what an author said of a rule in vain."""
    for rule in catalog.rules.values():
        if rule.matcher is not None and (rule.signals or rule.anti_signals):
            why = "applies on every turn" if rule.matcher == ALWAYS else "is judged by code"
            yield Finding(
                "rules.unread_signals",
                rule.id,
                f"{rule.name!r} has signals that nothing reads, since it {why}: drop them, or "
                f"drop the matcher",
            )
        if rule.always_judged and rule.weight is Weight.LOW:
            yield Finding(
                "rules.unread_weight",
                rule.id,
                f"{rule.name!r} has a low weight, which lets a rule be shown unjudged, and is "
                f"always judged: drop one of the two",
                Severity.NOTE,
            )


# -- tools --


def _unreached(catalog: CatalogSnapshot) -> Iterator[Finding]:
    offering: dict[ToolId, list[Rule]] = defaultdict(list)
    for rule in catalog.rules.values():
        for offered in rule.tools:
            offering[offered].append(rule)
    reached = {variable.tool for variable in catalog.variables.values()}
    reached.update(tool for tool, rules in offering.items() if any(rule.enabled for rule in rules))
    for tool in catalog.tools.values():
        if tool.id in reached:
            continue
        off = offering.get(tool.id)
        why = (
            f"{off[0].name!r}, which offers it, is switched off"
            if off
            else "no rule offers it, and no variable is fetched by it"
        )
        yield Finding(
            "tools.unreached",
            tool.id,
            f"{tool.name!r} is never called: {why}; give it to a rule, or drop it",
        )
    for rule in catalog.rules.values():
        if rule.enabled and rule.guards and not reached.intersection(rule.guards):
            names = ", ".join(repr(catalog.tools[guarded].name) for guarded in rule.guards)
            yield Finding(
                "tools.idle_guard",
                rule.id,
                f"{rule.name!r} guards {names}, which no rule offers",
            )
