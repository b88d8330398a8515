"""Fixtures for every test of this distribution."""

from __future__ import annotations

import pytest

from poise_tools import PatternExtractor, ReadingToolCaller, ToolSettings


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def extractor() -> PatternExtractor:
    return PatternExtractor(ToolSettings())


@pytest.fixture
def caller(extractor: PatternExtractor) -> ReadingToolCaller:
    return ReadingToolCaller(extractor, ToolSettings(freshness=60))
