"""What a session keeps from turn to turn: rules, facts, labels, and how much a turn may spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from poise import (
    Agent,
    Application,
    DependencyMode,
    Effort,
    Fate,
    Reply,
    Session,
    SessionMode,
    ToolResult,
    tool,
)
from poise.testing.applications import ScriptedParts, discoverys_own
from poise.testing.clock import FrozenClock
from poise.testing.providers import ScriptedDecisionModel
from poise.testing.scripted_discovery import ScriptedDiscoverer
from poise.testing.session_laws import assert_session_laws
from poise.turn.state import SessionState, fold
from poise.values.clock import Clock

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

TOPICS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes")


def by_topic() -> ScriptedParts:
    """Return parts whose discovery sights the policies that a text names, in every text."""
    return ScriptedParts(discoverer=ScriptedDiscoverer({each: [each] for each in TOPICS}))


async def grocer(app: Application, **of_each: Any) -> Agent:
    agent = await app.create_agent("Grocer", composition_mode="canned_strict", no_match="Hm?")
    for topic in TOPICS:
        await agent.create_policy(
            topic, f"Talk about {topic}", canned_responses=[f"About {topic}."], **of_each
        )
    return agent


def fates(reply: Reply) -> Mapping[str, str]:
    assert reply.ledger is not None
    return {line.name: line.fate for line in reply.ledger.lines}


async def state_of(app: Application, session: Session) -> SessionState:
    await app.runtime.dispatcher.idle(session.id)
    events = await session.events()
    assert_session_laws(events)
    return fold(events)


async def members(app: Application, session: Session, agent: Agent) -> Sequence[str]:
    catalog = app.runtime.catalogs.current(agent.id)
    assert catalog is not None
    return [catalog.rules[rule].name for rule in (await state_of(app, session)).working_set]


# -- the working set --


async def test_rule_stays_considered_after_the_message_that_brought_it_up(
    open_application: Open,
) -> None:
    async with open_application(by_topic()) as app:
        session = await app.open_session(await grocer(app))
        await session.say("apples")
        for _ in range(3):
            await session.say("well")

        reply = await session.say("well")

        assert fates(reply) == {"apples": Fate.UNDECIDED.value}


async def test_working_set_is_pruned_after_the_reply_oldest_hit_first(
    open_application: Open,
) -> None:
    small = {"engine": {"working_set": 3, "working_set_after": 2}}
    async with open_application(by_topic(), settings=small) as app:
        agent = await grocer(app)
        session = await app.open_session(agent)
        for topic in TOPICS[:3]:
            await session.say(topic)
            await session.say("well")
            await session.say("well")
        assert await members(app, session, agent) == ["apples", "bread", "cheese"]

        reply = await session.say("dates")

        assert set(await members(app, session, agent)) <= {"cheese", "dates"}
        assert "dates" in await members(app, session, agent)
        assert fates(reply)["dates"] == Fate.MATCHED.value
        assert len(fates(reply)) <= 3, "a full working set makes room at once"


async def test_pruned_rule_comes_back_by_a_fresh_message(open_application: Open) -> None:
    small = {"engine": {"working_set": 1, "working_set_after": 1}}
    async with open_application(by_topic(), settings=small) as app:
        agent = await grocer(app)
        session = await app.open_session(agent)
        for text in ("apples", "well", "well", "bread", "well", "well"):
            await session.say(text)
        assert await members(app, session, agent) == ["bread"]

        reply = await session.say("apples again")

        assert reply.text == "About apples."
        assert "apples" in await members(app, session, agent)


async def test_candidates_of_a_turn_are_bounded_whatever_was_said_before(
    open_application: Open,
) -> None:
    limits = {
        "engine": {"working_set": 3, "working_set_after": 2},
        "matching": {"admit_limit": 2},
    }
    async with open_application(by_topic(), settings=limits) as app:
        session = await app.open_session(await grocer(app))
        for _ in range(4):
            reply = await session.say(" and ".join(TOPICS))

            left_out = [fate for fate in fates(reply).values() if fate == Fate.OVER_BUDGET.value]
            assert len(fates(reply)) == len(TOPICS), "what is left out has its line too"
            assert len(fates(reply)) - len(left_out) <= 3


# -- relations over turns --


@pytest.mark.parametrize(
    ("mode", "later"),
    [
        (DependencyMode.THIS_SESSION, Fate.MATCHED),
        (DependencyMode.THIS_TURN, Fate.UNMET_DEPENDENCY_ALL),
    ],
)
async def test_dependency_stays_met_for_as_long_as_it_says(
    open_application: Open, mode: DependencyMode, later: Fate
) -> None:
    applies = {"about fruit": "apples", "figs": "figs"}

    def by_last_message(question: Any, request: Any) -> float:
        name = next(name for name in applies if name in question.text)
        return 0.9 if applies[name] in " ".join(request.focus) else 0.1

    parts = ScriptedParts(
        decisions=ScriptedDecisionModel(by_last_message),
        discoverer=ScriptedDiscoverer({"apples": ["about fruit"], "figs": ["figs"]}),
    )
    async with open_application(parts) as app:
        agent = await app.create_agent("Grocer")
        fruit = await agent.create_observation("about fruit", title="about fruit")
        figs = await agent.create_policy("figs", when="figs are wanted", then="Sell figs")
        await figs.depend_on(fruit, mode=mode)
        session = await app.open_session(agent)

        early = await session.say("figs please")
        await session.say("apples please")
        late = await session.say("figs now")

        assert fates(early)["figs"] == Fate.UNMET_DEPENDENCY_ALL.value
        assert fates(late)["figs"] == later.value


# -- variables --


async def test_variable_is_fetched_again_once_its_cron_expression_has_ticked(
    open_application: Open,
) -> None:
    clock = FrozenClock()
    fetched: list[int] = []

    @tool
    async def read_balance() -> int:
        fetched.append(len(fetched) + 1)
        return fetched[-1]

    async with open_application(overrides={Clock: clock}) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        await agent.create_variable("balance", tool=read_balance, freshness_rules="0 * * * *")
        await agent.create_policy(
            "Balance", "Say it", signals=["balance"], canned_responses=["You have {balance}."]
        )
        session = await app.open_session(agent)

        said = []
        for seconds in (0, 1800, 1799, 1):
            clock.advance(seconds)
            said.append((await session.say("balance?")).text)

        assert said == ["You have 1.", "You have 1.", "You have 1.", "You have 2."]
        assert fetched == [1, 2]


async def test_variable_belongs_to_its_customer(open_application: Open) -> None:
    async with open_application() as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        plan = await agent.create_variable("plan")
        await agent.create_policy(
            "Plan", "Say it", signals=["plan"], canned_responses=["You have {plan}."]
        )
        ann = await app.create_customer("Ann", id="ann")
        await plan.set_value(ann, "gold")

        for_ann = await (await app.open_session(agent, ann)).say("my plan?")
        for_guest = await (await app.open_session(agent)).say("my plan?")

        assert (for_ann.text, for_guest.text) == ("You have gold.", "Hm?")


async def test_variable_whose_tool_fails_is_left_out_and_said_so(open_application: Open) -> None:
    @tool
    async def broken() -> int:
        raise OSError("gone")

    async with open_application() as app:
        agent = await app.create_agent("Clerk")
        await agent.create_variable("balance", tool=broken)
        session = await app.open_session(agent)

        reply = await session.say("hello")

        assert reply.messages
        assert reply.ledger is not None
        assert [each.part for each in reply.ledger.degradations] == ["variable balance"]


# -- labels, groups --


async def test_labels_of_active_rules_and_of_tools_stay_on_the_session(
    open_application: Open,
) -> None:
    @tool
    async def rate() -> ToolResult:
        return ToolResult(data="rated", labels=frozenset({"rated"}))

    async with open_application() as app:
        agent = await app.create_agent("Clerk")
        await agent.create_policy("Angry", "Calm down", signals=["angry"], labels=["upset"])
        await agent.create_policy("Rate", "Rate it", signals=["rate"], tools=[rate])
        session = await app.open_session(agent)

        angry = await session.say("I am angry")
        await session.say("let me rate you")
        await session.say("bye")

        assert angry.ledger is not None
        assert angry.ledger.labels == ("upset",)
        assert (await state_of(app, session)).labels == {"upset", "rated"}


async def test_rule_of_a_group_is_no_candidate_for_others(open_application: Open) -> None:
    async with open_application() as app:
        agent = await app.create_agent("Clerk")
        await agent.create_policy("Discount", "Offer it", signals=["price"], groups=["trade"])
        await agent.create_policy("Tone", "Be kind", matcher="always", groups=["trade"])
        ann = await app.create_customer("Ann", id="ann", groups=["trade"])

        for_ann = await (await app.open_session(agent, ann)).say("price")
        for_guest = await (await app.open_session(agent)).say("price")

        assert set(fates(for_ann)) == {"Discount", "Tone"}
        assert fates(for_guest) == {}


async def test_rule_of_a_group_is_not_brought_up_by_what_implies_it(open_application: Open) -> None:
    async with open_application() as app:
        agent = await app.create_agent("Clerk")
        hello = await agent.create_policy("Hello", "Greet", signals=["hello"])
        await hello.entail(await agent.create_policy("Discount", "Offer it", groups=["trade"]))
        ann = await app.create_customer("Ann", id="ann", groups=["trade"])

        for_ann = await (await app.open_session(agent, ann)).say("hello")
        for_guest = await (await app.open_session(agent)).say("hello")

        assert "Discount" not in fates(for_guest)
        assert fates(for_ann)["Hello"] == Fate.MATCHED.value


# -- effort --


async def test_lifted_effort_judges_what_it_makes_due_in_one_further_pass(
    open_application: Open,
) -> None:
    decisions = ScriptedDecisionModel(discoverys_own)
    async with open_application(ScriptedParts(decisions=decisions)) as app:
        agent = await app.create_agent("Clerk", effort=Effort.MIN)
        await agent.create_policy(
            "Complaint", "Take care", signals=["complain"], effort=Effort.MEDIUM
        )
        await agent.create_policy("Polite", "Be polite", signals=["complain"])
        await agent.create_policy("Light", "Whatever", signals=["complain"], weight="low")
        session = await app.open_session(agent)

        reply = await session.say("I complain")

        asked = [len(request.questions) for request in decisions.requests]
        assert asked == [1, 1], "the lift first, then once what it made due; verdicts stand"
        assert fates(reply) == {
            "Complaint": Fate.MATCHED.value,
            "Polite": Fate.MATCHED.value,
            "Light": Fate.IN_CONTEXT.value,
        }
        assert reply.ledger is not None
        assert reply.ledger.effort == "medium"


async def test_lift_lasts_for_its_turn(open_application: Open) -> None:
    async with open_application() as app:
        agent = await app.create_agent("Clerk", effort=Effort.MIN)
        await agent.create_policy(
            "Complaint", "Take care", signals=["complain"], effort=Effort.HIGH
        )
        session = await app.open_session(agent)

        efforts = []
        for text in ("I complain", "one", "two", "three"):
            ledger = (await session.say(text)).ledger
            assert ledger is not None
            efforts.append(ledger.effort)

        assert efforts[0] == "high"
        assert efforts[-1] == "min"


# -- speaking unprompted --


async def test_utterance_is_said_under_the_same_account_and_answers_nothing_twice(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_canned_response("Your parcel has arrived.")
        session = await app.open_session(agent)
        await session.say("open?")

        reply = await session.utter("tell them that their parcel has arrived")
        after = await session.say("where can I park?")

        assert reply.messages == ("Your parcel has arrived.",)
        assert reply.ledger is not None
        assert reply.ledger.outcome == "sent"
        assert "behind the shop" in after.text
        assert (await state_of(app, session)).unanswered == ()


async def test_agent_says_nothing_unprompted_while_a_person_has_the_session(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        await agent.create_canned_response("Your parcel has arrived.")
        session = await app.open_session(agent)
        await app.runtime.set_mode(app.scope, session.id, SessionMode.MANUAL)

        reply = await session.utter("tell them that their parcel has arrived")

        assert reply.messages == ()


# -- state as a fold --


async def test_kept_checkpoint_equals_the_fold_of_the_whole_log(
    open_application: Open, shop: Any
) -> None:
    async with open_application() as app:
        session = await app.open_session(await shop.open(app))
        for text in ("open?", "freeze my card", "my balance?", "where can I park?"):
            await session.say(text)
        await app.runtime.dispatcher.idle(session.id)

        history = await app.runtime.stores.scope(app.scope).sessions.read(session.id)

        assert history.checkpoint is not None
        assert history.checkpoint.offset == history.length
        assert history.checkpoint.state == fold(history.events)
