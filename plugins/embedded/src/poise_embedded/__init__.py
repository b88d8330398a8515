"""The offline provider: an embedder and a decision model that need no key and no network."""

from __future__ import annotations

__all__ = ["plugin"]
