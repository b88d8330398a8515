from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

from poise import Annotator, Discoverer, Offers, Sections
from poise.hooks.findings import Severity
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.stores import ArtifactStore
from poise.testing.models import ScriptedModels
from poise.testing.turns import catalog_of, observation, policy
from poise.turn.models import TurnModels
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import WayIn
from poise_discovery import (
    DiscoverySettings,
    FlagAnnotator,
    ReadingAnnotator,
    SignalDiscoverer,
    plugin,
)


class Supply:
    def supply(self, kind: type) -> object:
        made = {
            TurnModels: ScriptedModels(),
            ArtifactStore: MemoryArtifactStore(),
            DiscoverySettings: DiscoverySettings(),
        }
        if kind not in made:
            raise LookupError(kind)
        return made[kind]


def test_offers_a_discoverer_and_an_annotator_as_defaults() -> None:
    offers, sections = Offers("discovery"), Sections("discovery")

    plugin.poise_provide(offers)
    plugin.poise_config(sections)

    assert isinstance(offers.make(Discoverer, None, Supply()), SignalDiscoverer)
    assert isinstance(offers.make(Annotator, None, Supply()), ReadingAnnotator)
    assert isinstance(offers.make(Annotator, "flags", Supply()), FlagAnnotator)
    assert [section.name for section in sections.all()] == ["discovery"]


def test_importing_the_plugin_loads_no_numpy() -> None:
    code = (
        "import sys, poise_discovery, poise_discovery.plugin; "
        "print([m for m in ('numpy', 'sklearn', 'pydantic') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "wrong",
    [
        {"recall": 1.0},
        {"recall": 0.1},
        {"stale_after": 0},
        {"passing": 2.0},
        {"annotations": ""},
        {"propose_below": 0},
        {"tpyo": 1},
    ],
)
def test_settings_out_of_range_are_refused(wrong) -> None:
    with pytest.raises(ValidationError):
        DiscoverySettings(**wrong)


def test_doubtful_rules_are_named() -> None:
    bare = policy("bare")
    thin = policy("thin", signals=["one", "two"])
    good = policy("good", signals=[f"phrase {at}" for at in range(8)])
    adrift = policy("adrift", way_in=WayIn.DEPENDENCY)
    led_to = observation("led to", way_in=WayIn.DEPENDENCY)
    needs = Relation(RelationKind.DEPENDENCY, good.id, led_to.id)

    found = plugin.poise_lint(catalog_of([bare, thin, good, adrift, led_to], [needs]))

    assert [(each.check, each.subject, each.severity) for each in found] == [
        ("discovery.no_signals", bare.id, Severity.WARNING),
        ("discovery.few_signals", thin.id, Severity.NOTE),
        ("discovery.unreachable", adrift.id, Severity.WARNING),
    ]


def test_unknown_names_are_attribute_errors() -> None:
    import poise_discovery

    with pytest.raises(AttributeError):
        poise_discovery.nothing  # noqa: B018 - reading it is the test
