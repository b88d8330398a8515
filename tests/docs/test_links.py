"""Links in the docs lead somewhere: to files that exist, and to headings in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "core/*.md", "plugins/*/*.md", "contrib/*/*.md")
    for page in ROOT.glob(pattern)
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    headings = (re.sub(r"[^\w\- ]", "", each.lower()) for each in HEADING.findall(prose(page)))
    return {each.strip().replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {target.name}"
        assert target.is_relative_to(ROOT), f"{link}: leads out of the repository"
        if anchor:
            assert anchor in anchors(target), f"{link}: {target.name} has no such heading"


def test_every_page_can_be_reached_from_the_map() -> None:
    docs = ROOT / "docs"
    reached: set[Path] = set()
    waiting = [docs / "index.md"]

    while waiting:
        page = waiting.pop()
        reached.add(page)
        for link in LINK.findall(prose(page)):
            target = (page.parent / link.partition("#")[0]).resolve()
            found = target.glob("*.md") if target.is_dir() else [target]
            waiting += [
                each
                for each in found
                if each.suffix == ".md" and each.is_relative_to(docs) and each not in reached
            ]

    assert sorted(set(docs.rglob("*.md")) - reached) == []
