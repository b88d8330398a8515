"""The two decorators: `hookspec` for Poise and surfaces, `hookimpl` for plugins."""

from __future__ import annotations

import pluggy

PROJECT = "poise"
"""The pluggy project and the entry-point group of plugins."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
