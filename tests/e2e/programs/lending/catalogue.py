"""The library's catalogue, as its backend would serve it."""

from __future__ import annotations

LOANS = {"L-204": {"title": "Moby-Dick", "due": "Friday"}}
READERS = {"guest": ["Moby-Dick"]}
