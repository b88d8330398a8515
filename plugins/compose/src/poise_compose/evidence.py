"""How strongly a rule is about what the customer just said, and not about what came before."""

from __future__ import annotations

from collections.abc import Mapping

from poise.turn.candidates import Sighting
from poise.turn.context import TurnContext
from poise.turn.fates import Fate
from poise.turn.queries import QueryKind
from poise.turn.verdicts import Verdict
from poise.values.ids import RuleId, Subject
from poise.values.rules import ALWAYS, Rule

FRESH = 0.35
"""Evidence from which a rule counts as being about the new message."""

_TRANSIENT = 0.8  # a hook or a tool named it for this turn
_BY_CODE = 0.9
_STANDING = 0.3  # applies on every turn, so this message is no reason to talk about it
_UNSCORED = 0.6  # judged to apply, without a number
_OLD_TOPIC = 0.6  # what remains of a verdict that none of the new texts supports
_ONLY_JOINED = 0.75  # brought up by the last messages together, perhaps by an older one
_IMPLIED = 0.9


class Evidence:
    """The evidence for each rule of one turn, 0 to 1."""

    def __init__(self, turn: TurnContext) -> None:
        self._turn = turn
        self._verdicts: Mapping[RuleId, Verdict] = {each.rule: each for each in turn.verdicts}
        self._sightings: Mapping[RuleId, Sighting] = {each.rule: each for each in turn.sightings}
        self._transient = frozenset(rule.id for rule in turn.transient)

    def of(self, rule: Rule) -> float:
        """Return how strongly `rule` is about the new message.

        From the verdict's probability and this turn's sighting; an implied rule has what implies
        it; a rule that applies on every turn has little.
        """
        return self._of(rule.id, frozenset())

    def nearest_signal(self, rule: Rule) -> str | None:
        """Return the phrase of `rule` that discovery found nearest to the new texts."""
        sighting = self._sightings.get(rule.id)
        return sighting.signal if sighting is not None else None

    def _of(self, subject: Subject, seen: frozenset[Subject]) -> float:
        outcome = self._turn.resolution.outcomes.get(subject)
        if outcome is not None and outcome.fate is Fate.IMPLIED:
            causes = [cause for cause in outcome.causes if cause not in seen]
            if causes:
                return _IMPLIED * max(self._of(cause, seen | {subject}) for cause in causes)
        return self._own(RuleId(subject))

    def _own(self, rule: RuleId) -> float:
        if rule in self._transient:
            return _TRANSIENT
        verdict = self._verdicts.get(rule)
        sighting = self._sightings.get(rule)
        if verdict is not None and verdict.from_code:
            declared = self._turn.snapshot.rules.get(rule)
            return _STANDING if declared is not None and declared.matcher == ALWAYS else _BY_CODE
        judged = verdict.probability if verdict is not None else None
        if sighting is None:
            return _UNSCORED if judged is None else judged
        if not sighting.is_hit:
            return _OLD_TOPIC * (_UNSCORED if judged is None else judged)
        found = max(sighting.probability, 0.5) if judged is None else judged
        joined = sighting.query is not None and sighting.query.kind is QueryKind.JOINED
        return found * (_ONLY_JOINED if joined else 1.0)
