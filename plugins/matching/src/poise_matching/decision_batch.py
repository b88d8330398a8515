"""The matcher that asks one yes/no question per rule, and reads a batch of probabilities."""

from __future__ import annotations

from poise.turn.candidates import Candidate
from poise.turn.context import TurnContext
from poise_matching.asking import AskingMatcher


class DecisionBatchMatcher(AskingMatcher):
    """Judges whatever nobody else does, by one question per rule: the strategy of decision models.

    It comes last in the settings' order: the strategies before it need a model that writes, or
    something that happened earlier in the session.
    """

    name = "decision_batch"
    section = (
        "Each question is about the conversation above, at the point of the customer's new "
        "messages. Answer each by itself, from what was said and nothing else. A condition of "
        "several parts holds only when every part does. Where the conversation leaves it open, "
        "say so."
    )

    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        return candidate.rule.matcher is None
