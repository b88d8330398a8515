"""Registers the conformance suites for assertion rewriting, so that their failures show values."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("poise.testing")
