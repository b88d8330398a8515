"""Fixtures for every test of this distribution."""

from __future__ import annotations

import pytest

from poise_compose import CannedComposer, ComposeSettings


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def composer() -> CannedComposer:
    return CannedComposer(ComposeSettings())
