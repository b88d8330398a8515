"""What pytest gets from Poise: readable failures of the suites, and profiles for properties.

The profiles are chosen by the environment variable `HYPOTHESIS_PROFILE`: `quick` (a tenth of the
examples), `default`, or `nightly` (10,000).
"""

from __future__ import annotations

import importlib.util
import os

import pytest

pytest.register_assert_rewrite("poise.testing")

PROFILES = {"quick": 10, "nightly": 10_000}


def pytest_configure() -> None:
    """Register the profiles, where hypothesis is installed, and load the chosen one."""
    if importlib.util.find_spec("hypothesis") is None:
        return
    from hypothesis import settings

    for name, examples in PROFILES.items():
        settings.register_profile(name, max_examples=examples, deadline=None)
    chosen = os.environ.get("HYPOTHESIS_PROFILE", "default")
    settings.load_profile(chosen)
