"""The effort table, cell by cell, and the plan that is read from it."""

import attrs
import pytest

from poise.testing.models import ScriptedModels
from poise.testing.turns import AGENT, catalog_of, turn_of
from poise.turn.models import Capability
from poise.values.agents import Effort
from poise.values.rules import Weight
from poise_matching import EffortPlanner, MatchingSettings
from poise_matching.effort import TABLE, Judgement, judgement

NOBODY, HIGH, MEDIUM_UP = set(), {Weight.HIGH}, {Weight.MEDIUM, Weight.HIGH}


async def plan_at(effort: Effort, *, decides: bool, settings: MatchingSettings | None = None):
    served = frozenset(Capability) if decides else frozenset({Capability.EMBED})
    snapshot = catalog_of(agent=attrs.evolve(AGENT, max_iterations=7))
    turn = turn_of(snapshot, "hi", models=ScriptedModels(served=served), effort=effort)
    return await EffortPlanner(settings or MatchingSettings()).plan(turn)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("effort", "decides", "judged"),
    [
        (Effort.MIN, False, NOBODY),
        (Effort.MIN, True, NOBODY),
        (Effort.LOW, False, NOBODY),
        (Effort.LOW, True, HIGH),
        (Effort.MEDIUM, False, HIGH),
        (Effort.MEDIUM, True, MEDIUM_UP),
        (Effort.HIGH, False, MEDIUM_UP),
        (Effort.HIGH, True, MEDIUM_UP),
        (Effort.MAX, False, MEDIUM_UP),
        (Effort.MAX, True, MEDIUM_UP),
    ],
)
async def test_who_is_judged(effort, decides, judged):
    plan = await plan_at(effort, decides=decides)

    assert plan.judged == judged
    assert plan.effort is effort


@pytest.mark.anyio
@pytest.mark.parametrize("decides", [False, True])
@pytest.mark.parametrize(
    ("effort", "one_request", "explain"),
    [
        (Effort.MIN, True, False),
        (Effort.LOW, True, False),
        (Effort.MEDIUM, True, False),
        (Effort.HIGH, False, True),
        (Effort.MAX, False, True),
    ],
)
async def test_how_they_are_judged(effort, one_request, explain, decides):
    plan = await plan_at(effort, decides=decides)

    assert (plan.one_request, plan.explain) == (one_request, explain)


ROUTE, AGAIN = "matching.verdict", "matching.reconsider"
LOW, MEDIUM = Weight.LOW, Weight.MEDIUM

# By effort: who is judged without a decision model and with one; together; why; again over.
CELLS = {
    Effort.MIN: ((), (), True, False, None),
    Effort.LOW: ((), (Weight.HIGH,), True, False, None),
    Effort.MEDIUM: ((Weight.HIGH,), (MEDIUM, Weight.HIGH), True, False, AGAIN),
    Effort.HIGH: ((MEDIUM, Weight.HIGH), (MEDIUM, Weight.HIGH), False, True, AGAIN),
    Effort.MAX: ((MEDIUM, Weight.HIGH), (MEDIUM, Weight.HIGH), False, True, AGAIN),
}


@pytest.mark.parametrize("consequential", [False, True])
@pytest.mark.parametrize("decides", [False, True])
@pytest.mark.parametrize("weight", Weight)
@pytest.mark.parametrize("effort", Effort)
def test_each_cell_of_the_table(effort, weight, decides, consequential):
    plain, cheap, together, explained, again = CELLS[effort]

    found = judgement(effort, weight, decides=decides, consequential=consequential)

    assert found == Judgement(
        judged=consequential or weight in (cheap if decides else plain),
        one_request=together,
        explain=explained,
        route=ROUTE,
        reconsider=again,
    )


def test_every_effort_has_its_row():
    assert set(TABLE) == set(Effort)


@pytest.mark.anyio
async def test_iterations_come_from_the_agent_and_the_limit_from_settings():
    plan = await plan_at(Effort.MEDIUM, decides=True, settings=MatchingSettings(admit_limit=4))

    assert (plan.max_iterations, plan.admit_limit) == (7, 4)
