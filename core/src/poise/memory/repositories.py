"""Repositories in memory: entities of one kind of one tenant."""

from __future__ import annotations

import bisect
import copy
from collections.abc import Mapping, Sequence
from typing import Any

from poise.ports.stores import Codec, E, Record, Repository


class MemoryRepository(Repository[E]):
    """Entities by key, in memory. What is given and returned is a copy, as from a real store."""

    def __init__(self, codec: Codec[E]) -> None:
        super().__init__(codec)
        self._records: dict[str, Record] = {}
        self._keys: list[str] = []

    async def _read(self, key: str) -> Record | None:
        record = self._records.get(key)
        return None if record is None else _copied(record)

    async def _write(self, key: str, body: Mapping[str, Any], expected: int | None) -> int:
        known = self._records.get(key)
        actual = 0 if known is None else known.version
        if expected is not None and expected != actual:
            raise self._conflict(key, expected, actual)
        if known is None:
            bisect.insort(self._keys, key)
        self._records[key] = _copied(Record(body, actual + 1))
        return actual + 1

    async def _remove(self, key: str) -> bool:
        if self._records.pop(key, None) is None:
            return False
        del self._keys[bisect.bisect_left(self._keys, key)]
        return True

    async def _scan(self, after: str, limit: int) -> Sequence[tuple[str, Record]]:
        # The empty key sorts first and is no key of anything, so `""` starts from the beginning.
        start = bisect.bisect_right(self._keys, after)
        return [(key, _copied(self._records[key])) for key in self._keys[start : start + limit]]


def _copied(record: Record) -> Record:
    return Record(copy.deepcopy(dict(record.body)), record.version)
