"""The account that a turn keeps while it runs, from which its ledger is written."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

from poise.engine import metrics
from poise.engine.spans import STAGE
from poise.engine.spending import Spending
from poise.hooks.tracing import span
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.fates import Fate, Outcome
from poise.turn.ledger import (
    AskedLine,
    CallLine,
    ClarificationLine,
    CompositionLine,
    Degradation,
    Ledger,
    LedgerLine,
    OptionLine,
    RequestLine,
)
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.agents import Effort
from poise.values.ids import RuleId
from poise.values.rules import WayIn

logger = logging.getLogger(__name__)

_SHOWN_TEXT = 200  # characters of a query that a line quotes; the message itself is in the log


class Account:
    """What a turn asked, called and failed at. One per turn, written to by the engine alone."""

    def __init__(self) -> None:
        self.requests: list[RequestLine] = []
        self.calls: list[CallLine] = []
        self.composition: CompositionLine | None = None
        self.degradations: list[Degradation] = []
        self.omissions: list[str] = []
        self.milliseconds: dict[str, float] = {}
        self.spending: Spending | None = None
        self._told = 0

    def degrade(self, part: str, reason: object, instead: str) -> None:
        """Take note that a part failed and what is done instead."""
        text = str(reason) or type(reason).__name__
        self.degradations.append(Degradation(part, text, instead))
        metrics.record_degradation(part)
        logger.warning(
            "a part of a turn failed",
            extra={"part": part, "reason": text, "instead": instead},
            exc_info=reason if isinstance(reason, Exception) else None,
        )

    def hook_failed(self, part: str, exc: Exception) -> None:
        """Take note that a hook failed."""
        self.degrade(part, exc, "went on without it")

    def allowed(self, wanted: Effort) -> Effort:
        """Return the effort that a turn may have: `wanted`, or less towards a limit on spending."""
        cap = self.spending.cap(self.cost) if self.spending is not None else None
        if self.spending is None or cap is None or wanted <= cap:
            return wanted
        if all(each.part != "effort" for each in self.degradations):
            self.degrade(
                "effort", self.spending.nearest(self.cost), f"{cap.name} instead of {wanted.name}"
            )
        return cap

    @property
    def cost(self) -> float:
        """What the turn's requests have cost so far, in US dollars, as far as that is known."""
        return sum(line.cost or 0.0 for line in self.requests)

    @property
    def late_requests(self) -> Sequence[RequestLine]:
        """The requests since the ledger was written."""
        return self.requests[self._told :]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a stage, in a span of its own."""
        started = time.perf_counter()
        try:
            with span(f"{STAGE}{name}"):
                yield
        finally:
            spent = time.perf_counter() - started
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent * 1000
            metrics.record_stage(spent, name)

    def ledger(self, turn: TurnContext, outcome: str, embedder: str) -> Ledger:
        """Return the ledger of `turn` as it stands."""
        self._told = len(self.requests)
        return Ledger(
            turn=turn.id,
            base=turn.base,
            upto=turn.upto,
            outcome=outcome,
            catalog=turn.snapshot.version,
            index=turn.index,
            embedder=embedder,
            effort=turn.effort.name.lower(),
            queries=tuple(
                {
                    "kind": query.kind.value,
                    "offset": query.offset,
                    "text": query.text[:_SHOWN_TEXT],
                }
                for query in turn.queries
            ),
            lines=_lines(turn),
            requests=tuple(self.requests),
            calls=tuple(self.calls),
            asked=_asked(turn),
            clarifications=tuple(
                ClarificationLine(
                    each.rule,
                    each.question or "",
                    tuple(
                        OptionLine(subject, as_said)
                        for subject, as_said in zip_longest(each.among, each.options, fillvalue="")
                    ),
                )
                for each in turn.clarifications
            ),
            composition=self.composition,
            degradations=tuple(self.degradations),
            omissions=tuple(self.omissions),
            labels=_labels(turn),
            milliseconds=dict(self.milliseconds),
        )


def _labels(turn: TurnContext) -> tuple[str, ...]:
    """Return what the turn puts on the session: labels of matched rules and of tools' results."""
    of_rules = {label for rule in turn.active_rules for label in rule.labels}
    of_tools = {label for each in turn.results if each.result for label in each.result.labels}
    return tuple(sorted(of_rules | of_tools))


def _asked(turn: TurnContext) -> tuple[AskedLine, ...]:
    offered_by = {each.tool.name: each.offered_by for each in turn.offered}
    return tuple(
        AskedLine(
            tool=insight.tool,
            rules=offered_by.get(insight.tool, ()),
            parameters=(*(each.name for each in insight.missing), *insight.invalid),
        )
        for insight in turn.insights
        if insight.missing or insight.invalid
    )


def _lines(turn: TurnContext) -> tuple[LedgerLine, ...]:
    verdicts = {verdict.rule: verdict for verdict in turn.verdicts}
    known = {candidate.rule.id: candidate for candidate in turn.candidates}
    lines = [
        _line(turn, candidate, turn.resolution.outcomes.get(rule), verdicts.get(rule))
        for rule, candidate in known.items()
    ]
    for rule, outcome in turn.resolution.outcomes.items():
        if rule in turn.snapshot.rules:
            if rule not in known:  # implied from outside
                implied = Candidate(turn.snapshot.rules[RuleId(rule)])
                lines.append(_line(turn, implied, outcome, None))
        elif turn.snapshot.knows(rule):
            lines.append(_journey_line(turn, outcome))
    for sighting in turn.sightings:
        if sighting.over_budget and sighting.rule not in known:
            candidate = Candidate(turn.snapshot.rules[sighting.rule], sighting)
            lines.append(_line(turn, candidate, Outcome(sighting.rule, Fate.OVER_BUDGET), None))
    for rule_value in turn.transient:
        lines.append(
            LedgerLine(
                subject=rule_value.id,
                kind="transient",
                name=rule_value.text,
                fate=Fate.MATCHED.value,
                judged_by="contributed",
            )
        )
    return tuple(lines)


def _journey_line(turn: TurnContext, outcome: Outcome) -> LedgerLine:
    is_journey = outcome.subject in turn.snapshot.journeys
    return LedgerLine(
        subject=outcome.subject,
        kind="journey" if is_journey else "node",
        name=turn.snapshot.name_of(outcome.subject),
        fate=outcome.fate.value,
        cause=outcome.causes,
        relation=outcome.relation,
    )


def _line(
    turn: TurnContext, candidate: Candidate, outcome: Outcome | None, verdict: Verdict | None
) -> LedgerLine:
    rule = candidate.rule
    sighting = candidate.sighting
    fate = outcome.fate if outcome else Fate.IN_CONTEXT
    # A judge's own; discovery's says nothing once code or an answer has decided.
    probability = verdict.probability if verdict else sighting.probability if sighting else None
    return LedgerLine(
        subject=rule.id,
        kind=rule.kind.value,
        name=rule.name,
        fate=fate.value,
        cause=outcome.causes if outcome else (),
        relation=outcome.relation if outcome else "",
        query=sighting.query.text[:_SHOWN_TEXT] if sighting and sighting.query else None,
        signal=sighting.signal if sighting else None,
        score=sighting.score if sighting else None,
        threshold=sighting.threshold if sighting else None,
        probability=probability,
        rationale=verdict.rationale if verdict else "",
        judged_by=verdict.judged_by if verdict else None,
        iteration=candidate.iteration,
        hit_at=_hit_at(turn, candidate),
        confirmed=verdict is not None
        and verdict.kind in (VerdictKind.APPLIES, VerdictKind.PARTLY_APPLIED)
        and fate is not Fate.EXCLUDED,
        verdict=verdict.kind.value if verdict else None,
    )


def _hit_at(turn: TurnContext, candidate: Candidate) -> int | None:
    """Return the offset that brings the rule into the working set, or renews it there."""
    rule = candidate.rule
    if rule.bypasses_discovery or rule.way_in is WayIn.TOOL:
        return None  # what brings it up does so on every turn; it takes no place in the set
    sighting = candidate.sighting
    if sighting is not None and sighting.is_hit and not sighting.over_budget and sighting.query:
        return sighting.query.offset
    if rule.id not in turn.state.working_set:
        # It came up with what depends on it: it joins where the turn's newest text stands.
        return max((query.offset for query in turn.queries), default=turn.base)
    return None
