"""What the distribution offers, and its settings."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from poise import Composer, Offers, Sections, TermFinder
from poise_compose import CannedComposer, ComposeSettings, LexicalTermFinder, plugin


class Supply:
    def supply(self, kind: type) -> object:
        if kind is ComposeSettings:
            return ComposeSettings()
        raise LookupError(kind)


def test_offers_a_composer_and_a_term_finder():
    offers, sections = Offers("compose"), Sections("compose")

    plugin.poise_provide(offers)
    plugin.poise_config(sections)

    assert isinstance(offers.make(Composer, "canned", Supply()), CannedComposer)
    assert isinstance(offers.make(TermFinder, None, Supply()), LexicalTermFinder)
    assert [section.name for section in sections.all()] == ["compose"]


def test_importing_the_plugin_loads_neither_numpy_nor_the_template_language():
    code = (
        "import sys, poise_compose, poise_compose.plugin as p; "
        "print([m for m in ('numpy', 'jinja2', 'pydantic') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "jinja2" not in done.stdout
    assert "numpy" not in done.stdout


@pytest.mark.parametrize(
    "wrong",
    [
        {"ask": " "},
        {"max_parts": 0},
        {"fit": 0},
        {"unknown": 1},
        {"failed": "x" * 5000},
        {"failed": "No {std.missing_params}."},
        {"ask": "{balance}?"},
        {"ask": "{% if x %}x{% endif %}"},
        {"ask": "{{ x | upper }}"},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        ComposeSettings(**wrong)
