"""What an engine is put together from."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from poise.engine.catalogs import Catalogs
from poise.engine.door import RoutedModels
from poise.engine.gate import ToolGate
from poise.engine.settings import EngineLimits
from poise.hooks.caller import HookCaller
from poise.ports.composition import Composer, TermFinder
from poise.ports.discovery import Discoverer
from poise.ports.matching import Matcher, Planner, Resolver
from poise.ports.runtime import Bus
from poise.ports.stores import Stores
from poise.ports.tools import ToolCaller
from poise.values.clock import Clock
from poise.values.ids import IdSource


@attrs.frozen(eq=False)
class Parts:
    """The collaborators of an engine, all as ports; made by the composition root or by a test.

    `may_instruct` names the tool services whose results may carry instructions for the turn.
    """

    stores: Stores
    catalogs: Catalogs
    discoverer: Discoverer
    matchers: Sequence[Matcher]
    resolver: Resolver
    planner: Planner
    tool_caller: ToolCaller
    gate: ToolGate
    composers: Sequence[Composer]
    term_finder: TermFinder
    models: RoutedModels
    hooks: HookCaller
    bus: Bus
    may_instruct: frozenset[str]
    clock: Clock
    ids: IdSource
    limits: EngineLimits
