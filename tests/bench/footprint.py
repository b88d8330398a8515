"""What the example costs to install, to start and to keep: `nox -s bench -- footprint`.

Cold is a first start that embeds and trains; warm is any later one. The peer's figures are those
recorded for it. An install is what the example's requirements bring, by the files that each
installed distribution lists.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from report import Report

EXAMPLE = "poise-example-bank"
PEER_PACKAGES = 159
PEER_MEBIBYTES = 1_097
STARTS = 5


def start(cache: str) -> Mapping[str, float]:
    """Start the demo and return seconds to its first reply, and its peak memory."""
    poise = shutil.which("poise", path=str(Path(sys.executable).parent)) or "poise"
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    began = time.perf_counter()
    process = subprocess.Popen(
        [poise, "demo", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert process.stdout is not None
    process.stdout.readline()
    first = time.perf_counter() - began
    process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return {"first reply s": first, "peak MB": usage.ru_maxrss / 1024}


def requirements(name: str, extras: tuple[str, ...] = ()) -> set[str]:
    """Return the names of all installed distributions that `name` brings, its own included."""
    found: set[str] = set()
    waiting = [(name, extras)]
    while waiting:
        each, wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", each).lower()
        try:
            lines = importlib.metadata.requires(key) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or Python
        if key in found and not wanted:
            continue
        found.add(key)
        for line in lines:
            requirement, _, marker = line.partition(";")
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", marker)
            if extra and extra[1] not in wanted:
                continue
            match = re.match(r"\s*([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?", requirement)
            if match:
                waiting.append((match[1], tuple((match[2] or "").split(",")) if match[2] else ()))
    return found


def mebibytes(name: str) -> float:
    """Return how many MiB an installed distribution takes, compiled files included."""
    files = importlib.metadata.files(name) or []
    size = 0
    for file in files:
        path = Path(str(file.locate()))
        if path.is_file():
            size += path.stat().st_size
    return size / 2**20


def main() -> None:
    """Run the bench and print its tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = Report("footprint")
    with tempfile.TemporaryDirectory() as cache:
        cold = start(cache)
        report.row("starting the example", {"start": "cold", **cold}, name="cold")
        warm = [start(cache) for _ in range(STARTS)]
    best = min(warm, key=lambda each: each["first reply s"])
    worst = max(warm, key=lambda each: each["first reply s"])
    report.row("starting the example", {"start": f"warm, best of {STARTS}", **best}, name="warm")
    report.row("starting the example", {"start": "warm, worst", **worst}, name="warm_worst")
    brought = requirements(EXAMPLE)
    sizes = {name: mebibytes(name) for name in brought}
    report.row(
        "installing the example",
        {
            "packages": len(brought),
            "MiB": sum(sizes.values()),
            "peer packages": PEER_PACKAGES,
            "peer MiB": PEER_MEBIBYTES,
        },
        name="install",
    )
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:8]:
        report.row("the largest of them", {"package": name, "MiB": size})
    report.finish(options.json)


if __name__ == "__main__":
    main()
