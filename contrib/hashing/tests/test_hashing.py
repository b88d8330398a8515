import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise_hashing
from poise import Embedder, Offers
from poise_hashing import HashingEmbedder, hashed_trigrams


def test_is_offered_as_an_embedder_called_hashing() -> None:
    offers = Offers("hashing")

    poise_hashing.poise_provide(offers)

    (offer,) = offers.of(Embedder)
    assert (offer.name, offer.plugin, offer.is_default) == ("hashing", "hashing", False)


def test_a_route_can_be_served_by_the_offer() -> None:
    offers = Offers("hashing")
    poise_hashing.poise_provide(offers)

    made = offers.make(Embedder, "hashing", _Nothing())

    assert isinstance(made, HashingEmbedder)


def test_importing_the_plugin_loads_neither_numpy_nor_scikit_learn() -> None:
    program = "import sys, poise_hashing; print(sorted({'numpy', 'sklearn'} & set(sys.modules)))"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"


@pytest.mark.anyio
async def test_a_misspelt_text_is_nearer_than_another_subject() -> None:
    rows = await HashingEmbedder().embed(
        ["my card was stolen", "my crad was stollen", "opening hours"]
    )

    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3


@given(st.lists(st.text(max_size=80), max_size=6))
@settings(max_examples=40, deadline=None)
def test_every_text_has_a_unit_row_that_depends_on_it_alone(texts: list[str]) -> None:
    rows = hashed_trigrams(texts, 1024)

    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    for row, text in zip(rows, texts, strict=True):
        assert np.array_equal(hashed_trigrams([text], 1024)[0], row)


class _Nothing:
    def supply(self, kind: type) -> object:
        raise LookupError(kind)
