"""Imports every module of core in an environment that has core alone, and says what fails."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback

import poise

OPTIONAL = "poise.testing"
"""The test kit needs the extra `testing`."""


def main() -> int:
    """Return 0 when every module of core imports."""
    failed = 0
    names = [module.name for module in pkgutil.walk_packages(poise.__path__, "poise.")]
    for name in names:
        if name.startswith(OPTIONAL):
            continue
        try:
            importlib.import_module(name)
        except Exception:
            failed += 1
            traceback.print_exc()
    foreign = sorted(name for name in sys.modules if name.startswith("poise_"))
    if foreign:
        print(f"core imports plugins: {', '.join(foreign)}", file=sys.stderr)
    print(f"imported {len(names)} modules of core, {failed} failed")
    return 1 if failed or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
