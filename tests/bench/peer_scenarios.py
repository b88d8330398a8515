"""The neutral scenarios, and what was recorded there of the peer: read, never written.

The folder is shared by every engine that is measured, and lies outside of this repository.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import httpx2

VARIABLE = "POISE_BENCH_PEER"
BESIDE = Path(__file__).parents[3] / "shared/bench/peer"
"""Where the folder is looked for: beside the repository."""

_WANTED = ("scenario.py", "harness.py", "run_naive.py", "oracles.py", "stub_llm.py")


def default_folder() -> Path:
    """Return where the scenarios are, unless the command line says otherwise."""
    return Path(os.environ.get(VARIABLE) or BESIDE)


@attrs.frozen
class Recorded:
    """What one turn of the peer took, as its own run recorded it.

    Attributes:
        requests: Requests to models, of the whole turn.
        matching: Those of them that judged rules.
        tokens: Prompt tokens of the whole turn; they are not recorded by request.
        written: Tokens that the models wrote.
        milliseconds: Up to the reply.
        overhead: Of them, those not spent waiting for models.
        cpu: Milliseconds of processor time in that while.
        right: Whether its matched rules were the expected ones.
    """

    requests: int
    matching: int
    tokens: int
    written: int
    milliseconds: float
    overhead: float
    cpu: float
    right: bool


class Scenarios:
    """The shared folder.

    Args:
        folder: Where it is.
        made: Where scenarios that it lacks are built.
    """

    def __init__(self, folder: Path, made: Path) -> None:
        missing = [name for name in _WANTED if not (folder / name).is_file()]
        if missing:
            raise SystemExit(
                f"no neutral scenarios at {folder}: it lacks {', '.join(missing)}; say where they "
                f"are with --peer DIR or {VARIABLE}"
            )
        self.folder = folder.resolve()
        self._made = made
        # Its scripts import each other by bare name. Ours come first: `report` is one of both.
        sys.path.append(str(self.folder))

    def module(self, name: str) -> ModuleType:
        """Return one of the folder's own modules."""
        # They ask for a client that is here under its newer name. It is lent to them alone: what
        # is measured runs in this process, too.
        kept = sys.modules.get("httpx")
        sys.modules["httpx"] = httpx2
        try:
            found = importlib.import_module(name)
        finally:
            del sys.modules["httpx"]
            if kept is not None:
                sys.modules["httpx"] = kept
        if found.__file__ is None or Path(found.__file__).parent != self.folder:
            raise SystemExit(
                f"the module {name!r} is {found.__file__}, not the one of the scenarios"
            )
        return found

    def scenario(self, rules: int) -> Mapping[str, Any]:
        """Return the scenario of so many rules; one that is not there is built elsewhere."""
        file = self.folder / f"scenarios/scenario_{rules}.json"
        if not file.is_file():
            file = self._made / file.name
            file.write_text(json.dumps(self.module("scenario").build(rules)), encoding="utf-8")
        found: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found

    def recorded(self, rules: int, latency: str) -> Sequence[Recorded]:
        """Return what the peer took for each turn, by its own results; empty without any."""
        files = sorted((self.folder / "results").glob(f"*_turns_{latency}_{rules}.json"))
        file = next((each for each in files if not each.name.startswith("naive_")), None)
        if file is None:
            return ()
        return [_recorded(each) for each in json.loads(file.read_text(encoding="utf-8"))["turns"]]


def _recorded(turn: Mapping[str, Any]) -> Recorded:
    matching = [count for name, count in turn["by_schema"].items() if "GuidelineMatch" in name]
    return Recorded(
        requests=int(turn["llm_requests"]),
        matching=sum(matching),
        tokens=int(turn["prompt_tokens"]),
        written=int(turn["output_tokens"]),
        milliseconds=turn["reply_ms"],
        overhead=turn["overhead_ms"],
        cpu=turn["engine_cpu_ms"],
        right=bool(turn["correct"]) and not turn["errors"],
    )
