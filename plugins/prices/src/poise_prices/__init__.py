"""What models cost, for Poise: prices from the data that the library genai-prices carries."""

from __future__ import annotations

__all__ = ["plugin"]
