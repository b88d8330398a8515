"""What the package offers, and that nothing of the SDK is imported before it is used."""

from __future__ import annotations

import subprocess
import sys

from poise import Cards, ModelProvider, Offers, Sections
from poise_google import plugin


def test_both_services_are_offered_with_a_section_each() -> None:
    offers, sections = Offers("google"), Sections("google")

    plugin.poise_provide(offers)
    plugin.poise_config(sections)

    assert [offer.name for offer in offers.of(ModelProvider)] == ["google", "vertex"]
    assert [section.name for section in sections.all()] == ["google", "vertex"]


def test_cards_cover_both_services() -> None:
    cards = Cards("google")

    plugin.poise_models(cards)

    assert {card.provider for card in cards.all()} == {"google", "vertex"}


def test_importing_and_constructing_import_no_sdk() -> None:
    program = (
        "import sys\n"
        "from poise_google import plugin\n"
        "from poise_google.provider import GoogleProvider, VertexProvider\n"
        "from poise_google.settings import GoogleSettings, VertexSettings\n"
        "GoogleProvider(GoogleSettings()).text_generator('gemini-3.8-flash')\n"
        "VertexProvider(VertexSettings()).structured_generator('gemini-3.8-flash')\n"
        "GoogleProvider(GoogleSettings()).decision_model('gemini-decision-1')\n"
        "print([each for each in sys.modules if each.split('.')[0] in ('google', 'httpx2')])\n"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == "[]"
