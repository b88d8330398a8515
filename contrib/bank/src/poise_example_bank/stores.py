"""Where the demo keeps things: the conversation nowhere, the trained index in a cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir

import anyio.to_thread

from poise import ArtifactStore, StoreError
from poise.memory.stores import MemoryStores
from poise.values.clock import Clock
from poise.values.ids import digest


def cache_folder() -> Path:
    """Return the user's own folder for what can be made again."""
    try:
        home = Path.home()
    except RuntimeError:  # a container may run as a user without one
        home = Path(gettempdir())
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "poise" / "example-bank"


class FolderArtifactStore(ArtifactStore):
    """One file per artifact; the folder is made with the first one.

    Args:
        folder: Where to; what is in it may be deleted at any time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def load(self, key: str) -> bytes | None:
        return await anyio.to_thread.run_sync(self._read, key)

    async def save(self, key: str, data: bytes) -> None:
        await anyio.to_thread.run_sync(self._write, key, data)

    def _read(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise StoreError(f"{self._path(key)} can't be read: {exc}") from exc

    def _write(self, key: str, data: bytes) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self._folder, delete=False) as draft:
                draft.write(data)
            # Under its name all at once: a reader never sees half of it.
            Path(draft.name).replace(self._path(key))
        except OSError as exc:
            raise StoreError(f"{self._folder} can't be written to: {exc}") from exc

    def _path(self, key: str) -> Path:
        return self._folder / digest(key)


class DemoStores(MemoryStores):
    """Stores that forget everything but artifacts.

    Args:
        clock: Tells when a lease has run out.
        folder: Where artifacts are kept.
    """

    def __init__(self, clock: Clock, folder: Path) -> None:
        super().__init__(clock)
        self._cached = FolderArtifactStore(folder)

    @property
    def artifacts(self) -> ArtifactStore:
        return self._cached
