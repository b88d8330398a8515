"""What a function's docstring says of the function and of each of its parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Example|Examples|Note|Notes):\s*$"
)
_ENTRY = re.compile(r"^(\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_ARGUMENTS = frozenset({"Args", "Arguments", "Parameters"})


def documented(function: Callable[..., Any]) -> tuple[str, Mapping[str, str]]:
    """Return the description of `function` and what its Google-style `Args` say, by name."""
    lines = (inspect.getdoc(function) or "").splitlines()
    described: list[str] = []
    entries: dict[str, str] = {}
    section = ""
    name = ""
    indent = 0
    for line in lines:
        heading = _SECTION.match(line)
        if heading:
            section, name, indent = heading[1], "", 0
        elif not section:
            described.append(line)
        elif section in _ARGUMENTS and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = indent or depth
            entry = _ENTRY.match(line.strip()) if depth <= indent else None
            if entry:
                name = entry[1].lstrip("*")
                entries[name] = entry[2].strip()
            elif name:
                entries[name] = f"{entries[name]} {line.strip()}".strip()
    return "\n".join(described).strip(), entries
