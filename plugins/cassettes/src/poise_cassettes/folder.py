"""The folder of cassettes: a file per request, and one per model that says what it is."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from poise.turn.models import Capability
from poise_cassettes.errors import UnreadableCassetteError
from poise_cassettes.requests import Json, Request, pretty
from poise_cassettes.requests import digest as digest_of

FORMAT = 1
"""Written into every file; another number is refused."""

_FACTS = "model.json"


@attrs.frozen
class Cassette:
    """What is recorded of one request.

    Attributes:
        file: Its name, for people.
        request: Which one it was.
        takes: What came back, once for each time it was asked.
    """

    file: str
    request: Request
    takes: tuple[Mapping[str, Json], ...] = attrs.field(hash=False)


class Folder:
    """Reads and writes the cassettes below one path. Every method blocks."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # -- cassettes --

    def load(self, request: Request) -> Cassette | None:
        """Return what is recorded of a request, or `None`.

        Raises:
            UnreadableCassetteError: The file is damaged.
        """
        path = self._path(request)
        return self._cassette(path) if path.is_file() else None

    def all(self, model: str, capability: Capability) -> Iterator[Cassette]:
        """Yield everything that is recorded of a model with that capability, by file.

        Raises:
            UnreadableCassetteError: A file is damaged.
        """
        for path in sorted(self._place(model).glob(f"{capability.value}-*.json")):
            yield self._cassette(path)

    def save(self, request: Request, takes: Sequence[Mapping[str, Json]]) -> None:
        """Keep what came back for a request, in place of what was kept before."""
        said = {
            "model": request.model,
            "capability": request.capability.value,
            "request": request.body,
            "takes": list(takes),
        }
        self._write(self._path(request), said)

    # -- models --

    def facts(self, model: str) -> Mapping[str, Any]:
        """Return what is recorded of a model itself; empty where nothing is.

        Raises:
            UnreadableCassetteError: The file is damaged.
        """
        path = self._place(model) / _FACTS
        return self._read(path) if path.is_file() else {}

    def save_facts(self, model: str, facts: Mapping[str, Any]) -> None:
        """Keep what a model is, in place of what was kept before."""
        self._write(self._place(model) / _FACTS, {**facts, "model": model})

    def models(self) -> Sequence[str]:
        """Return the models of which something is recorded, by name.

        Raises:
            UnreadableCassetteError: A file is damaged.
        """
        return sorted(self._read(path)["model"] for path in self.path.glob(f"*/*/{_FACTS}"))

    # -- files --

    def _cassette(self, path: Path) -> Cassette:
        said = self._read(path)
        try:
            request = Request(said["model"], Capability(said["capability"]), said["request"])
            takes = tuple({**take} for take in said["takes"])
        except (KeyError, TypeError, ValueError) as exc:
            raise UnreadableCassetteError(str(path), f"is no cassette ({exc!r})") from exc
        return Cassette(path.relative_to(self.path).as_posix(), request, takes)

    def _place(self, model: str) -> Path:
        provider, _, name = model.partition(":")
        return self.path / _file_name(provider) / _file_name(name)

    def _path(self, request: Request) -> Path:
        return self._place(request.model) / f"{request.capability.value}-{request.digest}.json"

    def _read(self, path: Path) -> Mapping[str, Any]:
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as exc:
            raise UnreadableCassetteError(str(path), f"can't be read ({exc})") from exc
        if not isinstance(said, dict) or said.get("format") != FORMAT or "model" not in said:
            raise UnreadableCassetteError(str(path), f"is no cassette of format {FORMAT}")
        return said

    def _write(self, path: Path, said: Mapping[str, Json]) -> None:
        """Replace a file whole: whoever reads it meanwhile sees the old one or the new one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(pretty({**said, "format": FORMAT}))
            Path(name).chmod(0o644)  # not the private mode of a temporary file
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _file_name(name: str) -> str:
    """Return a name that every file system takes, another one for every other name."""
    safe = re.sub(r"[^a-z0-9._-]|^[._-]", "_", name.lower())[:60]
    return safe if safe == name else f"{safe}-{digest_of(name)[:8]}"
