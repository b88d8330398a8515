"""A program's view of a whole application: declare, converse, change, hand over, close."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

import poise
from poise import Application, InvalidValueError
from poise.errors import ConfigError, DuplicateKeyError, HookError, NotFoundError, StoreError
from poise.memory.session_store import MemorySessionStore
from poise.memory.stores import MemoryStores
from poise.ports.stores import ScopedStores
from poise.sdk.hosting import Host, HostedApplication, hosted
from poise.values.clock import SystemClock
from poise.values.ids import SessionId

pytestmark = pytest.mark.anyio

Opener = Callable[..., Application]


@pytest.fixture
def opened(parts: list[object]) -> Opener:
    def make(*, plugins: tuple[object, ...] = (), **said: Any) -> Application:
        given = {"stores": "memory", **said}
        return Application(plugins=[*parts, *plugins], installed=False, **given)

    return make


@pytest.fixture
async def app(opened: Opener) -> AsyncIterator[Application]:
    async with opened() as application:
        yield application


async def shop(app: Application, **said: Any) -> poise.Agent:
    agent = await app.create_agent("Clerk", composition_mode="canned_strict", **said)
    await opening_hours(agent)
    return agent


async def opening_hours(agent: poise.Agent) -> poise.Policy:
    return await agent.create_policy(
        "Opening hours",
        "Say when the shop is open",
        signals=["open"],
        canned_responses=["We are open from nine to five."],
    )


async def parking(agent: poise.Agent) -> poise.Policy:
    return await agent.create_policy(
        "Parking",
        "Say where to park",
        signals=["park"],
        canned_responses=["You can park behind the shop."],
    )


# -- conversing --


# case B-105
async def test_empty_agent_boots_and_chats(app: Application) -> None:
    agent = await app.create_agent("Nobody", composition_mode="canned_strict", no_match="Hm?")
    session = await app.open_session(agent)

    reply = await session.say("hi")

    assert reply.text == "Hm?"


async def test_reply_has_words_events_and_account(app: Application) -> None:
    session = await app.open_session(await shop(app))

    reply = await session.say("When do you open?")

    assert reply.messages == ("We are open from nine to five.",)
    assert reply.text == reply.messages[0]
    assert reply.events[-1].data["status"] == "ready"
    assert [each.offset for each in reply.events] == list(range(1, len(reply.events) + 1))
    assert reply.ledger is not None
    assert [(line.name, line.fate) for line in reply.ledger.lines] == [("Opening hours", "matched")]
    assert reply.turn == reply.ledger.turn


async def test_session_with_a_known_id_goes_on(app: Application) -> None:
    agent = await shop(app)
    first = await app.open_session(agent, id="s1")
    await first.say("When do you open?")

    again = await app.open_session(agent.id, id="s1")

    said = [event.text for event in await again.events(kinds=[poise.EventKind.MESSAGE])]
    assert said == ["When do you open?", "We are open from nine to five."]


async def test_agent_speaks_unprompted_or_says_why_not(app: Application) -> None:
    session = await app.open_session(await shop(app))

    reply = await session.utter("say when the shop is open")

    assert reply.ledger is not None
    assert reply.turn is not None


@pytest.mark.parametrize("words", ["{}", "{{…}}", "{{ open }}", "a\0b", "open " * 200_000])
async def test_customer_may_say_anything(app: Application, words: str) -> None:
    session = await app.open_session(await shop(app))

    reply = await session.say(words)

    assert reply.text
    assert (await session.events())[0].text == words


async def test_blank_message_is_refused_and_the_session_lives(app: Application) -> None:
    session = await app.open_session(await shop(app))

    with pytest.raises(InvalidValueError, match="empty"):
        await session.say("  ")

    assert (await session.say("Are you open?")).text == "We are open from nine to five."


async def test_turn_that_a_hook_ends_before_it_begins_gives_an_empty_reply(opened: Opener) -> None:
    async def on_acknowledging() -> poise.Bail:
        return poise.Bail("closed")

    async with opened(hooks=[on_acknowledging]) as app:
        session = await app.open_session(await shop(app))

        reply = await session.say("Are you open?")

        assert reply.text == ""
        assert poise.EventKind.STATUS not in {event.kind for event in reply.events}


async def test_message_to_a_person_gives_an_empty_reply(app: Application) -> None:
    session = await app.open_session(await shop(app))
    await app.runtime.set_mode(app.scope, session.id, poise.SessionMode.MANUAL)

    reply = await session.say("Are you open?")

    assert reply.messages == ()


async def test_messages_at_once_are_answered_together(app: Application) -> None:
    agent = await shop(app)
    await parking(agent)
    session = await app.open_session(agent)
    replies: list[poise.Reply] = []

    async def say(words: str) -> None:
        replies.append(await session.say(words))

    async with anyio.create_task_group() as group:
        group.start_soon(say, "Are you open?")
        group.start_soon(say, "And where can I park?")

    said = "\n".join(text for reply in replies for text in reply.messages)
    assert len(replies) == 2
    assert "nine to five" in said
    assert "behind the shop" in said


async def test_failing_storage_is_the_error_that_the_program_sees(opened: Opener) -> None:
    class DeafSessions(MemorySessionStore):
        def follow(self, session: SessionId, start: int) -> AsyncIterator[poise.Event]:
            raise StoreError("the line is dead")

    class DeafStores(MemoryStores):
        def scope(self, scope: poise.Scope) -> ScopedStores:
            return attrs.evolve(super().scope(scope), sessions=sessions)

    sessions = DeafSessions(SystemClock())
    async with opened(stores=DeafStores(SystemClock())) as app:
        session = await app.open_session(await shop(app))

        with pytest.raises(StoreError, match="dead"):
            await session.say("Are you open?")


# -- declaring --


async def test_declaring_everything_twice_changes_nothing(app: Application) -> None:
    first = await shop(app)
    await app.start()
    version = current(app, first).version

    again = await shop(app)
    await app.start()

    assert again is first
    assert list(app.agents) == [first]
    assert current(app, first).version == version


def current(app: Application, agent: poise.Agent) -> poise.CatalogSnapshot:
    catalog = app.runtime.catalogs.current(agent.id)
    assert catalog is not None
    return catalog


async def test_agent_declared_differently_names_both_places(app: Application) -> None:
    await app.create_agent("Clerk")

    with pytest.raises(DuplicateKeyError, match="Clerk") as caught:
        await app.create_agent("Clerk", instructions="Be rude.")

    assert __file__ in caught.value.first_at
    assert __file__ in caught.value.second_at


async def test_description_of_an_agent_is_its_instructions(app: Application) -> None:
    agent = await app.create_agent("Clerk", description="Serves customers.")
    await app.start()

    assert current(app, agent).agent.instructions == "Serves customers."
    with pytest.raises(InvalidValueError, match="instructions"):
        await app.create_agent("Other", description="a", instructions="b")


@pytest.mark.parametrize(
    "said",
    [
        {"name": ""},
        {"name": "a\0"},
        {"max_iterations": 0},
        {"max_iterations": 2, "max_engine_iterations": 3},
        {"effort": "huge"},
        {"composition_mode": "free"},
        {"no_match": ""},
        {"apology": " "},
        {"id": ""},
    ],
    ids=repr,
)
async def test_agent_that_can_not_be_is_refused(app: Application, said: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        await app.create_agent(**{"name": "Clerk", **said})

    assert not app.agents


async def test_later_declaration_serves_from_the_next_message(app: Application) -> None:
    agent = await shop(app)
    session = await app.open_session(agent)
    before = await session.say("Where can I park?")

    await parking(agent)
    after = await session.say("So where can I park?")

    assert "behind" not in before.text
    assert after.text == "You can park behind the shop."


async def test_catalog_is_published_once_per_change(opened: Opener) -> None:
    published: list[str] = []

    async def on_catalog_changed(catalog: poise.CatalogSnapshot) -> None:
        published.append(catalog.version)

    async with opened(hooks=[on_catalog_changed]) as app:
        agent = await shop(app)
        session = await app.open_session(agent)
        await session.say("open?")
        await app.start()
        assert len(published) == 1

        await parking(agent)
        await session.say("open?")

        assert len(set(published)) == len(published) == 2


async def test_block_of_changes_serves_as_a_whole(app: Application) -> None:
    agent = await shop(app)
    session = await app.open_session(agent)

    async with app.changes():
        await parking(agent)
        meanwhile = await session.say("Where can I park?")
    afterwards = await session.say("So where can I park?")

    assert "behind" not in meanwhile.text
    assert afterwards.text == "You can park behind the shop."


async def test_block_of_changes_that_fails_is_forgotten(app: Application) -> None:
    agent = await shop(app)
    session = await app.open_session(agent)
    version = current(app, agent).version

    async def fails_midway() -> None:
        async with app.changes():
            await app.create_agent("Second")
            await parking(agent)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails_midway()

    assert (await session.say("open?")).text == "We are open from nine to five."
    assert current(app, agent).version == version
    assert list(app.agents) == [agent]


async def test_changes_that_can_not_be_compiled_are_forgotten(app: Application) -> None:
    agent = await shop(app)
    session = await app.open_session(agent)

    async def goes_round() -> None:
        async with app.changes():
            a = await agent.create_policy(title="a", then="x", tags=["t"])
            await a.prioritize_over(poise.any_of("u"))
            b = await agent.create_policy(title="b", then="x", tags=["u"])
            await b.prioritize_over(poise.any_of("t"))

    with pytest.raises(InvalidValueError, match="cycle"):
        await goes_round()

    assert (await session.say("open?")).text == "We are open from nine to five."


async def test_unknown_agent_is_not_found(app: Application) -> None:
    with pytest.raises(NotFoundError):
        await app.open_session("nobody")


# -- customers --


async def test_rule_of_a_group_is_for_its_customers_only(app: Application) -> None:
    agent = await app.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
    await agent.create_policy(
        "Discount", "Offer it", signals=["price"], groups=["trade"], canned_responses=["10% off."]
    )
    ann = await app.create_customer("Ann", id="ann", groups=["trade"])

    for_ann = await (await app.open_session(agent, ann)).say("The price?")
    for_guest = await (await app.open_session(agent)).say("The price?")

    assert (for_ann.text, for_guest.text) == ("10% off.", "Hm?")
    assert (await app.find_customers(lambda each: each.name == "Ann")).items == (ann,)


async def test_another_tenant_sees_nothing_of_it(opened: Opener) -> None:
    shared = MemoryStores(SystemClock())
    async with opened(stores=shared) as app:
        session = await app.open_session(await shop(app))
        await app.create_customer("Ann", id="ann")

    async with opened(stores=shared, scope=poise.Scope("other", "local")) as other:
        assert not (await other.find_customers()).items
        with pytest.raises(NotFoundError):
            await other.runtime.receive(other.scope, session.id, "hi")


# -- handlers --


async def test_handlers_are_functions_methods_or_objects(opened: Opener) -> None:
    heard: list[str] = []

    async def on_message_generated(message: poise.Message) -> poise.Message:
        heard.append("function")
        return poise.Message(message.text.upper(), message.chosen)

    class Desk:
        async def on_acknowledged(self) -> None:
            heard.append("method")

        @poise.hookimpl
        async def on_messages_emitted(self) -> None:
            heard.append("object")

    hooks = [on_message_generated, Desk().on_acknowledged, Desk()]
    async with opened(hooks=hooks) as app:
        session = await app.open_session(await shop(app))

        reply = await session.say("open?")

        assert reply.text == "WE ARE OPEN FROM NINE TO FIVE."
        assert {"function", "method"} <= set(heard)
    assert "object" in heard


async def test_handlers_of_a_rule_are_called_with_turn_and_rule(app: Application) -> None:
    heard: list[tuple[str, str, str | None]] = []

    async def selected(turn: poise.TurnContext, rule: poise.Rule) -> None:
        heard.append(("selected", turn.new_messages[0], rule.title))

    agent = await app.create_agent("Clerk")
    await agent.create_policy("Hours", "Say when", signals=["open"], on_selected=selected)

    await (await app.open_session(agent)).say("open?")

    assert heard == [("selected", "open?", "Hours")]


async def test_handler_of_no_hook_names_the_nearest(opened: Opener) -> None:
    async def on_message_generate(message: poise.Message) -> None: ...

    with pytest.raises(HookError, match="on_message_generated"):
        async with opened(hooks=[on_message_generate]):
            pass


def test_object_without_hookimpls_is_no_handler() -> None:
    with pytest.raises(InvalidValueError, match=r"@poise\.hookimpl"):
        Application(hooks=[object()])


# -- settings --


async def test_settings_of_the_program_win_over_the_file(opened: Opener, tmp_path: Path) -> None:
    file = tmp_path / "poise.toml"
    file.write_text("[engine]\nhistory = 11\nturn_deadline = 12\n")

    async with opened(config=file, settings={"engine": {"history": 13}}) as app:
        engine = app.runtime.config.engine

    assert (engine.history, engine.turn_deadline) == (13, 12)


async def test_models_are_a_table_of_the_settings(opened: Opener) -> None:
    said = {"settings": {"models": {"embed": "scripted:nothing"}}}

    async with opened(models={"embed": "scripted:words"}, **said) as app:
        assert app.runtime.config.models["embed"] == ("scripted:words",)


async def test_misspelt_setting_is_an_error_at_the_start(opened: Opener) -> None:
    with pytest.raises(ConfigError, match="engin"):
        async with opened(settings={"engin": {}}):
            pass


async def test_two_applications_live_side_by_side(opened: Opener) -> None:
    async with opened() as one, opened() as other:
        here = await one.open_session(await shop(one))
        agent = await other.create_agent("Clerk", composition_mode="canned_strict", no_match="Hm?")
        there = await other.open_session(agent)

        assert (await here.say("open?")).text == "We are open from nine to five."
        assert (await there.say("open?")).text == "Hm?"


async def test_application_that_is_not_open_says_how_to_open_it() -> None:
    with pytest.raises(InvalidValueError, match="async with"):
        await Application().create_agent("Clerk")


async def test_application_is_opened_once_at_a_time_and_again_after(opened: Opener) -> None:
    app = opened()
    async with app:
        await (await app.open_session(await shop(app))).say("open?")
        with pytest.raises(InvalidValueError, match="open already"):
            await app.__aenter__()

    async with app as again:
        session = await again.open_session(await shop(again))
        assert (await session.say("open?")).text == "We are open from nine to five."


# -- hosts --


class Watcher:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.reports: list[str] = []
        self.served: list[str] = []

    def report(self, phase: str, done: int, total: int) -> None:
        self.reports.append(phase)

    async def serve(self, application: HostedApplication) -> None:
        for agent in application.agents:
            assert application.runtime.catalogs.current(agent.id) is not None
            self.served.append(agent.name)


async def test_host_takes_over_what_was_declared(opened: Opener) -> None:
    watcher = Watcher()

    with hosted(Host(watcher.serve, watcher)):
        async with opened() as app:
            await shop(app)
            assert not watcher.served

    assert watcher.served == ["Clerk"]
    assert watcher.reports


async def test_host_does_not_take_over_after_an_error(opened: Opener) -> None:
    watcher = Watcher()

    async def program() -> None:
        async with opened() as app:
            await shop(app)
            raise ZeroDivisionError

    with hosted(Host(watcher.serve, watcher)), pytest.raises(ZeroDivisionError):
        await program()

    assert not watcher.served
