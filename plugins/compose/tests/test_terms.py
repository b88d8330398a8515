"""Which terms a conversation mentions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.testing.scripted_composition import ScriptedTermFinder
from poise.testing.turns import AGENT, catalog_of, turn_of
from poise.values.events import Source
from poise.values.ids import TermId, stable_id
from poise.values.terms import Term
from poise_compose import ComposeSettings, LexicalTermFinder
from poise_compose.words import words_of

pytestmark = pytest.mark.anyio


def term(name: str, *synonyms: str) -> Term:
    return Term(
        TermId(stable_id("term", AGENT.id, name)), AGENT.id, name, f"what {name} is", synonyms
    )


async def names(terms, *said, **settings):
    finder = LexicalTermFinder(ComposeSettings(**settings))
    return [each.name for each in await finder.find(turn_of(catalog_of(terms=terms), *said))]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Überweisung", "eine uberweisung bitte"),
        ("resume", "my résumé"),
        ("standing order", "STANDING   ORDER?"),
        ("top-up", "a top up"),
        ("C++", "i write c++ code"),
        ("C#", "c#"),
        ("3-D Secure", "the 3D secure page, 3 d secure"),
        ("口座", "私の口座を見せて"),
        ("카드", "카드를 잃어버렸어요"),
        ("кредит", "Кредит!"),
        ("खाता", "मेरा खाता कहाँ है"),
        ("بطاقة", "أين بطاقة الائتمان"),
        ("fee", "what's the fee's size"),
    ],
)
async def test_mentions_are_found(name, said):
    assert await names([term(name)], said) == [name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("art", "start the party"),
        ("C++", "plan c"),
        ("order", "orders ordered"),
        ("credit card", "credit for the card"),
        ("!!!", "wow!!!"),
    ],
)
async def test_parts_of_words_and_scattered_words_are_not_mentions(name, said):
    assert await names([term(name)], said) == []


async def test_both_sides_and_the_whole_window_are_read_in_name_order():
    terms = [term("vault"), term("Loan"), term("card", "plastic"), term("unused")]

    found = await names(terms, "my plastic", (Source.AI_AGENT, "the vault?"), "a loan")

    assert found == ["card", "Loan", "vault"]


async def test_the_newest_words_are_read_when_the_text_is_bounded():
    terms = [term("vault"), term("loan"), term("card")]

    found = await names(terms, "a card", "vault " + "x " * 500_000 + " loan", term_characters=200)

    assert found == ["loan", "vault"]


async def test_a_thousand_terms_are_found_fast():
    terms = [term(f"product {n} name", f"p{n}", f"the {n} thing") for n in range(1000)]
    finder = LexicalTermFinder(ComposeSettings())
    turn = turn_of(catalog_of(terms=terms), *["tell me about product 7 name or p9 " * 5] * 20)
    await finder.find(turn)

    elapsed = []
    for _ in range(5):
        started = time.perf_counter()
        found = await finder.find(turn)
        elapsed.append(time.perf_counter() - started)

    assert [each.name for each in found] == ["product 7 name", "product 9 name"]
    assert min(elapsed) < 0.02


async def test_a_changed_catalog_is_compiled_anew():
    finder = LexicalTermFinder(ComposeSettings())
    for name in ("vault", "loan"):
        found = await finder.find(turn_of(catalog_of(terms=[term(name)]), "a vault and a loan"))
        assert [each.name for each in found] == [name]


vocabulary = st.sampled_from(["card", "credit card", "loan", "big loan", "é", "zoë fee", "vault"])
SAID = ("card", "credit", "loan", "big", "e", "zoe", "fee", "vault", "cards", ",", "É")
sentences = st.lists(st.sampled_from(SAID), max_size=12).map(" ".join)


@settings(deadline=None)
@given(st.sets(vocabulary), st.lists(sentences, max_size=3))
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_agrees_with_looking_for_each_term_in_turn(names, said):
    turn = turn_of(catalog_of(terms=[term(name) for name in names]), *said)

    fast = await LexicalTermFinder(ComposeSettings()).find(turn)
    naive = await ScriptedTermFinder().find(turn)

    commas = any("," in text for text in said)  # the naive finder takes them for a boundary
    assert set(naive) <= set(fast) if commas else set(naive) == set(fast)


@given(st.text())
def test_folding_twice_changes_nothing(text):
    once = words_of(text)

    assert words_of(" ".join(once)) == once
