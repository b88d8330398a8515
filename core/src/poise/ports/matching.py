"""Matching, resolution and planning: which candidates apply, and how much a turn may spend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from poise.turn.candidates import Candidate
from poise.turn.context import Plan, TurnContext
from poise.turn.fates import Resolution, ResolutionRequest
from poise.turn.verdicts import Answers, Inquiry, Verdict


class Matcher(ABC):
    """One way of judging whether candidates apply to this very turn.

    Every judged candidate goes to the first matcher, in the order of the setting `matchers`, that
    claims it. A matcher either answers at once, or states what it wants to ask; the engine
    decides how many requests carry the questions.
    """

    name: ClassVar[str]

    @abstractmethod
    def claims(self, candidate: Candidate, turn: TurnContext) -> bool:
        """Say whether this matcher judges `candidate`. Fast, pure, never raises."""

    @abstractmethod
    async def inquire(
        self, candidates: Sequence[Candidate], turn: TurnContext
    ) -> Inquiry | Sequence[Verdict]:
        """Return what to ask about `candidates`, or their verdicts at once.

        An exception makes all of them UNDECIDED and is a degradation in the ledger.
        """

    def conclude(
        self, candidates: Sequence[Candidate], answers: Answers, turn: TurnContext
    ) -> Sequence[Verdict]:
        """Return exactly one verdict per candidate, from the answers to its inquiry.

        The default is for matchers that answer at once: it is never called for them.

        Raises:
            NotImplementedError: The matcher asked something but can't conclude.
        """
        raise NotImplementedError(f"matcher {self.name!r} inquires but does not conclude")


class Resolver(ABC):
    """Settles what the relations between rules make of the verdicts."""

    @abstractmethod
    def resolve(self, request: ResolutionRequest) -> Resolution:
        """Return one outcome for every candidate and for every rule that an active one implies.

        Pure, total, deterministic and independent of the order of its input: it never raises for
        a valid snapshot, ignores ids it does not know, and resolving twice gives equal results.
        """


class Planner(ABC):
    """Decides at the start of a turn, and again when a rule lifts its effort, what it may spend."""

    @abstractmethod
    async def plan(self, turn: TurnContext) -> Plan:
        """Return the plan for `turn.effort`. An exception makes the engine use `Plan()`."""
