"""Anthropic's models over its Messages API, and those of servers that speak it."""

from __future__ import annotations

__all__ = ["plugin"]
