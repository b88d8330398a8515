"""Every task of the workspace, by name: `nox --list`.

Distributions are found by their `pyproject.toml`, so adding one edits no shared file.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
CONSTRAINTS = str(ROOT / "constraints.txt")
TEST_TOOLS = (
    "pytest",
    "hypothesis",
    "sybil",
    "opentelemetry-sdk",
    "import-linter",
    "mypy",
)
BENCHES = (
    "discovery",
    "decide",
    "multilingual",
    "turn",
    "resolver",
    "provider",
    "footprint",
    "peer",
)

nox.options.sessions = ["lint", "isolation", "isolated", "types_and_docs", "tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "virtualenv"


def distributions() -> list[Path]:
    """Return every distribution's folder: core first, then plugins, then contrib."""
    found = [
        path.parent.relative_to(ROOT)
        for folder in ("plugins", "contrib")
        for path in sorted((ROOT / folder).glob("*/pyproject.toml"))
    ]
    return [Path("core"), *found]


def described(folder: Path) -> dict[str, object]:
    """Return the `project` table of a distribution."""
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]


def siblings(folder: Path, extras: tuple[str, ...] = ()) -> list[Path]:
    """Return the distributions of this workspace that one needs, itself last."""
    by_name = {str(described(each)["name"]): each for each in distributions()}
    needed: dict[Path, None] = {}

    def visit(each: Path, wanted: tuple[str, ...]) -> None:
        project = described(each)
        requirements = list(project.get("dependencies", ()))  # type: ignore[call-overload]
        optional = project.get("optional-dependencies", {})
        for extra in wanted:
            requirements += optional.get(extra, ())  # type: ignore[attr-defined]
        for requirement in requirements:
            name, _, rest = requirement.partition("[")
            name = name.split(">")[0].split("=")[0].split("<")[0].strip()
            inner = tuple(rest.partition("]")[0].split(",")) if rest else ()
            if name in by_name and by_name[name] not in needed and by_name[name] != each:
                visit(by_name[name], inner)
        needed[each] = None

    visit(folder, extras)
    return list(needed)


def install(session: nox.Session, *folders: Path, tools: tuple[str, ...] = ()) -> None:
    """Install distributions from their folders, editable, with the pinned versions."""
    wanted: list[str] = []
    for folder in folders:
        extras = described(folder).get("optional-dependencies", {})
        test = "[testing]" if "testing" in extras else "[test]" if "test" in extras else ""  # type: ignore[operator]
        wanted += ["-e", f"./{folder}{test if tools else ''}"]
    session.install("-c", CONSTRAINTS, *wanted, *tools)


def everything(session: nox.Session, *, tools: tuple[str, ...] = ()) -> None:
    """Install the whole workspace."""
    install(session, *distributions(), tools=tools)


def example(session: nox.Session) -> None:
    """Install what the example bank needs to run: no test tools."""
    install(session, *siblings(Path("contrib/bank")))


@nox.session
def demo(session: nox.Session) -> None:
    """Play a conversation against the example bank, and show why it answers as it does."""
    example(session)
    session.run("poise", "demo", *session.posargs)


@nox.session
def chat(session: nox.Session) -> None:
    """Talk to the example bank."""
    example(session)
    session.run("poise", "chat", "poise_example_bank.main", "--why", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test of the workspace together."""
    everything(session, tools=TEST_TOOLS)
    profile = os.environ.get("HYPOTHESIS_PROFILE", "brisk")
    session.run(
        "pytest",
        *(session.posargs or ("core", "plugins", "contrib", "tests", "--ignore=tests/live")),
        env={"HYPOTHESIS_PROFILE": profile},
    )


@nox.session
@nox.parametrize("folder", [nox.param(str(each), id=each.name) for each in distributions()])
def isolated(session: nox.Session, folder: str) -> None:
    """Run one distribution's own tests with nothing but what it asks for."""
    install(session, *siblings(Path(folder)), tools=("pytest", "hypothesis"))
    # What is new here is the room, not the examples: `tests` draws them all.
    session.run("pytest", folder, *session.posargs, env={"HYPOTHESIS_PROFILE": "quick"})


@nox.session
def isolation(session: nox.Session) -> None:
    """Install core alone, import every module of it, and find no vendor there."""
    session.install("-c", CONSTRAINTS, "./core")
    session.run("python", "tests/architecture/import_core_alone.py")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install("-c", CONSTRAINTS, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


def check_types(session: nox.Session) -> None:
    sources = [
        str(next((ROOT / each / "src").iterdir()).relative_to(ROOT)) for each in distributions()
    ]
    session.run("mypy", *sources, "tests/typing")


def check_docs(session: nox.Session) -> None:
    session.run("pytest", "docs", "README.md", "tests/docs", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly, over all distributions."""
    everything(session, tools=TEST_TOOLS)
    check_types(session)


@nox.session
def docs(session: nox.Session) -> None:
    """Run every Python example of the docs and READMEs, and hold reference pages to the code."""
    everything(session, tools=TEST_TOOLS)
    check_docs(session)


@nox.session
def types_and_docs(session: nox.Session) -> None:
    """Do both in one environment: what they need takes longer to install than to use."""
    everything(session, tools=TEST_TOOLS)
    check_types(session)
    check_docs(session)


@nox.session
def live(session: nox.Session) -> None:
    """Run the providers against a real model server, built from the package registry once."""
    everything(session, tools=(*TEST_TOOLS, "cmake", "ninja"))
    session.run("pytest", "tests/live", *session.posargs, env={"POISE_LIVE": "1"})


@nox.session
def bench(session: nox.Session) -> None:
    """Run benchmarks: `nox -s bench -- turn`, or another of tests/bench; all without a name."""
    everything(session)
    session.install("-c", CONSTRAINTS, "bpe-openai")  # counts tokens exactly where a bench says so
    named = bool(session.posargs) and not session.posargs[0].startswith("-")
    names = session.posargs[:1] if named else BENCHES
    rest = session.posargs[1:] if named else session.posargs
    for name in names:
        session.run("python", f"tests/bench/{name}.py", *rest, env=dict(os.environ))
