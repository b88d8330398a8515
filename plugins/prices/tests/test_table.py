"""The table knows the vendors' prices, today's, and nobody else's."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from genai_prices.data_snapshot import get_snapshot

from poise import Offers, Price, PriceTable
from poise.testing.clock import FrozenClock
from poise_prices import plugin
from poise_prices.table import BundledPriceTable

DECEMBER = datetime(2026, 12, 15, 12, tzinfo=UTC)


@pytest.fixture
def table() -> BundledPriceTable:
    return BundledPriceTable(FrozenClock(DECEMBER))


def test_it_is_the_default_table() -> None:
    offers = Offers("prices")

    plugin.poise_provide(offers)

    offer = offers.default(PriceTable)
    assert offer is not None
    assert offer.name == "bundled"


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "gpt-5", Price(1.25, 10.0, 0.125)),
        ("azure", "gpt-5", Price(1.25, 10.0, 0.125)),
        ("anthropic", "claude-sonnet-4-5", Price(3.0, 15.0, 0.3, 3.75)),
        ("vertex", "claude-sonnet-4-5", Price(3.0, 15.0, 0.3, 3.75)),
        ("google", "gemini-2.5-flash", Price(0.3, 2.5, 0.03)),
        ("vertex", "gemini-2.5-flash", Price(0.3, 2.5, 0.03)),
        ("google", "gemini-embedding-001", Price(0.15)),
        ("openrouter", "openai/gpt-5", Price(1.25, 10.0, 0.125)),
        ("mistral", "mistral-large-latest", Price(2.0, 6.0)),
        ("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo", Price(0.88, 0.88)),
        ("deepseek", "deepseek-chat", Price(0.27, 1.1, 0.07)),
    ],
)
def test_it_knows_what_vendors_ask(
    table: BundledPriceTable, provider: str, model: str, expected: Price
) -> None:
    assert table.price(provider, model) == expected


def test_a_price_that_rises_with_the_prompt_is_that_of_a_short_one(
    table: BundledPriceTable,
) -> None:
    assert table.price("google", "gemini-2.5-pro") == Price(1.25, 10.0, 0.125)


def test_a_dated_price_holds_from_its_day_on() -> None:
    clock = FrozenClock(DECEMBER)
    table = BundledPriceTable(clock)

    before = table.price("google", "gemini-3.8-flash")
    clock.advance(31 * 24 * 3600)
    after = table.price("google", "gemini-3.8-flash")

    assert before == Price(0.75, 3.75, 0.075)
    assert after == Price(1.5, 7.5, 0.15)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("google", "no-such-model"),
        ("no-such-provider", "gpt-5"),
        ("my-openai", "gpt-5"),
        ("ollama", "gpt-oss"),
        ("qwen", "qwen-max"),
        ("groq", "canopylabs/orpheus-arabic-saudi"),
        ("", ""),
    ],
)
def test_what_it_does_not_know_it_does_not_guess(
    table: BundledPriceTable, provider: str, model: str
) -> None:
    assert table.price(provider, model) is None
    assert table.price(provider, model) is None


def test_every_price_of_the_data_can_be_said(table: BundledPriceTable) -> None:
    for provider in get_snapshot().providers:
        for model in provider.models:
            found = table.price(provider.id, model.id)

            assert found is None or (found.input >= 0 and found.output >= 0)


def test_nothing_is_fetched_and_the_data_is_read_at_first_use() -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*args, **kwargs): raise AssertionError('the network was used')\n"
        "socket.socket.connect = refuse\n"
        "from poise.values.clock import SystemClock\n"
        "from poise_prices import plugin\n"
        "from poise_prices.table import BundledPriceTable\n"
        "table = BundledPriceTable(SystemClock())\n"
        "assert not any(each.startswith('genai_prices') for each in sys.modules)\n"
        "print(table.price('google', 'gemini-2.5-flash'))\n"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("Price(")
