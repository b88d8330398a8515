"""Which model serves a route: patterns, qualifiers, agents, classes, and the next way of asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import (
    Capability,
    Cards,
    ConfigError,
    Effort,
    Embedder,
    ModelCard,
    ModelProvider,
    Offers,
    SizeClass,
    UnknownOfferError,
)
from poise.engine.routing import ModelRoutes, entry_of
from poise.testing.providers import ScriptedEmbedder
from poise.turn.routes import ROUTES


class Vendor(ModelProvider):
    """Does what it is told it does, with any model of a known name."""

    def __init__(self, name: str, served: Mapping[Capability, Sequence[str]]) -> None:
        self.name = name
        self._served = served

    def models(self, capability: Capability) -> Sequence[str]:
        return self._served.get(capability, ())


class Nothing:
    def supply(self, kind: type) -> object:
        raise LookupError(kind.__name__)


WRITER = {Capability.TEXT: ("big", "tiny"), Capability.STRUCTURED: ("big", "tiny")}
LOCAL = {Capability.EMBED: ("words",), Capability.DECIDE: ("prior",)}


def routes_of(
    table: Mapping[str, Sequence[str] | str],
    *,
    agents: Mapping[str, Mapping[str, Sequence[str] | str]] | None = None,
    cards: Cards | None = None,
) -> ModelRoutes:
    offers = Offers("test")
    offers.add(ModelProvider, "local", lambda: Vendor("local", LOCAL), default=True)
    offers.add(ModelProvider, "acme", lambda: Vendor("acme", WRITER))
    offers.add(
        ModelProvider,
        "judge",
        lambda: Vendor("judge", {Capability.DECIDE: ("j1",), Capability.TEXT: ("t1",)}),
    )
    offers.add(ModelProvider, "talker", lambda: Vendor("talker", {Capability.TEXT: ("t",)}))
    offers.add(Embedder, "hashing", ScriptedEmbedder)
    return ModelRoutes(table, offers, Nothing(), cards=cards, agents=agents)


def names(routes: ModelRoutes, route: str, capability: Capability, **more: object) -> list[str]:
    return [served.name for served in routes.chain(route, capability, **more)]  # type: ignore[arg-type]


def test_without_settings_the_default_provider_serves_what_it_can() -> None:
    routes = routes_of({})

    assert names(routes, "matching.verdict", Capability.DECIDE) == ["local:prior"]
    assert names(routes, "embed", Capability.EMBED) == ["local:words"]
    assert names(routes, "compose.message", Capability.TEXT) == []


def test_the_most_specific_line_counts() -> None:
    routes = routes_of(
        {
            "*": "talker:t",
            "compose.*": "acme:tiny",
            "compose.message": "acme:big",
            "compose.message[effort=min|low]": "talker:t",
        }
    )

    assert names(routes, "compact", Capability.TEXT) == ["talker:t"]
    assert names(routes, "compose.draft", Capability.TEXT) == ["acme:tiny"]
    assert names(routes, "compose.message", Capability.TEXT) == ["acme:big"]
    assert names(routes, "compose.message", Capability.TEXT, effort=Effort.LOW) == ["talker:t"]
    assert names(routes, "compose.message", Capability.TEXT, effort=Effort.HIGH) == ["acme:big"]


def test_a_capability_qualifier_splits_a_route() -> None:
    routes = routes_of({"*": "acme:big", "*[capability=decision]": "judge:j1"})

    assert names(routes, "matching.verdict", Capability.DECIDE) == ["judge:j1"]
    assert names(routes, "journeys.step", Capability.STRUCTURED) == ["acme:big"]


def test_a_missing_capability_is_had_in_the_next_way_and_said() -> None:
    routes = routes_of({"*": ("judge:j1", "acme:big", "talker:t")})

    served = routes.chain("matching.verdict", Capability.DECIDE)

    assert [(each.name, each.way) for each in served] == [
        ("judge:j1", Capability.DECIDE),
        ("acme:big", Capability.STRUCTURED),
        ("talker:t", Capability.TEXT),
    ]
    assert [each.note for each in served] == [
        "",
        "does no decision: asked for JSON",
        "does no decision: asked in words",
    ]


def test_what_no_named_model_can_do_the_default_does_and_says_why() -> None:
    routes = routes_of({"*": "acme:big"})

    (served,) = routes.chain("embed", Capability.EMBED)

    assert served.name == "local:words"
    assert served.note == "models.'*' names nothing that does embedding"


def test_a_provider_alone_gives_its_preferred_model_of_the_routes_class() -> None:
    cards = Cards()
    cards.add(ModelCard("acme", "big", size=SizeClass.LARGE))
    cards.add(ModelCard("acme", "tiny", size=SizeClass.SMALL))

    routes = routes_of({"*": "acme", "compose.preamble": "acme:large"}, cards=cards)

    assert names(routes, "compose.message", Capability.TEXT) == ["acme:big"]
    assert names(routes, "compact", Capability.TEXT) == ["acme:tiny"]
    assert names(routes, "compose.preamble", Capability.TEXT) == ["acme:big"]
    assert names(routes, "journeys.step", Capability.STRUCTURED) == ["acme:big"], "no medium one"


def test_an_agents_own_lines_come_first() -> None:
    routes = routes_of({"*": "acme:big"}, agents={"Bank": {"compose.*": "talker:t"}})

    assert names(routes, "compose.message", Capability.TEXT, called=("Bank", "a1")) == ["talker:t"]
    assert names(routes, "compose.message", Capability.TEXT, called=("Shop", "a2")) == ["acme:big"]
    assert names(
        routes, "compose.message", Capability.TEXT, agent={"*": ("acme:tiny",)}, called=("Shop",)
    ) == ["acme:tiny"]


def test_a_model_offered_by_itself_is_named_without_a_colon() -> None:
    routes = routes_of({"embed": "hashing"})

    (served,) = routes.chain("embed", Capability.EMBED)

    assert served.name == "hashing"
    assert isinstance(routes.made(served, Embedder), ScriptedEmbedder)


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("matching.verdit", "did you mean 'matching.verdict'?"),
        ("matching.*[capability=decide]", "no capability 'decide'; there are embedding, decision"),
        ("matching.*[effort=huge]", "no effort 'huge'; there are min, low, medium, high, max"),
        ("matching.*[speed=fast]", "unknown qualifier 'speed'"),
        ("mat*ching", "write a route"),
        ("a[b]c", "write a route"),
        ("", "write a route"),
    ],
)
def test_a_wrong_key_says_what_to_write(key: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told.replace("?", r"\?").replace("'", ".")):
        entry_of(key, "acme:big")


def test_a_line_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="names no model"):
        entry_of("*", ())


def test_a_provider_that_nobody_offers_fails_at_start() -> None:
    with pytest.raises(UnknownOfferError, match="pip install poise-zeta"):
        routes_of({"*": "zeta:model"}).check()
    with pytest.raises(ConfigError, match="no provider and no model on offer"):
        routes_of({"*": "zeta"}).check()


def test_a_model_named_twice_is_asked_once() -> None:
    routes = routes_of({"*": ("acme:big", "talker:t", "acme", "acme:big")})

    assert names(routes, "compact", Capability.TEXT) == ["acme:big", "talker:t"]


def test_a_provider_that_wraps_another_is_known_by_the_others_cards() -> None:
    class Wrapping(Vendor):
        def card_of(self, model: str) -> tuple[str, str]:
            return "acme", "big"

    offers = Offers("test")
    offers.add(ModelProvider, "tape", lambda: Wrapping("tape", {Capability.TEXT: ("t",)}))
    cards = Cards()
    cards.add(ModelCard("acme", "big", context=1234))

    routes = ModelRoutes({"*": "tape:t"}, offers, Nothing(), cards=cards)

    (served,) = routes.chain("compact", Capability.TEXT)
    assert (served.name, served.card.context) == ("tape:t", 1234)


patterns = st.sampled_from([*(route.name for route in ROUTES), "*", "compose.*", "matching.*"])
models = st.sampled_from(["acme:big", "talker:t", "judge:t1"])


@given(table=st.dictionaries(patterns, models), route=st.sampled_from(ROUTES), data=st.data())
def test_the_order_of_the_lines_changes_nothing(
    table: dict[str, str], route: object, data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(table.items()))))
    name = route.name  # type: ignore[attr-defined]

    assert names(routes_of(table), name, Capability.TEXT) == names(
        routes_of(shuffled), name, Capability.TEXT
    )


@given(table=st.dictionaries(patterns, models), route=st.sampled_from(ROUTES))
def test_an_exact_line_always_wins_and_a_star_always_catches(
    table: dict[str, str], route: object
) -> None:
    name = route.name  # type: ignore[attr-defined]
    found = names(routes_of(table), name, Capability.TEXT)

    if name in table:
        assert found == [table[name]]
    elif "*" in table:
        assert found
