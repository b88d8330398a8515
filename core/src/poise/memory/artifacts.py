"""Artifacts in memory: derived data by content hash, gone with the process."""

from __future__ import annotations

from poise.ports.stores import ArtifactStore


class MemoryArtifactStore(ArtifactStore):
    """Keeps what it is given until the process ends."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    async def load(self, key: str) -> bytes | None:
        return self._kept.get(key)

    async def save(self, key: str, data: bytes) -> None:
        self._kept[key] = bytes(data)
