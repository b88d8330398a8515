"""What one plugin implements: its hookimpls, each held against the specification it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

import pluggy

from poise.errors import HookError
from poise.hooks import specs
from poise.hooks.caller import Implementation
from poise.hooks.markers import PROJECT

SPECIFIED: Mapping[str, Callable[..., Any]] = {
    name: function
    for name, function in vars(specs).items()
    if inspect.isfunction(function) and hasattr(function, f"{PROJECT}_spec")
}
"""The core's hooks by name, in the order a turn meets them."""

_ORDERING = ("tryfirst", "trylast", "wrapper", "hookwrapper")
"""Options of pluggy that would have no effect, since `hooks.caller` calls turn hooks itself."""


def implementations_of(
    plugin: str, registered: object, registry: pluggy.PluginManager
) -> Mapping[str, Implementation]:
    """Return a plugin's implementations, in the order a turn meets their hooks.

    Optional hooks that nobody specifies are left out.

    Args:
        plugin: The plugin's name, for errors.
        registered: The module or object.
        registry: Reads the marks that `hookimpl` leaves.

    Raises:
        HookError: An implementation is misspelt, names an argument that its hook lacks, is async
            where the hook is not (or the reverse), or asks pluggy for an order of its own.
    """
    found: dict[str, Implementation] = {}
    for name in dir(registered):
        options = registry.parse_hookimpl_opts(registered, name)
        if options is None:
            continue
        hook = options.get("specname") or name
        specified = SPECIFIED.get(hook)
        if specified is None:
            if options.get("optionalhook"):
                continue
            raise HookError(hook, plugin, f"there is no such hook{_nearest(hook)}")
        function = getattr(registered, name)
        arguments = _arguments(function)
        _check(hook, plugin, specified=specified, function=function, arguments=arguments)
        refused = [option for option in _ORDERING if options.get(option)]
        if refused:
            raise HookError(
                hook,
                plugin,
                f"{refused[0]}=True has no effect here: the setting plugins.order says who "
                f"comes first",
            )
        found[hook] = Implementation(plugin, function, arguments)
    return {hook: found[hook] for hook in SPECIFIED if hook in found}


def _nearest(hook: str) -> str:
    near = get_close_matches(hook, SPECIFIED, n=1)
    return f"; did you mean {near[0]}?" if near else "; see docs/reference/hooks.md for all"


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    # An object's methods arrive bound, so `self` is never among them.
    return tuple(inspect.signature(function).parameters)


def _check(
    hook: str,
    plugin: str,
    *,
    specified: Callable[..., Any],
    function: Callable[..., Any],
    arguments: tuple[str, ...],
) -> None:
    allowed = _arguments(specified)
    unknown = [argument for argument in arguments if argument not in allowed]
    if unknown:
        raise HookError(
            hook,
            plugin,
            f"names the argument {unknown[0]!r}, which the hook lacks; it has {', '.join(allowed)}",
        )
    awaited = inspect.iscoroutinefunction(specified)
    if awaited and not inspect.iscoroutinefunction(function):
        kind = "a turn hook" if hook.startswith("on_") else "awaited"
        raise HookError(hook, plugin, f"is {kind}: write `async def`")
    if not awaited and inspect.iscoroutinefunction(function):
        raise HookError(hook, plugin, "is a start-up hook: write `def`, without `async`")
