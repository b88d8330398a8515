"""Poise: customer-facing conversational agents governed by rules.

Names load on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.hooks.markers import hookimpl as hookimpl
    from poise.hooks.markers import hookspec as hookspec
    from poise.hooks.offers import Offers as Offers
    from poise.hooks.offers import Sections as Sections
    from poise.ports.composition import Composer as Composer
    from poise.ports.composition import TermFinder as TermFinder
    from poise.ports.discovery import Annotator as Annotator
    from poise.ports.discovery import Discoverer as Discoverer
    from poise.ports.matching import Matcher as Matcher
    from poise.ports.matching import Planner as Planner
    from poise.ports.matching import Resolver as Resolver
    from poise.ports.models import DecisionModel as DecisionModel
    from poise.ports.models import Embedder as Embedder
    from poise.ports.models import ModelProvider as ModelProvider
    from poise.ports.stores import Stores as Stores
    from poise.ports.tools import Extractor as Extractor
    from poise.ports.tools import ToolCaller as ToolCaller
    from poise.ports.tools import ToolService as ToolService

_HOMES = {
    "hookimpl": "poise.hooks.markers",
    "hookspec": "poise.hooks.markers",
    "Offers": "poise.hooks.offers",
    "Sections": "poise.hooks.offers",
    "Composer": "poise.ports.composition",
    "TermFinder": "poise.ports.composition",
    "Annotator": "poise.ports.discovery",
    "Discoverer": "poise.ports.discovery",
    "Matcher": "poise.ports.matching",
    "Planner": "poise.ports.matching",
    "Resolver": "poise.ports.matching",
    "DecisionModel": "poise.ports.models",
    "Embedder": "poise.ports.models",
    "ModelProvider": "poise.ports.models",
    "Stores": "poise.ports.stores",
    "Extractor": "poise.ports.tools",
    "ToolCaller": "poise.ports.tools",
    "ToolService": "poise.ports.tools",
}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'poise' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
