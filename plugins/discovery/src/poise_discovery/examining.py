"""What embeddings and scores tell of a catalog: rules that are hard to tell apart, or to find."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio.to_thread
import numpy as np

from poise.hooks.findings import Examination, Finding, Severity
from poise.turn.candidates import Sighting
from poise.turn.models import Capability, TurnModels
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import RuleId
from poise.values.rules import Rule, RuleKind
from poise_discovery.kinship import Kinship
from poise_discovery.phrases import is_indexed
from poise_discovery.threads import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ALIKE = 0.95
"""The cosine from which two conditions say the same; "send money" and "receive it" stay below."""

CLEAR = 0.25
"""By how much likelier another rule must be than its own for a signal to be in the wrong place."""

MOSTLY = 0.8
"""The share of its own signals that a rule must be brought up by."""

_BATCH = 64  # texts that are embedded at once
_ROWS = 512  # rows that are compared with all others at once
_COMPARED = 50  # near conditions that one is held against
_QUOTED = 3  # signals that one message names


async def examine(examination: Examination) -> Sequence[Finding]:
    """Return the findings, each check's in declared order of the rules.

    Raises:
        ProviderError: The embedder failed.
    """
    catalog = examination.catalog
    kinship = Kinship(catalog)
    found: list[Finding] = []
    if examination.models.serves("embed", Capability.EMBED):
        found.extend(await _alike(catalog, kinship, examination.models))
    pairs = [(rule, signal) for rule in _found_by_signals(catalog) for signal in rule.signals]
    hits = await examination.discoverer.score([signal for _, signal in pairs], catalog)
    scored: dict[RuleId, dict[str, Sequence[Sighting]]] = defaultdict(dict)
    for (rule, signal), seen in zip(pairs, hits, strict=True):
        scored[rule.id][signal] = seen
    for rule_id, signals in scored.items():
        rule = catalog.rules[rule_id]
        found.extend(_missed(rule, signals))
        found.extend(_strayed(rule, signals, kinship))
    return found


def _found_by_signals(catalog: CatalogSnapshot) -> Iterator[Rule]:
    for rule in catalog.rules.values():
        if is_indexed(rule, catalog.annotations.get(rule.id)) and not rule.always_judged:
            yield rule


# -- signals --


def _missed(rule: Rule, signals: Mapping[str, Sequence[Sighting]]) -> Iterator[Finding]:
    missed = [
        signal for signal, hits in signals.items() if all(each.rule != rule.id for each in hits)
    ]
    heard = len(signals) - len(missed)
    if heard < MOSTLY * len(signals):
        yield Finding(
            "discovery.missed_signals",
            rule.id,
            f"{rule.name!r} is brought up by {heard} of its {len(signals)} signals, and not by "
            f"{_quoted(missed)}: its signals have too little in common, or others claim them; "
            f"split the rule, or say them otherwise",
            Severity.WARNING,
        )


def _strayed(
    rule: Rule, signals: Mapping[str, Sequence[Sighting]], kinship: Kinship
) -> Iterator[Finding]:
    claimed: dict[RuleId, list[str]] = defaultdict(list)
    for signal, hits in signals.items():
        own = next((each for each in hits if each.rule == rule.id), None)
        best = next((each for each in hits if not kinship.is_near(rule.id, each.rule)), None)
        if best is not None and best.rule != rule.id and _is_clear(best, own):
            claimed[best.rule].append(signal)
    for other, taken in claimed.items():
        yield Finding(
            "discovery.stray_signal",
            rule.id,
            f"{_quoted(taken)} of {rule.name!r} would rather bring up "
            f"{kinship.catalog.name_of(other)!r}: give it to that rule, relate the two, or make it "
            f"an anti-signal of the other",
            Severity.WARNING,
        )


def _is_clear(other: Sighting, own: Sighting | None) -> bool:
    if own is None:
        return other.probability >= CLEAR
    return other.margin > own.margin and other.probability - own.probability >= CLEAR


def _quoted(signals: Sequence[str]) -> str:
    named = ", ".join(repr(signal) for signal in signals[:_QUOTED])
    more = len(signals) - _QUOTED
    return f"{named} and {more} more" if more > 0 else named


# -- conditions --


async def _alike(
    catalog: CatalogSnapshot, kinship: Kinship, models: TurnModels
) -> Sequence[Finding]:
    rules = [rule for rule in catalog.rules.values() if rule.enabled and rule.matcher is None]
    texts = [rule.when or rule.text for rule in rules]
    rows = [
        await models.embed(texts[begin : begin + _BATCH]) for begin in range(0, len(texts), _BATCH)
    ]
    if len(rules) < 2:
        return ()
    near = await anyio.to_thread.run_sync(near_pairs, np.concatenate(rows))
    found: list[Finding] = []
    for at, others in near.items():
        rule = rules[at]
        told = (
            rules[other]
            for other in others
            # What reads the same letter by letter is core's finding.
            if _plain(texts[at]) != _plain(texts[other])
            and not kinship.are_told_apart(rule, rules[other])
        )
        nearest = next(told, None)
        if nearest is not None:
            found.append(_about_pair(rule, nearest))
    return found


def near_pairs(rows: Floats) -> Mapping[int, Sequence[int]]:
    """Return, for each row that is near to earlier ones, the nearest of those, nearest first."""
    found: dict[int, Sequence[int]] = {}
    with one_thread():
        for begin in range(0, len(rows), _ROWS):
            likeness = rows[begin : begin + _ROWS] @ rows.T
            for offset, line in enumerate(likeness):
                at = begin + offset
                near = np.flatnonzero(line[:at] >= ALIKE)
                if near.size:
                    nearest = near[np.argsort(-line[near], kind="stable")]
                    found[at] = nearest[:_COMPARED].tolist()
    return found


def _about_pair(rule: Rule, other: Rule) -> Finding:
    both_act = rule.kind is other.kind is RuleKind.POLICY
    if both_act and (rule.then, rule.content) != (other.then, other.content):
        return Finding(
            "discovery.overlap",
            rule.id,
            f"{rule.name!r} has nearly the condition of {other.name!r} and another action: let "
            f"one outrank the other, or say in their conditions what tells them apart",
            Severity.WARNING,
        )
    return Finding(
        "discovery.near_duplicate",
        rule.id,
        f"{rule.name!r} says nearly what {other.name!r} says: drop one of them, let one depend on "
        f"the other, or say what tells them apart",
        Severity.WARNING,
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
