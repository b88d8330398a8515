"""Model cards: merged from data files and settings, found by name and by class."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import Capability, Cards, ModelCard, PluginLoadError, Price, SizeClass, Usage
from poise.hooks.cards import card_from


def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    folder = tmp_path / "cards_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "models.toml").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cards_of_a_test", raising=False)
    return "cards_of_a_test"


def test_a_plugins_file_is_read_with_its_provider_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        provider = "acme"
        [[model]]
        match = "m-1"
        context = 1000
        size = "small"
        capabilities = ["text", "decision"]
        price = { input = 1.0, output = 2.0 }
        band = [0.2, 0.8]
    """
    cards = Cards()

    cards.of_plugin("acme").add_file(package(tmp_path, monkeypatch, text))

    assert cards.find("acme", "m-1") == ModelCard(
        "acme",
        "m-1",
        context=1000,
        size=SizeClass.SMALL,
        capabilities=frozenset({Capability.TEXT, Capability.DECIDE}),
        price=Price(1.0, 2.0),
        band=(0.2, 0.8),
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("contxt = 5", "unknown field 'contxt'"),
        ("context = 0", "no positive whole number"),
        ("size = 'huge'", "'huge' is not a valid SizeClass"),
        ("band = [0.9, 0.1]", "must rise"),
        ("capabilities = ['telepathy']", "telepathy"),
    ],
)
def test_a_mistake_in_a_file_names_plugin_file_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, told: str
) -> None:
    text = f"provider = 'acme'\n[[model]]\nmatch = 'm-1'\n{line}\n"
    name = package(tmp_path, monkeypatch, text)

    with pytest.raises(PluginLoadError, match=told) as caught:
        Cards().of_plugin("acme").add_file(name)

    assert "models.toml: model m-1" in str(caught.value)
    assert "plugin 'acme'" in str(caught.value)


def test_a_missing_file_is_an_error_that_names_it() -> None:
    with pytest.raises(PluginLoadError, match=r"poise/nothing\.toml"):
        Cards().of_plugin("acme").add_file("poise", "nothing.toml")


def test_field_by_field_the_more_specific_and_then_the_later_counts() -> None:
    cards = Cards()
    cards.add(ModelCard("acme", "m-1", context=10, quirks={"a": 1, "b": 1}))
    cards.add(ModelCard("acme", "*", context=5, max_output=3, quirks={"b": 9, "c": 9}))
    cards.add(ModelCard("acme", "m-1", price=Price(0.0)))
    cards.add(ModelCard("other", "m-1", context=99))

    found = cards.find("acme", "m-1")

    assert (found.context, found.max_output, found.price) == (10, 3, Price(0.0))
    assert found.quirks == {"a": 1, "b": 1, "c": 9}


def test_a_class_names_the_first_model_of_it_that_can() -> None:
    cards = Cards()
    for name, can in (
        ("m-*", Capability.TEXT),
        ("embed", Capability.EMBED),
        ("m-2", Capability.TEXT),
    ):
        cards.add(ModelCard("a", name, size=SizeClass.SMALL, capabilities=frozenset({can})))

    assert cards.of_size("a", SizeClass.SMALL, Capability.TEXT) == "m-2"
    assert cards.of_size("a", SizeClass.LARGE, Capability.TEXT) is None


def test_a_card_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'match' is missing"):
        card_from({"provider": "acme"})


counts = st.integers(0, 10**9)


@given(counts, counts, counts, counts)
def test_cached_and_fresh_tokens_cost_what_the_price_says(
    fresh: int, cached: int, written: int, output: int
) -> None:
    usage = Usage(fresh + cached + written, cached, written, output)
    price = Price(input=3.0, output=15.0, cached=0.3, written=3.75)

    cost = price.cost(usage)

    expected = (fresh * 3.0 + cached * 0.3 + written * 3.75 + output * 15.0) / 1e6
    assert cost == pytest.approx(expected)
    assert Price(3.0, 15.0).cost(usage) >= cost - written * 0.75 / 1e6 - 1e-9
