"""The scripted tool ports keep the promises of the ports they stand in for."""

from __future__ import annotations

import pytest

from poise.testing.scripted_tools import (
    ScriptedExtractor,
    ScriptedToolCaller,
    ScriptedToolService,
)
from poise.testing.tools import (
    ExtractorConformance,
    ToolCallerConformance,
    ToolServiceConformance,
)


class TestScriptedToolService(ToolServiceConformance):
    @pytest.fixture
    def subject(self):
        return ScriptedToolService()


class TestScriptedExtractor(ExtractorConformance):
    @pytest.fixture
    def subject(self):
        return ScriptedExtractor()


class TestScriptedToolCaller(ToolCallerConformance):
    @pytest.fixture
    def subject(self):
        return ScriptedToolCaller()
