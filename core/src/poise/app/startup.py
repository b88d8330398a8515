"""The first steps of every application: which plugins there are, then what the settings say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from poise.app.config import Config, load_config, load_plugin_settings
from poise.app.plugins import PluginManager


def start(
    plugins: Sequence[object] = (),
    *,
    installed: Iterable[EntryPoint] | None = None,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
    strict: bool = True,
) -> tuple[Config, PluginManager]:
    """Return the settings and the loaded plugins of one application.

    The section `[plugins]` is read first, since it says which plugins are loaded at all; then the
    plugins, since they declare the other sections; then everything.

    Args:
        plugins: Modules or objects given inline.
        installed: Entry points to load; default: all installed ones.
        file: The settings file; default: `POISE_CONFIG`, else `poise.toml` if there is one.
        environ: The environment; default: the process's.
        overrides: Settings that the program gives as arguments.
        strict: Raise for a plugin that fails, rather than going on without it.

    Raises:
        ConfigError: Settings or plugins are wrong.
        ContractError: A plugin breaks a promise of its hooks.
    """
    chosen = load_plugin_settings(file=file, environ=environ, overrides=overrides)
    manager = PluginManager(
        plugins,
        installed=installed,
        blocked=chosen.blocked,
        order=chosen.order,
        strict=strict,
    )
    config = load_config(
        manager.sections,
        file=file,
        environ=environ,
        overrides=overrides,
        unread=manager.unread_sections,
    )
    return config, manager
