"""Where the demo keeps its index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from poise import ArtifactStore, StoreError, Stores
from poise.testing.stores import ArtifactStoreConformance, StoresConformance
from poise.values.clock import SystemClock
from poise_example_bank.stores import DemoStores, FolderArtifactStore, cache_folder


class TestFolderArtifactStore(ArtifactStoreConformance):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> ArtifactStore:
        return FolderArtifactStore(tmp_path / "not" / "there" / "yet")


class TestDemoStores(StoresConformance):
    @pytest.fixture
    async def subject(self, tmp_path: Path) -> AsyncIterator[Stores]:
        stores = DemoStores(SystemClock(), tmp_path)
        await stores.start()
        yield stores
        await stores.stop()


@pytest.mark.anyio
async def test_a_later_process_finds_what_was_saved(tmp_path: Path) -> None:
    await FolderArtifactStore(tmp_path).save("indexes/one", b"trained")

    assert await FolderArtifactStore(tmp_path).load("indexes/one") == b"trained"


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")

    with pytest.raises(StoreError, match="taken"):
        await FolderArtifactStore(taken).save("index", b"trained")


def test_cache_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert cache_folder() == tmp_path / "poise" / "example-bank"
