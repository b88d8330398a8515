"""What the plugin offers is made from its settings alone."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from poise import Extractor, Offers, Sections, ToolCaller, ToolService
from poise_tools import (
    FunctionToolService,
    PatternExtractor,
    ReadingToolCaller,
    ToolSettings,
    plugin,
)


class Supply:
    def __init__(self, *things):
        self.things = things

    def supply(self, kind):
        for thing in self.things:
            if isinstance(thing, kind):
                return thing
        raise LookupError(kind)


def test_every_offer_can_be_made():
    offers = Offers("tools")
    plugin.poise_provide(offers)
    extractor = offers.make(Extractor, None, Supply(ToolSettings()))

    service = offers.make(ToolService, "functions", Supply(ToolSettings()))
    caller = offers.make(ToolCaller, None, Supply(ToolSettings(), extractor))

    assert isinstance(extractor, PatternExtractor)
    assert isinstance(service, FunctionToolService)
    assert isinstance(caller, ReadingToolCaller)


def test_section_is_called_tools():
    sections = Sections("tools")

    plugin.poise_config(sections)

    assert [section.name for section in sections.all()] == ["tools"]


def test_unknown_time_zone_is_a_settings_error_with_the_mend():
    with pytest.raises(ValidationError, match=r"write e\.g\. Europe/Vienna"):
        ToolSettings(timezone="Mars/Olympus")


def test_unknown_setting_is_an_error():
    with pytest.raises(ValidationError):
        ToolSettings(freshnes=3)


def test_importing_the_plugin_imports_nothing_of_it():
    program = (
        "import sys, poise_tools.plugin\n"
        "assert not {'pydantic', 'poise_tools.extractor'} & set(sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()
