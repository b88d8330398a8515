"""`poise models`: what serves each route and what is known of it, and whether it answers."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from poise.cli.main import main
from poise.turn.routes import ROUTES

_PLUGIN = """
import anyio
import numpy as np

import poise
from poise import (
    AuthenticationError, Capability, DecisionModel, Embedder, Finish, ModelProvider, Moderation,
    Moderator, Probability, StructuredGenerator, StructuredReply, TextChunk, TextGenerator, Usage,
)

CLOSED = []


class Writer(TextGenerator):
    def __init__(self, model):
        self.model = model

    async def stream(self, prompt, *, options):
        if self.model == "keyless":
            raise AuthenticationError("acme", "keyless", "", "there is no key; set ACME_API_KEY")
        if self.model == "slow":
            await anyio.Event().wait()
        if self.model == "shy":
            yield TextChunk(finish=Finish.REFUSED, reason="I would rather not")
            return
        yield TextChunk("OK\\x1b[31m")
        yield TextChunk(finish=Finish.COMPLETE, usage=Usage(10, output_tokens=2))


class Jsonist(StructuredGenerator):
    async def generate(self, prompt, schema, *, options):
        return StructuredReply('{"greeting": true}', usage=Usage(20, output_tokens=4))


class Oracle(DecisionModel):
    identity = "oracle"

    async def decide(self, request):
        return [Probability(each.id, 0.25) for each in request.questions]


class Mute(Embedder):
    identity = "mute"
    dimensions = 4

    async def embed(self, texts):
        return np.zeros((len(texts), 3), dtype=np.float32)


class Judge(Moderator):
    async def moderate(self, texts):
        return [Moderation(False) for _ in texts]


class Acme(ModelProvider):
    name = "acme"
    probes = 0

    def models(self, capability):
        return {
            Capability.TEXT: ("writer", "keyless", "slow", "shy"),
            Capability.STRUCTURED: ("writer",),
            Capability.DECIDE: ("oracle",),
            Capability.EMBED: ("mute",),
            Capability.MODERATE: ("judge",),
        }[capability]

    def text_generator(self, model):
        return Writer(model)

    def structured_generator(self, model):
        return Jsonist()

    def decision_model(self, model):
        return Oracle()

    def embedder(self, model):
        return Mute()

    def moderator(self, model):
        return Judge()

    async def probe(self, model):
        Acme.probes += 1
        return {"probes": str(Acme.probes)} if model == "writer" else {}

    async def aclose(self):
        CLOSED.append(self)


@poise.hookimpl
def poise_provide(offers):
    offers.add(ModelProvider, "acme", Acme)
    offers.add(poise.Stores, "kept", "poise_scripted:kept", default=True)


@poise.hookimpl
def poise_models(cards):
    cards.add_file("poise_scripted_data")


STORES = []


def kept():
    from poise.memory.stores import MemoryStores
    from poise.values.clock import SystemClock

    if not STORES:
        STORES.append(MemoryStores(SystemClock()))
    return STORES[0]
"""

_CARDS = """
provider = "acme"

[[model]]
match = "writer"
size = "large"
context = 200000
max_output = 8192
price = { input = 1.0, output = 4.0 }
"""


@pytest.fixture
def acme(scripted: Path) -> Path:
    """Install a plugin with one provider; work in an empty folder."""
    site = scripted.parent / "site"
    (site / "poise_scripted.py").write_text(_PLUGIN)
    (site / "poise_scripted_data").mkdir()
    (site / "poise_scripted_data/__init__.py").write_text("")
    (site / "poise_scripted_data/models.toml").write_text(_CARDS)
    return scripted


def settings(folder: Path, models: dict[str, str | list[str]], more: str = "") -> None:
    lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in models.items()]
    (folder / "poise.toml").write_text("\n".join(["[models]", *lines, more]))


def poise(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    return result.exit_code, click.unstyle(result.stdout), result.stderr


def listed(*arguments: str) -> dict[str, dict[str, object]]:
    code, out, err = poise("models", "--json", *arguments)
    assert code == 0, err
    rows = json.loads(out)["routes"]
    return {row["route"] + (f"[{row['when']}]" if row["when"] else ""): row for row in rows}


def checked(*arguments: str) -> tuple[int, dict[tuple[str, str], dict[str, object]]]:
    code, out, err = poise("models", "check", "--json", *arguments)
    assert not err, err
    rows = json.loads(out)
    return code, {(row["model"], row["asked"]): row for row in rows}


# -- listing --


def test_every_route_is_listed_with_its_purpose(acme: Path) -> None:
    rows = listed()

    assert [(name, row["purpose"]) for name, row in rows.items()] == [
        (route.name, route.purpose) for route in ROUTES
    ]


def test_a_route_says_what_serves_it_in_order_and_how(acme: Path) -> None:
    settings(acme, {"compose.*": ["acme:writer", "acme:keyless"], "matching.*": "acme:writer"})

    rows = listed()

    assert rows["compose.message"]["served"] == [
        {"model": "acme:writer", "how": "text", "note": ""},
        {"model": "acme:keyless", "how": "text", "note": ""},
    ]
    (served,) = rows["matching.verdict"]["served"]  # type: ignore[misc]
    assert served["how"] == "structured"
    assert served["note"] == "does no decision: asked for JSON"
    assert rows["screen"]["served"] == []


def test_other_models_for_an_effort_or_an_agent_are_rows_of_their_own(acme: Path) -> None:
    settings(
        acme,
        {"compose.message": "acme:writer", "compose.message[effort=max]": "acme:slow"},
        '[agents.Mia.models]\nscreen = "acme:judge"',
    )

    rows = listed()

    assert rows["compose.message[effort=max]"]["served"][0]["model"] == "acme:slow"  # type: ignore[index]
    assert rows["screen[agent=Mia]"]["served"][0]["model"] == "acme:judge"  # type: ignore[index]
    assert len(rows) == len(ROUTES) + 2


def test_a_plugins_own_route_is_listed_where_settings_name_it(acme: Path) -> None:
    settings(acme, {"surveys.wording": "acme:oracle"})

    row = listed()["surveys.wording"]

    assert (row["capability"], row["size"]) == ("decision", "")


def test_models_are_listed_once_with_their_data(acme: Path) -> None:
    settings(acme, {"compose.*": ["acme:writer", "acme:keyless"]})

    _, out, _ = poise("models", "--json")

    models = {row["name"]: row for row in json.loads(out)["models"]}
    assert list(models) == ["acme:writer", "acme:keyless"]
    assert models["acme:writer"] == {
        "name": "acme:writer",
        "capabilities": ["structured", "text"],
        "size": "large",
        "context": 200000,
        "max_output": 8192,
        "price": {"input": 1.0, "output": 4.0, "cached": None, "written": None},
        "found": {},
    }


def test_listing_asks_no_model_and_prints_what_to_set(acme: Path) -> None:
    settings(acme, {"compose.*": "acme:slow"})

    code, out, _ = poise("models")

    assert code == 0
    assert "Nothing serves" in out
    assert '[models] "matching.verdict" = "provider:model"' in out


def test_a_wrong_name_in_the_settings_is_an_error_that_says_where(acme: Path) -> None:
    settings(acme, {"compose.*": "acmee:writer"})

    code, _, err = poise("models")

    assert code == 2
    assert "acmee" in err


def test_no_line_is_wider_than_the_terminal(acme: Path) -> None:
    settings(acme, {"compose.*": ["acme:writer", "acme:keyless", "acme:slow", "acme:shy"]})

    result = CliRunner().invoke(main, ["models"], env={"COLUMNS": "100"})

    assert max(len(line) for line in click.unstyle(result.stdout).splitlines()) <= 100


# -- checking --


def test_each_model_is_asked_once_for_each_thing(acme: Path) -> None:
    settings(
        acme,
        {
            "compose.message": "acme:writer",
            "compose.draft": "acme:writer",
            "matching.verdict": "acme:oracle",
            "tools.*": "acme:writer",
            "screen": "acme:judge",
        },
    )

    code, rows = checked()

    assert code == 0
    assert {key: row["said"] for key, row in rows.items()} == {
        ("acme:oracle", "decision"): "no, p = 0.25",
        ("acme:writer", "structured"): '{"greeting": true}',
        ("acme:writer", "text"): "OK\x1b[31m",
        ("acme:judge", "moderation"): "not flagged",
    }
    assert rows["acme:writer", "structured"]["routes"] == ["tools.infer", "tools.extract"]
    assert rows["acme:writer", "text"]["routes"] == ["compose.draft", "compose.message"]


def test_a_check_says_what_it_took(acme: Path) -> None:
    settings(acme, {"compose.message": "acme:writer"})

    _, rows = checked("compose.message")

    row = rows["acme:writer", "text"]
    assert row["tokens"] == 12
    assert row["cost"] == pytest.approx(18e-6)
    assert 0 <= row["milliseconds"] < 5_000  # type: ignore[operator]


def test_a_failing_model_is_named_with_the_mend_and_ends_with_3(acme: Path) -> None:
    settings(acme, {"compose.message": ["acme:writer", "acme:keyless"]})

    code, out, _ = poise("models", "check", "compose.message")

    assert code == 3
    assert "! acme:keyless on route compose.message: there is no key; set ACME_API_KEY" in out
    assert "AuthenticationError" in out
    assert "\x1b[31m" not in out


def test_a_model_that_does_not_answer_fails_at_its_deadline_and_holds_up_no_other(
    acme: Path,
) -> None:
    settings(acme, {"compose.message": ["acme:slow", "acme:writer"]})

    code, rows = checked("compose.message", "--deadline", "0.3")

    assert code == 3
    assert "0.3 s" in str(rows["acme:slow", "text"]["said"])
    assert rows["acme:writer", "text"]["ok"] is True


@pytest.mark.parametrize(
    ("model", "route", "error"),
    [
        ("acme:shy", "compose.message", "RefusedError"),
        ("acme:mute", "embed", "MalformedReplyError"),
    ],
)
def test_what_is_no_answer_is_a_failure(acme: Path, model: str, route: str, error: str) -> None:
    settings(acme, {route: model})

    code, rows = checked(route)

    (row,) = rows.values()
    assert (code, row["ok"], row["error"]) == (3, False, error)


def test_what_a_check_finds_out_is_remembered(acme: Path) -> None:
    settings(acme, {"compose.message": "acme:writer", "tools.infer": "acme:writer"})
    checked("compose.message", "tools.infer")

    _, out, _ = poise("models", "--json")

    import poise_scripted  # type: ignore[import-not-found]  # made by this test

    (model,) = json.loads(out)["models"]
    assert len(poise_scripted.CLOSED) == 2
    assert model["found"]["probes"] == "1"
    assert model["found"]["text"].startswith("ok on 20")


def test_routes_may_be_named_by_their_beginning(acme: Path) -> None:
    settings(acme, {"tools.*": "acme:writer", "embed": "acme:mute"})

    code, rows = checked("tools.*")

    assert code == 0
    assert {model for model, _ in rows} == {"acme:writer"}


def test_an_unknown_route_suggests_a_known_one(acme: Path) -> None:
    assert poise("models", "check", "compose.mesage")[::2] == (
        2,
        "poise: no route 'compose.mesage'; did you mean 'compose.message'?\n",
    )


def test_a_named_route_that_nothing_serves_is_an_error(acme: Path) -> None:
    code, _, err = poise("models", "check", "screen")

    assert code == 2
    assert "nothing serves 'screen'" in err


def test_where_nothing_is_served_nothing_is_asked(acme: Path) -> None:
    code, out, _ = poise("models", "check")

    assert code == 0
    assert "nothing was asked" in out
