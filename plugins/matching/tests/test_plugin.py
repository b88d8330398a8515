"""The plugin's offers and settings, made as an application makes them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from poise import Extractor, Matcher, Offers, Planner, Sections
from poise.app.settings import CoreSettings
from poise.testing.scripted_tools import ScriptedExtractor
from poise_matching import (
    EffortPlanner,
    MatchingSettings,
    plugin,
)


class Supplier:
    def supply(self, kind):
        if kind is MatchingSettings:
            return MatchingSettings()
        if kind is Extractor:
            return ScriptedExtractor()
        raise LookupError(kind)


def test_every_offer_can_be_made():
    offers = Offers()
    plugin.poise_provide(offers.of_plugin("matching"))

    for name in plugin.MATCHERS:
        assert offers.make(Matcher, name, Supplier()).name == name
    assert isinstance(offers.make(Planner, None, Supplier()), EffortPlanner)


def test_the_default_order_of_matchers_is_of_these() -> None:
    assert sorted(CoreSettings().matchers) == sorted(plugin.MATCHERS)


def test_the_settings_section_is_declared():
    sections = Sections()

    plugin.poise_config(sections.of_plugin("matching"))

    assert [section.name for section in sections.all()] == ["matching"]


@pytest.mark.parametrize("given", [{"admit_limit": 0}, {"code_timeout": 0}, {"admit_limits": 3}])
def test_settings_refuse_what_makes_no_sense(given):
    with pytest.raises(ValidationError):
        MatchingSettings(**given)


def test_the_readmes_table_names_every_setting_with_its_default_and_meaning():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

    for name, field in MatchingSettings.model_fields.items():
        assert f"| `{name}` | {field.default} | {field.description} |" in readme
