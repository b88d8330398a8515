"""The matcher of rules that apply on every turn."""

from __future__ import annotations

from collections.abc import Sequence

from poise import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise.turn.verdicts import Inquiry, Verdict, VerdictKind
from poise.values.rules import ALWAYS


class AlwaysMatcher(Matcher):
    """Says yes to the rules declared so, and asks nobody."""

    name = "always"

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.matcher == ALWAYS

    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        return [
            Verdict(each.rule.id, VerdictKind.APPLIES, self.name, from_code=True)
            for each in candidates
        ]
