"""Composition for Poise: replies made of approved wording, and the terms a conversation mentions.

Names load on first use, so that finding the plugin costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise_compose.canned import CannedComposer as CannedComposer
    from poise_compose.settings import ComposeSettings as ComposeSettings
    from poise_compose.terms import LexicalTermFinder as LexicalTermFinder

__all__ = ["CannedComposer", "ComposeSettings", "LexicalTermFinder"]

_HOMES = {
    "CannedComposer": "poise_compose.canned",
    "ComposeSettings": "poise_compose.settings",
    "LexicalTermFinder": "poise_compose.terms",
}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'poise_compose' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
