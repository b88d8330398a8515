"""A resolver with the results of the former generation of engines, for whoever moves from one.

It differs from the default on purpose. A dependency holds for this turn alone, whatever its mode.
Priority and exclusion both remove, numeric priority competes over everything that is left, and what
was removed stays removed: of A over B over C, all three matched, C goes because of B, although B
goes because of A. `rank` is not looked at.

It works in rounds of four steps: what lacks a dependency waits; what is outranked goes, and with it
whatever depended on it; of the rest, what is not implied and has a lower number than another goes;
and what is left implies. A round starts from everything that was matched or implied and has not
been removed, so what waited may come back when its target is implied.

It terminates: what is removed and what is implied only grow, both are sets of subjects of one
catalog, and the other steps are functions of the two. The former engine stopped after three rounds
whatever it had found by then, lost the winner of a priority in places, failed on ids that it did
not know, and could be made to run for ever; none of that is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from poise import Resolver
from poise.turn.fates import Fate, Outcome, Resolution, ResolutionRequest
from poise.turn.verdicts import VerdictKind
from poise.values.ids import RuleId, Subject
from poise_relations.parlant3_board import Board
from poise_relations.parlant3_needs import unmet_needs
from poise_relations.parlant3_round import implied, outnumbered, outranked

_PLAIN = {
    VerdictKind.DOES_NOT: Fate.NOT_APPLICABLE,
    VerdictKind.ALREADY_APPLIED: Fate.ALREADY_APPLIED,
    VerdictKind.AMBIGUOUS: Fate.AMBIGUOUS,
    VerdictKind.UNDECIDED: Fate.UNDECIDED,
}


class Parlant3Resolver(Resolver):
    """Settles relations in rounds, with what was removed final.

    Attributes:
        reinstates: What was removed still counts against those below it.
        ranks: Numbers compete over everything, not within ranks.
    """

    reinstates: ClassVar[bool] = False
    ranks: ClassVar[bool] = False

    def resolve(self, request: ResolutionRequest) -> Resolution:
        """Return one outcome for every known candidate and everything that a survivor implies."""
        board = Board.of(request)
        while True:
            waiting = unmet_needs(board)
            standing = board.standing - waiting.keys()
            removed = outranked(board, standing)
            removed.update(outnumbered(board, standing - removed.keys()))
            if removed:
                # What was implied may have lost its reason: the next rounds imply it again.
                board = board.without(removed)
                continue
            reasons = implied(board, standing)
            if reasons.keys() <= board.implied:
                return Resolution(_outcomes(board, waiting, reasons))
            board = board.with_implied(reasons)


def _outcomes(
    board: Board, waiting: Mapping[Subject, Outcome], reasons: Mapping[Subject, Outcome]
) -> dict[Subject, Outcome]:
    found: dict[Subject, Outcome] = {}
    for subject in sorted({*board.candidates, *board.standing, *board.removed}):
        outcome = board.removed.get(subject) or waiting.get(subject) or board.asked.get(subject)
        if outcome is None and subject in board.matched:
            outcome = Outcome(subject, Fate.MATCHED)
        found[subject] = outcome or reasons.get(subject) or _by_verdict(subject, board.request)
    return found


def _by_verdict(subject: Subject, request: ResolutionRequest) -> Outcome:
    rule = request.snapshot.rules.get(RuleId(subject))
    verdict = request.verdicts.get(RuleId(subject))
    if rule is None or not rule.enabled:
        return Outcome(subject, Fate.NOT_APPLICABLE)
    return Outcome(subject, Fate.IN_CONTEXT if verdict is None else _PLAIN[verdict.kind])
