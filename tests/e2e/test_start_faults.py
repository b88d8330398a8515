"""What is wrong at the start is an error that says what to mend, and everything is closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import poise
from poise import (
    Application,
    Offers,
    Planner,
    Resolver,
    Rule,
    hookimpl,
)
from poise.errors import (
    ConfigError,
    ContractError,
    InvalidValueError,
    PluginLoadError,
    UnknownOfferError,
)
from poise.memory.stores import MemoryStores
from poise.testing.applications import ScriptedParts
from poise.testing.scripted_discovery import ScriptedAnnotator
from poise.values.catalog import Annotation
from poise.values.clock import SystemClock
from poise.values.ids import RuleId

pytestmark = pytest.mark.anyio

Open = Callable[..., Application]


def offering(port: type, factory: Callable[[], object]) -> object:
    """Return a plugin that offers `factory` as `failing`."""

    class Offering:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            offers.add(port, "failing", factory)

    return Offering()


# -- at the start --


async def test_bad_rule_names_the_rule_and_the_field(open_application: Open, shop: Any) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)

        with pytest.raises(InvalidValueError, match=r"Refunds.*signals"):
            await agent.create_policy("Refunds", "Pay back", signals=["  "])

        await shop.still_serves(session)


async def test_bad_template_names_the_place(open_application: Open, shop: Any) -> None:
    async with open_application() as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)

        with pytest.raises(InvalidValueError, match="template"):
            await agent.create_canned_response("Dear {_secret}")

        await shop.still_serves(session)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[engine\n", "poise.toml"),
        ("[engine]\nturn_dedline = 3\n", "turn_dedline"),
        ("[engine]\nturn_deadline = -1\n", "turn_deadline"),
        ('discoverer = "crystal ball"\n', "crystal ball"),
    ],
)
async def test_bad_settings_file_is_an_error_that_names_the_key(
    open_application: Open, tmp_path: Path, content: str, named: str
) -> None:
    file = tmp_path / "poise.toml"
    file.write_text(content)

    with pytest.raises((ConfigError, UnknownOfferError), match=named):
        async with open_application(config=file):
            pass


async def test_plugin_that_can_not_load_is_named_with_its_mend(open_application: Open) -> None:
    class Broken:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            raise OSError("no disk")

    with pytest.raises(PluginLoadError, match=r"Broken.*no disk.*plugins\.blocked"):
        async with open_application(None, Broken()):
            pass

    async with open_application(None, Broken(), settings={"plugins": {"blocked": ["Broken"]}}):
        pass


async def test_offer_that_can_not_be_imported_is_named(open_application: Open) -> None:
    class Offering:
        @hookimpl
        def poise_provide(self, offers: Offers) -> None:
            offers.add(Resolver, "absent", "poise_no_such_module:Thing")

    with pytest.raises(PluginLoadError, match="poise_no_such_module"):
        async with open_application(None, Offering(), settings={"resolver": "absent"}):
            pass


class BrokenStores(MemoryStores):
    """A storage that does not start, and says whether it was stopped."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.stopped = False

    async def start(self) -> None:
        raise OSError("no database")

    async def stop(self) -> None:
        self.stopped = True


async def test_storage_that_does_not_start_is_an_error_and_is_stopped(
    open_application: Open,
) -> None:
    """B-109."""
    stores = BrokenStores()

    with pytest.raises(OSError, match="no database"):
        async with open_application(stores=stores):
            pass

    assert stores.stopped


def _no_provider() -> object:
    raise OSError("no weights")


@pytest.mark.parametrize(
    ("port", "factory", "named"),
    [(Planner, _no_provider, "no weights"), (Planner, dict, "Planner 'failing'")],
    ids=["raises", "makes something else"],
)
async def test_factory_that_fails_is_an_error_at_the_start(
    open_application: Open, port: type, factory: Callable[[], object], named: str
) -> None:
    """B-109."""
    with pytest.raises((OSError, ContractError), match=named):
        async with open_application(None, offering(port, factory), settings={"planner": "failing"}):
            pass


async def test_error_in_the_authors_own_code_comes_out_and_closes_the_application(
    open_application: Open, shop: Any
) -> None:
    """B-109."""

    async def install(agent: poise.Agent) -> None:
        raise ZeroDivisionError("my mistake")

    app = open_application()
    with pytest.raises(ZeroDivisionError, match="my mistake"):
        async with app:
            await (await shop.open(app)).install(install)

    with pytest.raises(InvalidValueError, match="not open"):
        await app.start()


async def test_annotator_that_fails_is_an_error_and_what_served_before_goes_on(
    open_application: Open, shop: Any
) -> None:
    """B-109."""
    annotator = FailingAnnotator()
    async with open_application(ScriptedParts(annotator=annotator)) as app:
        agent = await shop.open(app)
        session = await app.open_session(agent)
        annotator.fails = True
        await agent.create_policy("More", "Say more", signals=["more"])

        with pytest.raises(ZeroDivisionError):
            await app.start()

        annotator.fails = False
        await shop.still_serves(session)


class FailingAnnotator(ScriptedAnnotator):
    fails = False

    async def annotate(self, rules: Sequence[Rule]) -> Mapping[RuleId, Annotation]:
        if self.fails:
            raise ZeroDivisionError("as told")
        return await super().annotate(rules)
