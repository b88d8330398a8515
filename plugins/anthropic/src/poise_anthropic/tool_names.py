"""Names of tools as the vendor takes them, the same ones for the same tools in every request."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from poise import ToolSpec

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64


def wire_names(tools: Sequence[ToolSpec]) -> Mapping[str, str]:
    """Return a name of letters, digits, `_` and `-` for each tool's own, no two alike."""
    plain = {tool.name for tool in tools if _plain(tool.name) == tool.name}
    given: dict[str, str] = {}
    taken = set(plain)
    for tool in tools:
        name = _plain(tool.name)
        if tool.name not in plain:
            number = 2
            while name in taken:
                ending = f"_{number}"
                name = f"{_plain(tool.name)[: _LONGEST - len(ending)]}{ending}"
                number += 1
            taken.add(name)
        given[tool.name] = name
    return given


def _plain(name: str) -> str:
    return _REFUSED.sub("_", name)[:_LONGEST] or "_"
