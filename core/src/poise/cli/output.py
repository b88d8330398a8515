"""What a command prints for programs: JSON on stdout, and nothing else there."""

from __future__ import annotations

import json
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def write_json(value: Any) -> None:  # any JSON
    """Print `value` on one line; what is no JSON is printed as text."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))
