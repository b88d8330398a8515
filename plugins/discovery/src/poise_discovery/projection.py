"""The space in which rules are told apart: centred, turned to its main directions, unit rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDEST = 384
NARROWEST = 128
_NUMBERS = 1_500_000
"""Numbers in the matrix of all heads: more would not stay in cache, and scoring would wait for
memory. The directions left out of 512 cost next to nothing down to some 150 of them."""


@attrs.frozen(eq=False)
class Projection:
    """From an embedder's rows to the rows that heads score.

    Attributes:
        mean: What is subtracted first.
        basis: Embedder's dimensions × ours; `None` keeps them as they are.
    """

    mean: Floats
    basis: Floats | None

    def apply(self, vectors: Floats) -> Floats:
        """Return unit rows; a row that has nothing left is zero."""
        rows: Floats = np.asarray(vectors, dtype=np.float32) - self.mean
        if self.basis is not None:
            rows = rows @ self.basis
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        rows /= np.maximum(norms, 1e-6)[:, None]
        return rows


def fit_projection(pool: Floats, rules: int) -> Projection:
    """Return the projection for a catalog, from the vectors of its pool.

    A small pool does not span what customers may say, so its catalog keeps every direction; that
    many rules can afford it.
    """
    dimensions = pool.shape[1] if pool.ndim == 2 else 0
    mean = pool.mean(axis=0, dtype=np.float64).astype(np.float32)
    kept = max(NARROWEST, min(WIDEST, _NUMBERS // max(rules, 1) // 8 * 8))
    if kept >= dimensions or len(pool) < 2 * kept:
        return Projection(mean, None)
    centred = (pool - mean).astype(np.float64)
    _, directions = np.linalg.eigh(centred.T @ centred)
    basis = directions[:, ::-1][:, :kept]
    # A direction and its opposite are equally good; one sign, so that equal pools give equal bytes.
    strongest = basis[np.abs(basis).argmax(axis=0), np.arange(kept)]
    return Projection(mean, np.ascontiguousarray(basis * np.sign(strongest), dtype=np.float32))
