"""Settings around models: routes with fallbacks, agents' own, cards, limits on spending."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.app.config import Config, load_config
from poise.errors import ConfigError
from poise.turn.cards import ModelCard, Price, SizeClass
from poise.turn.models import Capability


def toml(folder: Path, text: str) -> Path:
    path = folder / "poise.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load(
    path: Path | None = None,
    environ: dict[str, str] | None = None,
    overrides: dict[str, object] | None = None,
) -> Config:
    return load_config(
        file=path, environ={"POISE_CONFIG": "", **(environ or {})}, overrides=overrides
    )


# -- routes --


@pytest.mark.parametrize("said", ["a:one, b:two", ["a:one", "b:two"], ("a:one", "b:two")])
def test_fallbacks_of_a_route_are_a_list_or_a_text_with_commas(said: object) -> None:
    config = load(overrides={"models": {"compose.message": said}})

    assert config.models == {"compose.message": ("a:one", "b:two")}


@pytest.mark.parametrize("text", ["a:one,b:two", '["a:one", "b:two"]'])
def test_fallbacks_come_from_the_environment_too(text: str) -> None:
    config = load(environ={"POISE_MODELS__COMPOSE__MESSAGE": text})

    assert config.models == {"compose.message": ("a:one", "b:two")}
    assert str(config.origin("models.compose.message")) == "POISE_MODELS__COMPOSE__MESSAGE"


def test_list_that_is_no_json_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(ConfigError, match=r"^POISE_MODELS__EMBED: models\.embed"):
        load(environ={"POISE_MODELS__EMBED": '["a:one"'})


def test_patterns_and_qualifiers_are_keys_as_they_are_written(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        "[models]\n"
        '"*" = "a:large"\n'
        '"matching.*[effort=high]" = ["a:one", "b:two"]\n'
        '"matching.*[capability=decision, effort=low|min]" = "a:three"\n',
    )

    config = load(path)

    assert config.models == {
        "*": ("a:large",),
        "matching.*[effort=high]": ("a:one", "b:two"),
        "matching.*[capability=decision, effort=low|min]": ("a:three",),
    }
    assert str(config.origin("models.matching.*[effort=high]")) == f"{path}:3"
    spaced = "models.matching.*[capability=decision, effort=low|min]"
    assert str(config.origin(spaced)) == f"{path}:4"


def test_stronger_source_replaces_the_fallbacks_of_a_route_whole(tmp_path: Path) -> None:
    path = toml(tmp_path, '[models]\nembed = ["a:one", "a:two"]\n')

    config = load(path, overrides={"models": {"embed": ["b:three"]}})

    assert config.models == {"embed": ("b:three",)}
    assert str(config.origin("models.embed")) == "argument"


ROUTE = st.sampled_from(["embed", "compose.message", "matching.*", "matching.*[effort=high]", "*"])
NAMES = st.lists(st.from_regex(r"[a-z]{1,5}:[a-z0-9.\-]{1,8}", fullmatch=True), min_size=1)


@given(routes=st.dictionaries(ROUTE, NAMES))
def test_every_spelling_of_routes_says_the_same(routes: dict[str, list[str]]) -> None:
    joined = {route: ", ".join(names) for route, names in routes.items()}
    nested: dict[str, object] = {}
    for route, names in routes.items():
        family, dot, use = route.partition(".")
        table = nested.setdefault(family, {}) if dot else nested
        assert isinstance(table, dict)
        table[use if dot else family] = names

    plain = load(overrides={"models": routes})

    assert plain.models == {route: tuple(names) for route, names in routes.items()}
    assert load(overrides={"models": joined}).models == plain.models
    assert load(overrides={"models": nested}).models == plain.models


# -- agents --


def test_agent_has_routes_of_its_own_however_they_are_nested(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        '[agents.bank.models]\ncompose.message = "a:one, b:two"\n"matching.*" = "a:three"\n',
    )
    environ = {"POISE_AGENTS__BANK__MODELS__REVIEW__REPLY": "c:four"}

    config = load(path, environ)

    assert config.agents["bank"].models == {
        "compose.message": ("a:one", "b:two"),
        "matching.*": ("a:three",),
        "review.reply": ("c:four",),
    }
    rows = {row.key: row for row in config.describe()}
    assert rows["agents.bank.models.compose.message"].value == ["a:one", "b:two"]
    assert str(rows["agents.bank.models.compose.message"].origin) == f"{path}:2"
    assert str(rows["agents.bank.models.review.reply"].origin) == next(iter(environ))


def test_misspelt_key_of_an_agent_is_told(tmp_path: Path) -> None:
    path = toml(tmp_path, '[agents.bank]\nmodel = "a:one"\n')

    with pytest.raises(ConfigError, match=r"poise\.toml:2: .*agents\.bank.*model"):
        load(path)


# -- cards --


def test_card_of_settings_is_the_card_that_the_engine_reads(tmp_path: Path) -> None:
    path = toml(
        tmp_path,
        '[model_cards."acme:bird-2.5"]\n'
        "context = 128_000\n"
        "max_output = 8000\n"
        'size = "small"\n'
        'capabilities = ["text", "structured"]\n'
        "price = { input = 1.0, output = 4.0, cached = 0.1 }\n"
        "band = [0.2, 0.8]\n"
        "quirks = { reasoning = false }\n",
    )

    config = load(path)

    name, said = next(iter(config.model_cards.items()))
    assert said.card(name) == ModelCard(
        "acme",
        "bird-2.5",
        context=128_000,
        max_output=8000,
        size=SizeClass.SMALL,
        capabilities=frozenset({Capability.TEXT, Capability.STRUCTURED}),
        price=Price(1.0, 4.0, cached=0.1),
        band=(0.2, 0.8),
        quirks={"reasoning": False},
    )
    assert str(config.origin("model_cards.acme:bird-2.5.context")) == f"{path}:2"
    rows = {row.key: row for row in config.describe()}
    assert rows["model_cards.acme:bird-2.5.price.input"].value == 1.0


def test_name_of_a_model_may_hold_colons_of_its_own() -> None:
    config = load(overrides={"model_cards": {"acme:bird:free": {"questions": 4}}})

    card = config.model_cards["acme:bird:free"].card("acme:bird:free")

    assert (card.provider, card.match, card.questions) == ("acme", "bird:free", 4)


@pytest.mark.parametrize(
    ("name", "said", "told"),
    [
        ("bird", {}, "'bird' names no model; write 'provider:model'"),
        ("acme:", {}, "'acme:' names no model"),
        ("acme:bird", {"contxt": 5}, "contxt"),
        ("acme:bird", {"context": 0}, "greater than 0"),
        ("acme:bird", {"band": [0.9, 0.1]}, "must rise within 0 to 1"),
        ("acme:bird", {"price": {"output": 1.0}}, "price.input is required"),
        ("acme:bird", {"capabilities": "telepathy"}, "'embedding', 'decision'"),
    ],
)
def test_card_that_can_not_be_is_an_error_that_says_why(
    name: str, said: dict[str, object], told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(overrides={"model_cards": {name: said}})

    assert told in str(caught.value)


# -- spending, and the limits of a request --


def test_spending_is_not_limited_until_settings_say_so() -> None:
    spending = load().spending

    assert (spending.turn, spending.session, spending.day) == (None, None, None)
    assert spending.degrade_at == 0.8


def test_limits_on_spending_come_from_any_source(tmp_path: Path) -> None:
    path = toml(tmp_path, "[spending]\nsession = 0.5\ndegrade_at = 0.9\n")

    spending = load(path, {"POISE_SPENDING__DAY": "20"}).spending

    assert (spending.session, spending.day, spending.degrade_at) == (0.5, 20.0, 0.9)


@pytest.mark.parametrize("said", [{"turn": -1}, {"degrade_at": 0}, {"degrade_at": 1.2}])
def test_spending_that_makes_no_sense_is_refused(said: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"argument: spending\."):
        load(overrides={"spending": said})


def test_limits_of_requests_reach_the_engine() -> None:
    said = {
        "retries": 0,
        "retry_wait": 0.1,
        "repairs": 2,
        "output_reserve": 512,
        "capture_content": True,
    }

    limits = load(overrides={"engine": said}).limits()

    assert {name: getattr(limits, name) for name in said} == said
