"""The plugin manager: what it finds, what it refuses, in which order, and what it reports."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from poise.app.plugins import PluginManager, PluginReport
from poise.app.startup import start
from poise.errors import ConfigError, DuplicateOfferError, HookError, PluginLoadError
from poise.hooks.caller import HookCaller
from poise.hooks.markers import hookimpl
from poise.hooks.offers import Offers, Sections
from poise.ports.matching import Planner, Resolver
from poise.turn.speech import Message


class Offering:
    """Offers a planner, and declares a section."""

    @hookimpl
    def poise_config(self, sections: Sections) -> None:
        sections.add("offering", "poise.app.settings:PluginSettings")

    @hookimpl
    def poise_provide(self, offers: Offers) -> None:
        offers.add(Planner, "calm", "nowhere:Planner", default=True)


class Shouting:
    @hookimpl
    async def on_message_generated(self, message: Message) -> Message:
        return Message(message.text.upper())


class Quoting:
    @hookimpl
    async def on_message_generated(self, message: Message) -> Message:
        return Message(f"»{message.text}«")


class Misspelt:
    @hookimpl
    async def on_mesage_generated(self, message: Message) -> None: ...


def load(*plugins: object, **options: Any) -> PluginManager:
    return PluginManager(plugins, **{"installed": (), **options})


def entry_point(name: str, module: str) -> EntryPoint:
    return EntryPoint(name, module, "poise")


def module(name: str, **members: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    return made


# -- finding and collecting --


def test_inline_object_brings_offers_and_sections_under_its_name() -> None:
    manager = load(Offering())

    assert [(offer.name, offer.plugin) for offer in manager.offers.all()] == [("calm", "Offering")]
    assert [each.name for each in manager.sections.all()] == ["offering"]


def test_inline_module_is_called_by_its_name() -> None:
    @hookimpl
    def poise_provide(offers: Offers) -> None:
        offers.add(Resolver, "plain", "nowhere:Resolver")

    manager = load(module("my_plugin", poise_provide=poise_provide))

    assert manager.offers.choose(Resolver, "plain").plugin == "my_plugin"


def test_installed_plugin_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poise_plugin_found.py").write_text(
        "from poise import Offers, Planner, hookimpl\n"
        "@hookimpl\n"
        "def poise_provide(offers: Offers) -> None:\n"
        "    offers.add(Planner, 'found', 'nowhere:Planner')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    manager = load(installed=[entry_point("found", "poise_plugin_found")])

    assert manager.offers.choose(Planner, "found").plugin == "found"


def test_plugins_of_a_distribution_are_named_with_it() -> None:
    folder = SimpleNamespace(name="poise-x", version="1.2")
    point = entry_point("json", "json")
    vars(point).update(dist=folder)

    manager = load(installed=[point])

    assert manager.describe()[0].distribution == "poise-x"
    assert manager.describe()[0].version == "1.2"


def test_one_plugin_given_twice_is_loaded_once() -> None:
    plugin = Shouting()

    manager = load(plugin, plugin)

    assert [each.name for each in manager.ordered()] == ["Shouting"]


def test_two_objects_of_one_class_are_two_plugins() -> None:
    manager = load(Shouting(), Shouting())

    assert [each.name for each in manager.ordered()] == ["Shouting", "Shouting#2"]


def test_module_that_is_installed_already_is_not_loaded_again() -> None:
    import json

    manager = load(json, installed=[entry_point("mine", "json")])

    assert [each.name for each in manager.ordered()] == ["mine"]


def test_two_installed_plugins_of_one_name_are_an_error() -> None:
    with pytest.raises(DuplicateOfferError, match="plugin 'same' is offered by both"):
        load(installed=[entry_point("same", "json"), entry_point("same", "csv")])


def test_two_offers_of_one_name_name_both_plugins() -> None:
    class Rival(Offering):
        @hookimpl
        def poise_config(self, sections: Sections) -> None: ...

    with pytest.raises(DuplicateOfferError, match="'calm' is offered by both 'Offering' and 'Riv"):
        load(Offering(), Rival())


# -- blocking and order --


def test_blocked_plugin_is_not_even_imported() -> None:
    manager = load(installed=[entry_point("gone", "poise_no_such_module")], blocked=["gone"])

    assert manager.describe() == (
        PluginReport("gone", None, None, "blocked", "by plugins.blocked"),
    )


def test_inline_plugin_can_be_blocked() -> None:
    manager = load(Offering(), blocked=["Offering"])

    assert manager.offers.all() == ()


def test_settings_order_comes_first_then_the_name() -> None:
    manager = load(Shouting(), Quoting(), Offering(), order=["Shouting"])

    assert [each.name for each in manager.ordered()] == ["Shouting", "Offering", "Quoting"]


@pytest.mark.anyio
async def test_hooks_are_called_in_that_order() -> None:
    class Counting:
        @hookimpl
        async def on_message_generated(self, message: Message) -> Message:
            return Message(f"{message.text}{len(message.text)}")

    by_name = HookCaller(load(Counting(), Quoting()).implementations)
    by_settings = HookCaller(load(Counting(), Quoting(), order=["Quoting"]).implementations)

    first = await by_name.fold("on_message_generated", "message", Message("hello"))
    second = await by_settings.fold("on_message_generated", "message", Message("hello"))

    assert first == Message("»hello5«")
    assert second == Message("»hello«7")


def test_order_that_names_nobody_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"order names 'Shuoting'.*there are: Shouting"):
        load(Shouting(), order=["Shuoting"])


# -- refusing --


def test_misspelt_hook_suggests_the_right_one() -> None:
    with pytest.raises(HookError) as caught:
        load(Misspelt())

    assert str(caught.value) == (
        "hook on_mesage_generated of plugin 'Misspelt': there is no such hook; "
        "did you mean on_message_generated?"
    )


def test_optional_hook_of_a_surface_that_is_not_there_is_left_alone() -> None:
    class Surfaced:
        @hookimpl(optionalhook=True)
        def poise_routes(self) -> None: ...

    manager = load(Surfaced())

    assert manager.describe()[0].hooks == ()


def test_turn_hook_must_be_async() -> None:
    class Blocking:
        @hookimpl
        def on_message_generated(self, message: Message) -> None: ...

    with pytest.raises(HookError, match="turn hook: write `async def`"):
        load(Blocking())


def test_start_up_hook_must_not_be_async() -> None:
    class Waiting:
        @hookimpl
        async def poise_provide(self, offers: Offers) -> None: ...

    with pytest.raises(HookError, match="start-up hook: write `def`"):
        load(Waiting())


def test_argument_that_the_hook_lacks_is_named_with_those_it_has() -> None:
    class Curious:
        @hookimpl
        async def on_message_generated(self, message: Message, weather: str) -> None: ...

    with pytest.raises(HookError, match="'weather', which the hook lacks; it has message, turn"):
        load(Curious())


@pytest.mark.parametrize("option", ["tryfirst", "trylast", "wrapper", "hookwrapper"])
def test_asking_pluggy_for_an_order_is_refused(option: str) -> None:
    marker: Any = hookimpl(**{option: True})  # type: ignore[call-overload]  # each by its name

    class Pushy:
        @marker  # type: ignore[untyped-decorator]  # see above
        async def on_error(self, error: Exception) -> None: ...

    with pytest.raises(HookError, match=f"{option}=True has no effect"):
        load(Pushy())


def test_plugin_that_can_not_be_imported_is_named_with_the_reason() -> None:
    with pytest.raises(PluginLoadError) as caught:
        load(installed=[entry_point("broken", "poise_no_such_module")])

    assert str(caught.value) == (
        "plugin 'broken' can't be loaded: No module named 'poise_no_such_module'; "
        "mend or uninstall it, or block it with plugins.blocked = ['broken']"
    )


def test_plugin_without_its_own_dependency_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poise_plugin_needy.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = entry_point("needy", "poise_plugin_needy")
    vars(point).update(dist=SimpleNamespace(name="poise-needy", version="1"))

    with pytest.raises(PluginLoadError, match=r"'no_such_library', .*: pip install .*poise-needy"):
        load(installed=[point])


def test_plugin_that_raises_while_it_is_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poise_plugin_raising.py").write_text("raise RuntimeError('no disk')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PluginLoadError, match="'raising' can't be loaded: RuntimeError: no disk"):
        load(installed=[entry_point("raising", "poise_plugin_raising")])


def test_plugin_that_raises_in_a_start_up_hook_is_named() -> None:
    class Falling:
        @hookimpl
        def poise_provide(self) -> None:
            raise KeyError("x")

    with pytest.raises(PluginLoadError, match=r"'Falling' .* poise_provide raised KeyError"):
        load(Falling())


# -- reporting --


def test_report_says_what_a_plugin_brings() -> None:
    reports = {each.name: each for each in load(Offering(), Shouting()).describe()}

    assert reports["Offering"] == PluginReport(
        "Offering",
        None,
        None,
        "loaded",
        offers=("Planner calm (default)",),
        sections=("offering",),
        hooks=("poise_config", "poise_provide"),
    )
    assert reports["Shouting"].hooks == ("on_message_generated",)


def test_lenient_loading_lists_failures_and_keeps_the_others() -> None:
    manager = load(
        Misspelt(),
        Shouting(),
        installed=[entry_point("broken", "poise_no_such_module")],
        strict=False,
    )

    reports = {each.name: each for each in manager.describe()}
    assert {name: each.status for name, each in reports.items()} == {
        "Misspelt": "failed",
        "Shouting": "loaded",
        "broken": "failed",
    }
    assert reports["broken"].reason == "No module named 'poise_no_such_module'"
    assert "did you mean" in reports["Misspelt"].reason


def test_blocked_name_that_nobody_has_is_listed() -> None:
    (report,) = load(blocked=["ghost"]).describe()

    assert report.reason == "by plugins.blocked, and not installed"


# -- starting --


def test_settings_say_which_plugins_are_loaded_and_plugins_say_which_settings_there_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "poise.toml"
    path.write_text("[plugins]\nblocked = ['Shouting']\n[offering]\norder = ['x']\n")

    config, manager = start(
        [Offering(), Shouting()], installed=(), file=path, environ={}, overrides={"planner": "calm"}
    )

    assert [each.name for each in manager.ordered()] == ["Offering"]
    assert config.planner == "calm"
    assert str(config.origin("offering.order")) == f"{path}:4"


def test_settings_of_a_blocked_plugin_may_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "poise.toml"
    path.write_text("[plugins]\nblocked = ['gone']\n[gone]\nkey = 'x'\n")
    point = entry_point("gone", "poise_no_such_module")

    config, _ = start(installed=[point], file=path, environ={})

    assert config.plugins.blocked == ("gone",)


def test_loading_plugins_needs_neither_numpy_nor_a_settings_library() -> None:
    import subprocess

    code = (
        "import sys; from poise.app.plugins import PluginManager; PluginManager(installed=());"
        "print([n for n in ('numpy', 'pydantic', 'pydantic_settings') if n in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
