"""Discovery for Poise: which rules a conversation has made relevant, without a language model.

Names load on first use, so that finding the plugin costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise_discovery.annotator import FlagAnnotator as FlagAnnotator
    from poise_discovery.annotator import ReadingAnnotator as ReadingAnnotator
    from poise_discovery.discoverer import SignalDiscoverer as SignalDiscoverer
    from poise_discovery.settings import DiscoverySettings as DiscoverySettings

__all__ = ["DiscoverySettings", "FlagAnnotator", "ReadingAnnotator", "SignalDiscoverer"]

_HOMES = {
    "DiscoverySettings": "poise_discovery.settings",
    "FlagAnnotator": "poise_discovery.annotator",
    "ReadingAnnotator": "poise_discovery.annotator",
    "SignalDiscoverer": "poise_discovery.discoverer",
}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'poise_discovery' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
