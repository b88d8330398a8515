"""The stage *match*: every judged candidate gets exactly one verdict, or `undecided`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import anyio
import attrs

from poise.engine.account import Account
from poise.engine.parts import Parts
from poise.engine.questioning import answers_to
from poise.engine.reopening import after_changes, reopened
from poise.errors import InvalidVerdictError
from poise.ports.matching import Matcher
from poise.turn.candidates import Candidate
from poise.turn.context import Plan, TurnContext
from poise.turn.tooling import ToolOutcome
from poise.turn.verdicts import Answers, Inquiry, Verdict, VerdictKind
from poise.values.agents import CompositionMode
from poise.values.rules import WayIn


async def match(
    turn: TurnContext,
    *,
    parts: Parts,
    account: Account,
    fresh: Sequence[ToolOutcome] = (),
    iteration: int = 1,
) -> TurnContext:
    """Return the turn with a verdict for every candidate that is due one.

    A matched rule may lift the effort; what that makes due is judged in one further pass.
    Verdicts given stand, but for those that tools' results can change.

    Args:
        turn: With its candidates.
        parts: The engine's collaborators.
        account: The turn's account.
        fresh: Outcomes of tools since the last time.
        iteration: The running one, from 1.
    """
    before = turn.verdicts
    turn = reopened(turn, fresh, iteration)
    kept = {verdict.rule for verdict in turn.verdicts}
    again = [verdict for verdict in before if verdict.rule not in kept]
    turn = await _pass(turn, parts, account)
    if again:
        turn = await _pass(after_changes(turn, again), parts, account)
    lifted = _lifted(turn, account)
    if lifted is not None:
        turn = attrs.evolve(lifted, plan=await plan(lifted, parts, account))
        turn = await _pass(turn, parts, account)
    return turn


async def plan(turn: TurnContext, parts: Parts, account: Account) -> Plan:
    """Return the planner's plan; the default one where it fails."""
    try:
        return await parts.planner.plan(turn)
    except Exception as exc:
        account.degrade("planner", exc, "used the default plan")
        return Plan(effort=turn.effort, max_iterations=turn.agent.max_iterations)


def _lifted(turn: TurnContext, account: Account) -> TurnContext | None:
    applying = {verdict.rule for verdict in turn.verdicts if verdict.kind is VerdictKind.APPLIES}
    wanted = max(
        (
            candidate.rule.effort
            for candidate in turn.candidates
            if candidate.rule.effort is not None and candidate.rule.id in applying
        ),
        default=turn.effort,
    )
    if wanted <= turn.effort:
        return None
    allowed = account.allowed(wanted)
    return attrs.evolve(turn, effort=allowed) if allowed > turn.effort else None


async def _pass(turn: TurnContext, parts: Parts, account: Account) -> TurnContext:
    judged = {verdict.rule for verdict in turn.verdicts}
    candidates = tuple(
        attrs.evolve(each, judged=True) if not each.judged and _is_due(each, turn) else each
        for each in turn.candidates
    )
    turn = attrs.evolve(turn, candidates=candidates)
    due = [each for each in candidates if each.judged and each.rule.id not in judged]
    if not due:
        return turn
    by_matcher, unclaimed = _claims(due, turn, parts.matchers, account)
    verdicts = await _judge(by_matcher, turn, parts, account)
    verdicts.extend(_undecided(each, "nobody", "no matcher claims it") for each in unclaimed)
    order = {each.rule.id: place for place, each in enumerate(due)}
    verdicts.sort(key=lambda verdict: order[verdict.rule])
    return attrs.evolve(turn, verdicts=(*turn.verdicts, *verdicts))


def _is_due(candidate: Candidate, turn: TurnContext) -> bool:
    rule = candidate.rule
    if rule.way_in is WayIn.REPLY and not rule.always_judged and rule.matcher is None:
        return False  # it is about the reply, which nobody has worded yet
    return (
        rule.weight in turn.plan.judged
        or rule.matcher is not None
        or rule.id in turn.snapshot.consequential
        or (bool(rule.canned_responses) and turn.mode is not CompositionMode.FLUID)
    )


def _claims(
    due: Sequence[Candidate],
    turn: TurnContext,
    matchers: Sequence[Matcher],
    account: Account,
) -> tuple[Mapping[Matcher, list[Candidate]], list[Candidate]]:
    claimed: dict[Matcher, list[Candidate]] = {}
    unclaimed: list[Candidate] = []
    for candidate in due:
        owner = next((each for each in matchers if _claimed(each, candidate, turn, account)), None)
        if owner is None:
            unclaimed.append(candidate)
        else:
            claimed.setdefault(owner, []).append(candidate)
    if unclaimed:
        account.degrade(
            "matching", f"no matcher claims {len(unclaimed)} rules", "left them undecided"
        )
    return claimed, unclaimed


def _claimed(matcher: Matcher, candidate: Candidate, turn: TurnContext, account: Account) -> bool:
    try:
        return matcher.claims(candidate, turn)
    except Exception as exc:
        account.degrade(f"matcher {matcher.name}", exc, f"passed over it for {candidate.rule.name}")
        return False


async def _judge(
    by_matcher: Mapping[Matcher, list[Candidate]],
    turn: TurnContext,
    parts: Parts,
    account: Account,
) -> list[Verdict]:
    """Ask all matchers side by side, send what they want to know, and let them conclude."""
    said: dict[Matcher, Inquiry | Sequence[Verdict]] = {}

    async def inquire(matcher: Matcher, candidates: list[Candidate]) -> None:
        try:
            said[matcher] = await matcher.inquire(candidates, turn)
        except Exception as exc:
            account.degrade(f"matcher {matcher.name}", exc, "left its rules undecided")
            said[matcher] = [_undecided(each, matcher.name, str(exc)) for each in candidates]

    if len(by_matcher) == 1:
        await inquire(*next(iter(by_matcher.items())))
    else:
        async with anyio.create_task_group() as group:
            for matcher, candidates in by_matcher.items():
                group.start_soon(inquire, matcher, candidates)
    # In the matchers' order, whoever was the first to know what to ask: equal state, equal bytes.
    inquiries = {
        matcher.name: answer
        for matcher in by_matcher
        if isinstance(answer := said[matcher], Inquiry)
    }
    answers = Answers(await answers_to(inquiries, turn, parts, account) if inquiries else {})
    verdicts: list[Verdict] = []
    for matcher, candidates in by_matcher.items():
        answer = said[matcher]
        try:
            given = (
                matcher.conclude(candidates, answers, turn)
                if isinstance(answer, Inquiry)
                else answer
            )
            verdicts.extend(_checked(matcher.name, candidates, given))
        except Exception as exc:
            account.degrade(f"matcher {matcher.name}", exc, "left its rules undecided")
            verdicts.extend(_undecided(each, matcher.name, str(exc)) for each in candidates)
    return verdicts


def _checked(
    matcher: str, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]
) -> Sequence[Verdict]:
    wanted = {each.rule.id for each in candidates}
    given = [verdict.rule for verdict in verdicts]
    if len(given) != len(wanted) or set(given) != wanted:
        raise InvalidVerdictError(
            matcher, f"gave {len(given)} verdicts for {len(wanted)} candidates, or for others"
        )
    return verdicts


def _undecided(candidate: Candidate, judged_by: str, why: str) -> Verdict:
    return Verdict(candidate.rule.id, VerdictKind.UNDECIDED, judged_by, rationale=why)
