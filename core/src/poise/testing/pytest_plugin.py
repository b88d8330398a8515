"""What pytest gets from Poise: readable failures of suites, a model server, property profiles.

The environment variable `HYPOTHESIS_PROFILE` chooses among `quick` (10 examples), `brisk` (40),
`patient` (100) and `nightly` (10,000), none of which has a deadline. Without it hypothesis is left
as it is.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from poise.testing.fake_server import FakeModelServer

pytest.register_assert_rewrite("poise.testing")

PROFILES = {"quick": 10, "brisk": 40, "patient": 100, "nightly": 10_000}


def pytest_configure() -> None:
    """Load the profile that was chosen, where hypothesis is installed."""
    chosen = os.environ.get("HYPOTHESIS_PROFILE")
    if chosen is None or importlib.util.find_spec("hypothesis") is None:
        return
    from hypothesis import settings

    for name, examples in PROFILES.items():
        settings.register_profile(name, max_examples=examples, deadline=None)
    settings.load_profile(chosen)


@pytest.fixture
def fake_model_server() -> Iterator[FakeModelServer]:
    """Give a running server on loopback that answers as the test scripts it."""
    from poise.testing.fake_server import FakeModelServer

    with FakeModelServer() as server:
        yield server
