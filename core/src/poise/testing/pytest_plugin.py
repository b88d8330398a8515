"""What pytest gets from Poise: readable failures of the suites, and profiles for properties.

The environment variable `HYPOTHESIS_PROFILE` chooses among `quick` (10 examples), `patient` (100)
and `nightly` (10,000), none of which has a deadline. Without it hypothesis is left as it is.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

pytest.register_assert_rewrite("poise.testing")

PROFILES = {"quick": 10, "patient": 100, "nightly": 10_000}


def pytest_configure() -> None:
    """Load the profile that was chosen, where hypothesis is installed."""
    chosen = os.environ.get("HYPOTHESIS_PROFILE")
    if chosen is None or importlib.util.find_spec("hypothesis") is None:
        return
    from hypothesis import settings

    for name, examples in PROFILES.items():
        settings.register_profile(name, max_examples=examples, deadline=None)
    settings.load_profile(chosen)
