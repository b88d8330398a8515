"""The suites of the tool ports over what this distribution offers."""

from __future__ import annotations

import pytest

from poise.testing.tools import (
    ExtractorConformance,
    ToolCallerConformance,
    ToolServiceConformance,
)
from poise_tools import FunctionToolService, PatternExtractor, ReadingToolCaller, ToolSettings


class TestFunctionToolService(ToolServiceConformance):
    @pytest.fixture
    def subject(self):
        return FunctionToolService(ToolSettings())


class TestPatternExtractor(ExtractorConformance):
    @pytest.fixture
    def subject(self):
        return PatternExtractor(ToolSettings())


class TestReadingToolCaller(ToolCallerConformance):
    @pytest.fixture
    def subject(self):
        return ReadingToolCaller(PatternExtractor(ToolSettings()), ToolSettings())
