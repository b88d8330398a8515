"""What the distribution offers, its settings, and what it finds doubtful."""

from __future__ import annotations

import subprocess
import sys

import attrs
import pytest
from pydantic import ValidationError

from poise import Composer, Offers, Sections, TermFinder
from poise.hooks.findings import Severity
from poise.testing.composition import canned
from poise.testing.turns import AGENT, catalog_of
from poise.values.agents import CompositionMode
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


def test_lint_names_templates_that_are_never_said():
    strict = attrs.evolve(AGENT, composition_mode=CompositionMode.CANNED_STRICT)
    bad = canned("{% for x in y %}{{ x }}{% endfor %}")
    free = canned("In {generic.city} we ship for free.")

    findings = plugin.poise_lint(catalog_of(canned_responses=[bad, free, canned("Fine {x}.")]))
    empty = plugin.poise_lint(catalog_of(agent=strict))

    assert [(each.check, each.subject, each.severity) for each in findings] == [
        ("compose.template", bad.id, Severity.ERROR),
        ("compose.generic_field", free.id, Severity.NOTE),
    ]
    assert [each.check for each in empty] == ["compose.no_replies"]
