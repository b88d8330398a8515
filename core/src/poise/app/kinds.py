"""What settings are made of: times, counts, and lists of names as each source writes them."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import BeforeValidator, Field

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]


def _names(value: object) -> object:
    """Accept `a, b` and a JSON list for a list of names, as environment variables write it."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [name.strip() for name in value.split(",") if name.strip()]


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
