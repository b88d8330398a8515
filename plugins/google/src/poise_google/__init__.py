"""Google's models for Poise: the providers `google` (Gemini API) and `vertex` (Vertex AI)."""

from __future__ import annotations

__all__ = ["plugin"]
