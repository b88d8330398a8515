from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from poise.errors import ProviderError, StoreError
from poise.memory.artifacts import MemoryArtifactStore
from poise.ports.stores import ArtifactStore
from poise.testing.models import ScriptedModels
from poise.testing.turns import catalog_of, observation, policy, turn_of
from poise.turn.candidates import Candidate
from poise.turn.context import Plan
from poise.turn.queries import Query, QueryKind
from poise.values.catalog import CatalogSnapshot
from poise.values.ids import GroupId, IndexId
from poise.values.relationships import Relation, RelationKind
from poise.values.rules import Rule
from poise_discovery.discoverer import SignalDiscoverer
from poise_discovery.errors import EmbedderChangedError, IndexMissingError
from poise_discovery.settings import DiscoverySettings

SIGNALS = {
    "lost": ["I lost my card", "my card is gone", "card stolen", "cannot find card"],
    "pin": ["I forgot my pin", "the pin is wrong", "change my pin", "which pin do I use"],
    "rate": ["what is the euro rate", "rate for dollars", "exchange rate", "your rate please"],
    "fee": ["why this fee", "the fee is high", "refund the fee", "a fee was charged"],
}


class Noted:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    def report(self, phase: str, done: int, total: int) -> None:
        self.told.append((phase, done, total))


class Broken(ArtifactStore):
    async def load(self, key: str) -> bytes | None:
        raise StoreError(key)

    async def save(self, key: str, data: bytes) -> None:
        raise StoreError(key)


class Failing(ScriptedModels):
    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        raise ProviderError("scripted", "words", route, "is down")


def rules(**changed: list[str]) -> list[Rule]:
    return [policy(title, signals=said) for title, said in {**SIGNALS, **changed}.items()]


def made(models: ScriptedModels, artifacts: ArtifactStore, **settings: float) -> SignalDiscoverer:
    return SignalDiscoverer(models, artifacts, DiscoverySettings(**settings))


def said(text: str, offset: int = 0) -> list[Query]:
    return [Query(QueryKind.MESSAGE, text, offset)]


async def turn_on(discoverer: SignalDiscoverer, snapshot: CatalogSnapshot, **fields: object):
    index = await discoverer.prepare(snapshot, Noted())
    return turn_of(snapshot, "hello", index=index, **fields)  # type: ignore[arg-type]


@pytest.mark.anyio
async def test_a_warm_start_embeds_and_trains_nothing(models, artifacts, monkeypatch) -> None:
    first = await made(models, artifacts).prepare(catalog_of(rules()), Noted())
    fresh, progress = ScriptedModels(), Noted()
    monkeypatch.setattr("poise_discovery.discoverer.train", None)

    discoverer = made(fresh, artifacts)
    again = await discoverer.prepare(catalog_of(rules()), progress)

    assert again == first
    assert fresh.embedded == []
    assert progress.told == []
    turn = turn_of(catalog_of(rules()), "hello", index=again)
    assert any(each.is_hit for each in await discoverer.discover(turn, said("I lost my card")))


def test_neither_training_nor_scoring_imports_scikit_learn() -> None:
    code = (
        "import sys; import poise_discovery.discoverer, poise_discovery.training, "
        "poise_discovery.scoring; print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]


@pytest.mark.anyio
async def test_a_changed_rule_embeds_only_itself(models, artifacts) -> None:
    discoverer = made(models, artifacts)
    await discoverer.prepare(catalog_of(rules()), Noted())
    models.embedded.clear()

    await discoverer.prepare(
        catalog_of(rules(fee=["a charge I do not know", *SIGNALS["fee"]])), Noted()
    )

    texts = {text for batch in models.embedded for text in batch}
    assert texts == {"a charge I do not know", *SIGNALS["fee"]}


@pytest.mark.anyio
async def test_what_a_change_does_not_touch_keeps_its_head(models, artifacts, monkeypatch) -> None:
    from poise_discovery.corpus import Corpus

    fitted: list[int] = []
    fit = Corpus.fit

    def counting(self, rules, **more):
        fitted.append(len(rules))
        return fit(self, rules, **more)

    discoverer = made(models, artifacts)
    await discoverer.prepare(catalog_of(rules()), Noted())
    monkeypatch.setattr(Corpus, "fit", counting)
    changed = [*rules()[:-1], attrs.evolve(rules()[-1], anti_signals=("no fee here",))]

    # In a fresh process too: the agent's newest index is found by its name.
    await made(models, artifacts).prepare(catalog_of(changed), Noted())

    assert fitted[0] == 1


@pytest.mark.anyio
async def test_running_turns_keep_their_index_while_another_is_made(discoverer) -> None:
    turn = await turn_on(discoverer, catalog_of(rules()))

    await discoverer.prepare(catalog_of(rules(rate=["how many yen", "yen to pounds"])), Noted())
    seen = await discoverer.discover(turn, said("exchange rate"))

    assert turn.snapshot.rules[seen[0].rule].title == "rate"


@pytest.mark.anyio
async def test_progress_is_shown_while_it_indexes(discoverer) -> None:
    progress = Noted()

    await discoverer.prepare(catalog_of(rules()), progress)

    phases = list(dict.fromkeys(phase for phase, _, _ in progress.told))
    assert phases == ["embedding phrases", "telling rules apart", "choosing thresholds"]
    assert all(0 <= done <= total for _, done, total in progress.told)


@pytest.mark.anyio
async def test_it_trains_on_one_core_and_gives_the_others_back(discoverer, monkeypatch) -> None:
    from poise_discovery import training

    def threads() -> set[int]:
        return {
            each["num_threads"] for each in threadpool_info() if "numpy" in str(each["filepath"])
        }

    seen: list[set[int]] = []

    def noting(phrases, vectors, **more):
        seen.append(threads())
        return training.train(phrases, vectors, **more)

    monkeypatch.setattr("poise_discovery.discoverer.train", noting)
    before = threads()

    await discoverer.prepare(catalog_of(rules()), Noted())

    assert seen == [{1}]
    assert threads() == before


@pytest.mark.anyio
async def test_another_embedder_has_another_index_and_the_old_one_is_refused(artifacts) -> None:
    snapshot = catalog_of(rules())
    first = made(ScriptedModels(dimensions=256), artifacts)
    turn = await turn_on(first, snapshot)
    other = ScriptedModels(dimensions=128)

    assert await made(other, artifacts).prepare(snapshot, Noted()) != turn.index
    with pytest.raises(EmbedderChangedError, match="publish the catalog again"):
        await first.discover(attrs.evolve(turn, models=other), said("hi there"))


@pytest.mark.anyio
async def test_an_unknown_index_is_named(discoverer) -> None:
    turn = turn_of(catalog_of(rules()), "hello", index=IndexId("index_none"))

    with pytest.raises(IndexMissingError, match="index_none"):
        await discoverer.discover(turn, said("hello"))


@pytest.mark.anyio
async def test_a_store_that_fails_costs_time_and_nothing_else(models) -> None:
    discoverer = made(models, Broken())
    turn = await turn_on(discoverer, catalog_of(rules()))

    assert any(each.is_hit for each in await discoverer.discover(turn, said("I lost my card")))


@pytest.mark.anyio
async def test_a_damaged_index_is_made_anew(models, artifacts) -> None:
    snapshot = catalog_of(rules())
    index = await made(models, artifacts).prepare(snapshot, Noted())
    await artifacts.save(f"discovery/indexes/{index}", b"torn")

    assert await made(models, artifacts).prepare(snapshot, Noted()) == index


@pytest.mark.anyio
async def test_a_failing_embedder_is_raised_and_leaves_earlier_indexes(models, artifacts) -> None:
    discoverer = made(models, artifacts)
    turn = await turn_on(discoverer, catalog_of(rules()))
    broken = attrs.evolve(turn, models=Failing())

    with pytest.raises(ProviderError):
        await discoverer.discover(broken, said("I lost my card"))
    with pytest.raises(ProviderError):
        await made(Failing(), MemoryArtifactStore()).prepare(catalog_of(rules()), Noted())
    assert await discoverer.discover(turn, said("I lost my card"))


@pytest.mark.anyio
async def test_a_rule_for_other_customers_takes_no_ones_place(discoverer) -> None:
    private = policy("private", signals=SIGNALS["lost"], groups=[GroupId("group_vip")])
    snapshot = catalog_of([*rules(), private])
    turn = await turn_on(discoverer, snapshot, plan=Plan(admit_limit=1))

    seen = await discoverer.discover(turn, said("I lost my card"))
    admitted = {each.rule for each in seen if each.is_hit and not each.over_budget}

    assert {snapshot.rules[rule].title for rule in admitted} == {"lost", "private"}


@pytest.mark.anyio
async def test_later_texts_of_a_turn_share_its_limit(discoverer) -> None:
    snapshot = catalog_of(rules())
    turn = await turn_on(discoverer, snapshot, plan=Plan(admit_limit=1))
    first = await discoverer.discover(turn, said("I lost my card"))
    candidates = tuple(Candidate(snapshot.rules[each.rule], each) for each in first if each.is_hit)[
        :1
    ]

    later = await discoverer.discover(
        attrs.evolve(turn, candidates=candidates), said("I forgot my pin")
    )

    fresh = [each for each in later if each.is_hit and each.rule != candidates[0].rule.id]
    assert fresh
    assert all(each.over_budget for each in fresh)


@pytest.mark.anyio
async def test_a_topic_is_sighted_for_what_its_policies_are_asked(discoverer) -> None:
    topic = observation("about cards")
    own = rules()
    needs = [Relation(RelationKind.DEPENDENCY, own[at].id, topic.id) for at in (0, 1)]
    turn = await turn_on(discoverer, catalog_of([topic, *own], needs))

    seen = await discoverer.discover(turn, said("I forgot my pin"))

    assert next(each for each in seen if each.rule == topic.id).is_hit


@pytest.mark.anyio
async def test_cutting_the_target_admits_less(models, artifacts) -> None:
    snapshot = catalog_of(rules())
    query = said("the rate of my card and the fee")

    async def admitted(recall: float) -> int:
        discoverer = made(models, artifacts, recall=recall)
        turn = await turn_on(discoverer, snapshot)
        return sum(each.is_hit for each in await discoverer.discover(turn, query))

    assert await admitted(0.6) <= await admitted(0.99)


@pytest.mark.anyio
async def test_a_rule_that_is_not_indexed_is_not_explained(discoverer) -> None:
    quiet = policy("by code", matcher="some.function")

    assert await discoverer.explain(quiet.id, catalog_of([*rules(), quiet]), said("hi")) is None


@pytest.mark.anyio
async def test_many_texts_are_scored_as_each_rule_explains_them(models, artifacts) -> None:
    discoverer, snapshot = made(models, artifacts), catalog_of(rules())
    texts = ["my card is gone", "zebra quartz", "", "change my pin and what is the euro rate"]

    scored = await discoverer.score(texts, snapshot)

    assert len(scored) == len(texts)
    for text, hits in zip(texts, scored, strict=True):
        told = [await discoverer.explain(rule, snapshot, said(text)) for rule in snapshot.rules]
        hit = {each.rule: each for each in told if each is not None and each.is_hit}
        assert [each.rule for each in hits] == sorted(
            hit, key=lambda rule: (-hit[rule].margin, rule)
        )
        for each in hits:
            assert each.margin == pytest.approx(hit[each.rule].margin, abs=1e-4)
            assert each.probability == pytest.approx(hit[each.rule].probability, abs=1e-4)
            assert (each.signal, each.query) == (hit[each.rule].signal, hit[each.rule].query)
    assert scored[2] == ()


@pytest.mark.anyio
async def test_a_rules_own_signals_mostly_hit_it_and_ask_no_embedder(models, artifacts) -> None:
    discoverer, snapshot = made(models, artifacts), catalog_of(rules())
    await discoverer.prepare(snapshot, Noted())
    models.embedded.clear()
    own = [(rule.id, text) for rule in snapshot.rules.values() for text in rule.signals]

    scored = await discoverer.score([text for _rule, text in own], snapshot)

    found = [
        rule in {each.rule for each in hits} for (rule, _), hits in zip(own, scored, strict=True)
    ]
    assert sum(found) / len(found) >= 0.9
    assert models.embedded == []


@pytest.mark.anyio
async def test_texts_to_check_are_embedded_in_batches_and_once_each(models, artifacts) -> None:
    discoverer, snapshot = made(models, artifacts), catalog_of(rules())
    await discoverer.prepare(snapshot, Noted())
    models.embedded.clear()

    scored = await discoverer.score([f"text {at % 200}" for at in range(250)], snapshot)

    texts = [text for batch in models.embedded for text in batch]
    assert len(scored) == 250
    assert sorted(texts) == sorted({f"text {at}" for at in range(200)})
    assert max(map(len, models.embedded)) <= 64


@pytest.mark.anyio
async def test_nothing_is_scored_against_nothing(models, artifacts) -> None:
    discoverer = made(models, artifacts)

    assert await discoverer.score([], catalog_of(rules())) == []
    assert await discoverer.score(["hello"], catalog_of()) == [()]


@pytest.mark.anyio
async def test_what_the_agent_is_about_to_discuss_comes_up_by_the_customers_question(
    models, artifacts
) -> None:
    """B-004: active before the first draft where the customer asks, and not for opening hours."""
    privacy = policy("privacy", when="the agent is about to discuss test results", then="no names")
    hours = policy("hours", signals=["opening hours", "when do you open", "are you open today"])
    snapshot = catalog_of([privacy, hours])

    asked, other = await made(models, artifacts).score(
        ["what about my test results", "opening hours?"], snapshot
    )

    assert privacy.id in {each.rule for each in asked}
    assert [each.rule for each in other] == [hours.id]
