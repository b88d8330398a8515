"""Turn hooks: called at their point with their arguments, and heeded as their docstrings say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from poise import (
    Application,
    Bail,
    EventKind,
    Fate,
    InvalidValueError,
    Message,
    Rule,
    RuleKind,
    Session,
    SessionMode,
    Skip,
    Skippable,
    Term,
    ToolCall,
    TurnContext,
    tool,
)
from poise.hooks import specs
from poise.hooks.markers import PROJECT
from poise.testing.applications import ScriptedParts
from poise.testing.hook_probe import HookProbe
from poise.testing.session_laws import agent_messages, assert_session_laws, ledgers, statuses
from poise.turn.control import Contribution
from poise.values.ids import AgentId, RuleId, TermId

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]

ORDER = [
    "on_event",
    "on_acknowledging",
    "on_acknowledged",
    "on_preparing",
    "on_preparation_iteration_start",
    "on_model_request",  # the message is embedded
    "on_model_response",
    "on_model_request",
    "on_model_response",
    "on_tool_call",
    "on_tool_result",
    "on_preparation_iteration_end",
    "on_preparation_iteration_start",
    "on_model_request",  # so is the tool's result
    "on_model_response",
    "on_preparation_iteration_end",
    "on_rule_selected",
    "on_generating_messages",
    "on_draft_generated",
    "on_message_generated",
    "on_messages_emitted",
    "on_rule_message",
]


def answering(answer: object) -> Any:
    """Return what makes a hook return `answer`."""

    async def answers(_arguments: Mapping[str, Any]) -> object:
        return answer

    return answers


async def asked(
    open_application: Open, shop: Any, text: str, answers: Mapping[str, object]
) -> tuple[Any, Session, HookProbe]:
    """Return the reply to `text` where hooks answer so, from a closed application."""
    probe = HookProbe(answers={hook: answering(each) for hook, each in answers.items()})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        reply = await session.say(text)
        assert_session_laws(await session.events())
    return reply, session, probe


def transient(text: str) -> Rule:
    return Rule(RuleId(f"rule_{text}"), AgentId("agent"), RuleKind.POLICY, then=text)


def test_probe_stands_at_every_hook_of_a_turn() -> None:
    specified = {
        name
        for name, function in vars(specs).items()
        if name.startswith("on_") and hasattr(function, f"{PROJECT}_spec")
    }

    assert {name for name in dir(HookProbe) if name.startswith("on_")} == specified


async def test_hooks_are_called_in_the_order_of_a_turn(open_application: Open, shop: Any) -> None:
    probe = HookProbe()
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        probe.visits.clear()

        await session.say("my balance?")
        await app.runtime.dispatcher.idle(session.id)

    assert probe.hooks == ORDER


async def test_each_hook_is_given_what_the_turn_knows_by_then(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe()
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        reply = await session.say("my balance?")
        await app.runtime.dispatcher.idle(session.id)

    assert probe.at("on_event")[0]["event"].data["text"] == "my balance?"
    (loaded,) = (each["turn"] for each in probe.at("on_preparing"))
    assert loaded.id == reply.turn
    assert loaded.new_messages == ("my balance?",)
    assert not loaded.candidates
    first, second = (each["turn"] for each in probe.at("on_preparation_iteration_end"))
    assert [rule.title for rule in first.active_rules] == ["Balance"]
    assert [outcome.tool for outcome in second.results] == ["look_up_balance"]
    requests = {each["route"]: each["request"] for each in probe.at("on_model_request")}
    assert requests["matching.verdict"].texts == ("my balance?",)
    assert [each.text for each in requests["matching.verdict"].questions]
    assert requests["embed"].prompt is None
    assert len(probe.at("on_model_request")) == len(probe.at("on_model_response"))
    assert {each["error"] for each in probe.at("on_model_response")} == {None}
    (call,) = probe.at("on_tool_call")
    assert call["call"].key.startswith(f"{session.id}:0:look_up_balance:")
    (result,) = probe.at("on_tool_result")
    assert result["outcome"].succeeded
    assert [each["rule"].title for each in probe.at("on_rule_selected")] == ["Balance"]
    assert [each["rule"].title for each in probe.at("on_rule_message")] == ["Balance"]
    (emitted,) = probe.at("on_messages_emitted")
    assert [event.text for event in emitted["messages"]] == ["You have 12 euros left."]


async def test_failed_turn_is_told_of_with_its_error(open_application: Open, shop: Any) -> None:
    async def fails(_arguments: Mapping[str, Any]) -> None:
        raise ZeroDivisionError("as told")

    probe = HookProbe(answers={"on_draft_generated": fails})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        await app.runtime.dispatcher.idle(session.id)

    (told,) = probe.at("on_error")
    assert "as told" in str(told["error"])
    assert told["turn"].new_messages == ("open?",)


async def test_new_catalog_is_told_of_once_it_serves(open_application: Open, shop: Any) -> None:
    serving: list[bool] = []

    async def compare(arguments: Mapping[str, Any]) -> None:
        catalog = arguments["catalog"]
        serving.append(app.runtime.catalogs.current(catalog.agent.id) is catalog)

    app = open_application(None, HookProbe(answers={"on_catalog_changed": compare}))
    async with app:
        await app.open_session(await shop.open(app))

    assert serving == [True]


# -- a bail --


@pytest.mark.parametrize(
    "hook",
    [
        "on_acknowledged",
        "on_preparing",
        "on_preparation_iteration_start",
        "on_generating_messages",
    ],
)
async def test_bail_ends_the_turn_with_ready_and_its_reason(
    open_application: Open, shop: Any, hook: str
) -> None:
    reply, _, probe = await asked(open_application, shop, "open?", {hook: Bail("closed")})

    assert reply.messages == ()
    ready = reply.events[-1]
    assert (ready.data["status"], ready.data["detail"]) == ("ready", "closed")
    assert probe.at("on_messages_emitted") == []


async def test_bail_before_the_turn_begins_leaves_no_status(
    open_application: Open, shop: Any
) -> None:
    reply, _, _ = await asked(open_application, shop, "open?", {"on_acknowledging": Bail("no")})

    assert not statuses(reply.events)
    assert reply.messages == ()


async def test_message_that_came_while_a_hook_ended_the_turn_gets_a_turn_of_its_own(
    open_application: Open, shop: Any
) -> None:
    async with open_application(None, probe := HookProbe()) as app:
        session = await app.open_session(await shop.open(app))

        async def closes_once(_arguments: Mapping[str, Any]) -> Bail | None:
            if len(probe.at("on_acknowledging")) > 1:
                return None
            store = app.runtime.stores.scope(app.scope).sessions
            (first,) = (await store.read(session.id)).events
            await store.append(
                session.id, [attrs.evolve(probe.at("on_event")[0]["event"], id="event_second")]
            )
            assert first.offset == 0
            return Bail("closed")

        probe.answers["on_acknowledging"] = closes_once
        await session.say("open?")
        await app.runtime.set_mode(app.scope, session.id, SessionMode.AUTO)
        await app.runtime.dispatcher.idle(session.id)
        events = await session.events()

        assert_session_laws(events)
        assert [ledger.outcome for ledger in ledgers(events)] == ["silent", "sent"]


async def test_bail_at_the_end_of_a_pass_ends_preparation_and_the_reply_is_made(
    open_application: Open, shop: Any
) -> None:
    reply, _, probe = await asked(
        open_application, shop, "my balance?", {"on_preparation_iteration_end": Bail("enough")}
    )

    assert reply.text == "You have 12 euros left."
    assert len(probe.at("on_preparation_iteration_start")) == 1


async def test_later_plugins_do_not_hear_of_a_turn_that_was_ended(
    open_application: Open, shop: Any
) -> None:
    first = HookProbe("a", {"on_preparing": answering(Bail("no"))})
    second = HookProbe("b")
    async with open_application(None, second, first) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")

    assert len(first.at("on_preparing")) == 1
    assert second.at("on_preparing") == []


# -- a skip --


async def test_discovery_that_is_skipped_considers_what_is_in_play(
    open_application: Open, shop: Any
) -> None:
    reply, _, _ = await asked(
        open_application, shop, "open?", {"on_preparing": Skip(Skippable.DISCOVERY)}
    )

    assert reply.text == "Hm?"
    assert reply.ledger.queries == ()
    assert reply.ledger.lines == ()


async def test_tools_that_are_skipped_are_not_called(open_application: Open, shop: Any) -> None:
    reply, _, _ = await asked(
        open_application, shop, "freeze my card", {"on_acknowledged": Skip(Skippable.TOOLS)}
    )

    assert shop.calls == []
    assert reply.ledger.calls == ()


# -- a contribution --


@pytest.mark.parametrize(
    "hook",
    [
        "on_acknowledging",
        "on_acknowledged",
        "on_preparing",
        "on_preparation_iteration_start",
        "on_preparation_iteration_end",
        "on_generating_messages",
    ],
)
async def test_contribution_reaches_whoever_comes_after(
    open_application: Open, shop: Any, hook: str
) -> None:
    term = Term(TermId("term_x"), AgentId("agent"), "float", "money in the till")
    given = Contribution(
        variables={"plan": "gold"},
        rules=(transient("be brief"),),
        terms=(term,),
        fields={"weather": "sunny"},
    )
    probe = HookProbe(answers={hook: answering(given)})
    async with open_application(None, probe) as app:
        agent = await shop.open(app)
        await agent.create_policy(
            "Weather",
            "Say it",
            signals=["weather"],
            canned_responses=["It is {weather} on your {plan} plan."],
        )
        session = await app.open_session(agent)

        reply = await session.say("the weather?")

        assert reply.text == "It is sunny on your gold plan."
        composed: TurnContext = probe.at("on_draft_generated")[0]["turn"]
        assert term in composed.terms
        assert reply.ledger is not None
        names = [line.name for line in reply.ledger.lines if line.kind == "transient"]
        assert names == ["be brief"]
        assert_session_laws(await session.events())


async def test_transient_rule_is_forgotten_with_its_turn(open_application: Open, shop: Any) -> None:
    given = Contribution(rules=(transient("be brief"),))
    probe = HookProbe(answers={"on_preparing": answering(given)})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open?")
        probe.answers.clear()

        ledger = (await session.say("open?")).ledger

        assert ledger is not None
        assert "transient" not in {line.kind for line in ledger.lines}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("canned_strict", "We are open from nine to five."), ("fluid", "Whenever you like!")],
)
async def test_contributed_draft_is_said_only_where_the_mode_is_fluid(
    open_application: Open, shop: Any, mode: str, expected: str
) -> None:
    draft = Contribution(draft="Whenever you like!")
    probe = HookProbe(answers={"on_generating_messages": answering(draft)})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app, composition_mode=mode))

        assert (await session.say("open?")).text == expected
        assert len(probe.at("on_message_generated")) == 1


# -- folding --


async def test_event_is_masked_before_it_is_stored(open_application: Open, shop: Any) -> None:
    async def mask(arguments: Mapping[str, Any]) -> Any:
        event = arguments["event"]
        return attrs.evolve(event, data={**event.data, "text": "open ****"})

    async with open_application(None, HookProbe(answers={"on_event": mask})) as app:
        session = await app.open_session(await shop.open(app))
        await session.say("open 4711")

        assert [each.text for each in await session.events() if each.is_customer_message] == [
            "open ****"
        ]


async def test_refused_event_is_not_stored_and_says_why(open_application: Open, shop: Any) -> None:
    probe = HookProbe(answers={"on_event": answering(Bail("no numbers"))})
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))

        with pytest.raises(InvalidValueError, match="no numbers"):
            await session.say("open 4711")

        assert await session.events() == ()


async def test_tool_call_is_replaced_and_passes_the_gate_again(open_application: Open) -> None:
    seen: list[int] = []

    @tool
    async def pay(amount: int) -> str:
        seen.append(amount)
        return "paid"

    async def halve(arguments: Mapping[str, Any]) -> ToolCall:
        call: ToolCall = arguments["call"]
        return attrs.evolve(call, arguments={"amount": call.arguments["amount"] // 2})

    async def spoil(arguments: Mapping[str, Any]) -> ToolCall:
        call: ToolCall = arguments["call"]
        return attrs.evolve(call, arguments={"amount": "all of it"})

    for answer, expected in ((halve, [20]), (spoil, [20])):
        async with open_application(None, HookProbe(answers={"on_tool_call": answer})) as app:
            agent = await app.create_agent("Clerk")
            await agent.create_policy("Pay", "Pay it", signals=["pay"], tools=[pay])
            session = await app.open_session(agent)

            reply = await session.say("pay an amount of 40")

            assert seen == expected
            assert reply.ledger is not None
            assert [call.outcome for call in reply.ledger.calls] == [
                "finished" if answer is halve else "refused"
            ]


async def test_refused_tool_call_has_the_hooks_reason(open_application: Open, shop: Any) -> None:
    reply, _, _ = await asked(
        open_application, shop, "freeze my card", {"on_tool_call": Bail("not at night")}
    )

    assert shop.calls == []
    assert [(call.outcome, call.detail) for call in reply.ledger.calls] == [
        ("refused", "not at night")
    ]


@pytest.mark.parametrize("hook", ["on_draft_generated", "on_message_generated"])
async def test_message_is_replaced_before_it_leaves(
    open_application: Open, shop: Any, hook: str
) -> None:
    reply, _, probe = await asked(open_application, shop, "open?", {hook: Message("Come in!")})

    assert reply.messages == ("Come in!",)
    assert probe.at("on_messages_emitted")[0]["messages"][0].text == "Come in!"


@pytest.mark.parametrize("hook", ["on_draft_generated", "on_message_generated"])
async def test_message_is_held_back(open_application: Open, shop: Any, hook: str) -> None:
    reply, _, probe = await asked(open_application, shop, "open?", {hook: Bail("hush")})

    assert reply.messages == ()
    assert reply.ledger.outcome == "silent"
    assert probe.at("on_messages_emitted") == []


async def test_hooks_run_in_the_settings_order_and_each_sees_what_the_one_before_made(
    open_application: Open, shop: Any
) -> None:
    def adding(letter: str) -> Any:
        async def add(arguments: Mapping[str, Any]) -> Message:
            return Message(arguments["message"].text + letter)

        return add

    probes = [HookProbe(name, {"on_message_generated": adding(name)}) for name in "abc"]
    for order, expected in ((["c", "a"], "cab"), ([], "abc")):
        settings = {"plugins": {"order": order}}
        async with open_application(None, *probes, settings=settings) as app:
            session = await app.open_session(await shop.open(app))

            reply = await session.say("open?")

            assert reply.text.endswith(expected)


# -- what is told, not asked --


async def test_rules_that_did_not_survive_are_not_told_of(open_application: Open) -> None:
    probe = HookProbe()
    async with open_application(None, probe) as app:
        agent = await app.create_agent("Clerk", composition_mode="canned_strict")
        loud = await agent.create_policy(
            "Loud", "Shout", signals=["voice"], canned_responses=["HEY"]
        )
        await (
            await agent.create_policy(
                "Quiet", "Whisper", signals=["voice"], canned_responses=["psst"]
            )
        ).prioritize_over(loud)
        session = await app.open_session(agent)

        reply = await session.say("your voice")

        assert [each["rule"].title for each in probe.at("on_rule_selected")] == ["Quiet"]
        assert reply.ledger is not None
        fates = {line.name: line.fate for line in reply.ledger.lines}
        assert fates["Loud"] == Fate.OUTRANKED.value
        assert agent_messages(await session.events()) == ["psst"]


async def test_requests_while_indexing_are_told_of_without_a_turn(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe()
    async with open_application(ScriptedParts(), probe) as app:
        await app.open_session(await shop.open(app))

        assert [each["turn"] for each in probe.at("on_model_response")] == [None]


async def test_mode_changes_pass_the_hooks_for_what_comes_in(
    open_application: Open, shop: Any
) -> None:
    probe = HookProbe()
    async with open_application(None, probe) as app:
        session = await app.open_session(await shop.open(app))
        await app.runtime.set_mode(app.scope, session.id, SessionMode.AUTO)

        assert [each["event"].kind for each in probe.at("on_event")] == [EventKind.MODE]
