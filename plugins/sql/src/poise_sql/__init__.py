"""Storage for Poise in one SQLite file: sessions, entities and artifacts that survive a restart.

Names load on first use, so that finding the plugin costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise_sql.settings import SqlSettings as SqlSettings
    from poise_sql.stores import SQLiteStores as SQLiteStores

__all__ = ["SQLiteStores", "SqlSettings"]

_HOMES = {"SQLiteStores": "poise_sql.stores", "SqlSettings": "poise_sql.settings"}


def __getattr__(name: str) -> Any:  # whatever the name stands for
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'poise_sql' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
