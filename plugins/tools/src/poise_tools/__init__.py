"""Tools for Poise: Python functions as a service, and arguments read without guessing.

Names load on first use, so that finding the plugin costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise_tools.caller import ReadingToolCaller as ReadingToolCaller
    from poise_tools.extractor import PatternExtractor as PatternExtractor
    from poise_tools.functions import FunctionToolService as FunctionToolService
    from poise_tools.settings import ToolSettings as ToolSettings

__all__ = ["FunctionToolService", "PatternExtractor", "ReadingToolCaller", "ToolSettings"]

_HOMES = {
    "FunctionToolService": "poise_tools.functions",
    "PatternExtractor": "poise_tools.extractor",
    "ReadingToolCaller": "poise_tools.caller",
    "ToolSettings": "poise_tools.settings",
}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'poise_tools' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
