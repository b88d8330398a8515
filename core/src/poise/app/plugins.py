"""The plugins of one application: found, checked, registered, and asked what they bring.

Loading happens once, when the application starts. Turn hooks are only collected here;
`hooks.caller` calls them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import attrs
import pluggy

from poise.app.implementations import implementations_of
from poise.errors import ConfigError, DuplicateOfferError, HookError, PluginLoadError, PoiseError
from poise.hooks import specs
from poise.hooks.caller import Implementation
from poise.hooks.cards import Cards
from poise.hooks.markers import PROJECT
from poise.hooks.offers import Offers, Sections

INLINE = "given inline"
"""Where a plugin comes from that no distribution brought."""


@attrs.frozen(eq=False)
class Plugin:
    """A loaded plugin.

    Attributes:
        name: The entry point's, or that of the module or class given inline.
        distribution: Which installed distribution brought it; `None` for an inline one.
        version: That distribution's.
        implementations: By hook.
    """

    name: str
    distribution: str | None
    version: str | None
    implementations: Mapping[str, Implementation] = attrs.field(factory=dict)

    def implementation(self, hook: str) -> Implementation | None:
        """Return what the plugin has for `hook`, with the arguments it names, or `None`."""
        return self.implementations.get(hook)


@attrs.frozen
class PluginReport:
    """One line of `poise plugins`.

    Attributes:
        name: The plugin's name.
        distribution: With its version; how it came in, for an inline one.
        version: The distribution's version.
        status: `loaded`, `blocked` or `failed`.
        reason: Why it is not loaded.
        offers: `Port name`, with `(default)` where it is taken unasked.
        sections: The settings sections it declares.
        hooks: The hooks it implements, in the order a turn meets them.
    """

    name: str
    distribution: str | None
    version: str | None
    status: str
    reason: str = ""
    offers: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


@attrs.frozen(eq=False)
class _Found:
    """A plugin that is to be loaded: an entry point, or something given inline."""

    name: str
    distribution: str | None = None
    version: str | None = None
    entry_point: EntryPoint | None = None
    given: object = None


class PluginManager:
    """The plugins of one application, with all that they offer.

    Args:
        plugins: Modules or objects given inline, beside the installed ones.
        installed: Entry points to load; default: every installed one of the group `poise`.
        blocked: Names that are not even imported.
        order: Names whose turn hooks run first, in this order; the others follow by name.
        strict: Raise for the first plugin that fails. Otherwise it is listed by `describe` and
            left out, for commands that must work when a plugin does not.

    Raises:
        PluginLoadError: A plugin can't be imported or raised in a start-up hook.
        HookError: A plugin implements a hook wrongly.
        DuplicateOfferError: Two plugins have one name, or offer one name.
        ConfigError: `order` names a plugin that is not there.
    """

    def __init__(
        self,
        plugins: Sequence[object] = (),
        *,
        installed: Iterable[EntryPoint] | None = None,
        blocked: Sequence[str] = (),
        order: Sequence[str] = (),
        strict: bool = True,
    ) -> None:
        self.offers = Offers()
        self.sections = Sections()
        self.cards = Cards()
        self._strict = strict
        self._order = tuple(order)
        self._blocked = frozenset(blocked)
        self._failed: list[PluginReport] = []
        self._plugins: dict[str, Plugin] = {}
        self._registry = pluggy.PluginManager(PROJECT)
        self._registry.add_hookspecs(specs)
        points = entry_points(group=PROJECT) if installed is None else installed
        found = self._find(points, plugins)
        self._held_back = {name: each for name, each in found.items() if name in self._blocked}
        for name in sorted(found.keys() - self._blocked):
            self._load(found[name])
        self._check_order(found)

    @property
    def unread_sections(self) -> frozenset[str]:
        """Names of plugins that are blocked or failed, whose settings nobody declares or reads."""
        return self._blocked | {report.name for report in self._failed}

    def ordered(self) -> tuple[Plugin, ...]:
        """Return the loaded plugins in the order in which their turn hooks run."""
        place = {name: index for index, name in enumerate(self._order)}
        return tuple(
            sorted(
                self._plugins.values(),
                key=lambda plugin: (place.get(plugin.name, len(place)), plugin.name),
            )
        )

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """Return the implementations of a turn hook, in the order in which they run."""
        found = (plugin.implementation(hook) for plugin in self.ordered())
        return tuple(each for each in found if each is not None)

    def describe(self) -> tuple[PluginReport, ...]:
        """Return one report per plugin, loaded or not, by name."""
        loaded = [self._report(plugin) for plugin in self._plugins.values()]
        blocked = [self._blocked_report(name, self._held_back.get(name)) for name in self._blocked]
        return tuple(sorted((*loaded, *blocked, *self._failed), key=lambda each: each.name))

    # -- finding --

    def _find(self, points: Iterable[EntryPoint], inline: Sequence[object]) -> dict[str, _Found]:
        found: dict[str, _Found] = {}
        for point in points:
            brought = point.dist
            each = _Found(
                point.name,
                brought.name if brought else None,
                brought.version if brought else None,
                entry_point=point,
            )
            known = found.get(point.name)
            if known is not None and point.name not in self._blocked:
                raise DuplicateOfferError("plugin", point.name, _origin(known), _origin(each))
            found[point.name] = each
        installed_modules = {each.entry_point.value for each in found.values() if each.entry_point}
        for given in inline:
            called = _name_of(given)
            if called in installed_modules or any(each.given is given for each in found.values()):
                continue  # the same plugin, given again
            count = sum(1 for name in found if name == called or name.startswith(f"{called}#"))
            name = f"{called}#{count + 1}" if count else called
            found[name] = _Found(name, given=given)
        return found

    def _check_order(self, found: Mapping[str, _Found]) -> None:
        unknown = [name for name in self._order if name not in found]
        if unknown and self._strict:
            raise ConfigError(
                f"plugins.order names {unknown[0]!r}, which is no plugin here; "
                f"there are: {', '.join(sorted(found)) or 'none'}"
            )

    # -- loading --

    def _load(self, found: _Found) -> None:
        try:
            registered = _imported(found)
            plugin = Plugin(
                found.name,
                found.distribution,
                found.version,
                implementations_of(found.name, registered, self._registry),
            )
            self._register(found.name, registered)
            self._ask(plugin)
        except PoiseError as exc:
            if self._strict:
                raise
            reason = exc.reason if isinstance(exc, PluginLoadError | HookError) else str(exc)
            if isinstance(exc, HookError):
                reason = f"{exc.hook}: {reason}"
            self._failed.append(
                PluginReport(found.name, found.distribution, found.version, "failed", reason)
            )
        else:
            self._plugins[found.name] = plugin

    def _register(self, name: str, registered: object) -> None:
        try:
            self._registry.register(registered, name)
            self._registry.check_pending()
        except (pluggy.PluginValidationError, ValueError) as exc:
            raise PluginLoadError(name, " ".join(str(exc).split())) from exc

    def _ask(self, plugin: Plugin) -> None:
        self._start(plugin, "poise_config", "sections", self.sections.of_plugin(plugin.name))
        self._start(plugin, "poise_provide", "offers", self.offers.of_plugin(plugin.name))
        self._start(plugin, "poise_models", "cards", self.cards.of_plugin(plugin.name))

    def _start(self, plugin: Plugin, hook: str, argument: str, value: Any) -> None:
        # `value` is the plugin's own view of what is collected
        implementation = plugin.implementation(hook)
        if implementation is None:
            return
        try:
            implementation.function(
                **{name: value for name in implementation.arguments if name == argument}
            )
        except PoiseError:
            raise
        except Exception as exc:
            raise PluginLoadError(plugin.name, f"{hook} raised {exc!r}") from exc

    # -- reporting --

    def _report(self, plugin: Plugin) -> PluginReport:
        return PluginReport(
            plugin.name,
            plugin.distribution,
            plugin.version,
            "loaded",
            offers=tuple(
                f"{offer.port.__name__} {offer.name}" + (" (default)" if offer.is_default else "")
                for offer in self.offers.all()
                if offer.plugin == plugin.name
            ),
            sections=tuple(
                section.name for section in self.sections.all() if section.plugin == plugin.name
            ),
            hooks=tuple(plugin.implementations),
        )

    def _blocked_report(self, name: str, found: _Found | None) -> PluginReport:
        return PluginReport(
            name,
            found.distribution if found else None,
            found.version if found else None,
            "blocked",
            "by plugins.blocked" if found else "by plugins.blocked, and not installed",
        )


def _origin(found: _Found) -> str:
    return found.distribution or INLINE


def _name_of(given: object) -> str:
    return str(getattr(given, "__name__", type(given).__name__))


def _imported(found: _Found) -> object:
    if found.entry_point is None:
        return found.given
    try:
        return found.entry_point.load()
    except ModuleNotFoundError as exc:
        mend = (
            f"; it needs {exc.name!r}, which is not installed: "
            f"pip install --force-reinstall {found.distribution}"
            if found.distribution and exc.name and exc.name != found.entry_point.module
            else ""
        )
        raise PluginLoadError(found.name, f"{exc}{mend}") from exc
    except Exception as exc:
        raise PluginLoadError(found.name, f"{type(exc).__name__}: {exc}") from exc
