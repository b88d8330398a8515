"""The command `poise`: finds its subcommands without importing them, and ends with a clear code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import click

from poise.errors import ConfigError, ContractError, InvalidValueError, PluginLoadError, PoiseError

GROUP = "poise.commands"
"""The entry-point group of commands; the name of an entry point is the command's."""

EXIT_OK = 0
EXIT_CHECK_FAILED = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130

_OWN = {
    "chat": "Talk to an agent on the terminal.",
    "config": "Show the settings and where they come from.",
    "lint": "Say what is doubtful about a program's agents.",
    "models": "Say which model serves each use, and whether it answers.",
    "plugins": "List, check or begin plugins.",
    "sessions": "List conversations, or print one.",
    "why": "Say what became of each rule on a turn, and because of what.",
}
"""What the listing says of our own commands: reading it from them would mean importing them."""


class CommandGroup(click.Group):
    """Commands from entry points: listed by name, imported when called."""

    def __init__(self, *args: Any, points: Iterable[EntryPoint] | None = None, **more: Any) -> None:
        # passed on to click as they are
        super().__init__(*args, **more)
        self._points = points

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *self._found()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now, or `None` if there is none of that name."""
        points = self._found().get(cmd_name)
        if points is None:
            return super().get_command(ctx, cmd_name)
        if len(points) > 1:
            owners = " and ".join(_owner(point) for point in points)
            raise ConfigError(f"the command {cmd_name!r} comes from both {owners}; uninstall one")
        return _loaded(points[0])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command to run; an unknown name suggests a known one."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            near = get_close_matches(args[0], known, n=1)
            mend = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
            ctx.fail(f"no command {args[0]!r}; {mend}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the listing of `--help` without importing a command."""
        found = self._found()
        rows = [(name, self._short(name, found.get(name, ()))) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,  # passed on to click
    ) -> Any:  # what the command returned, outside of standalone mode
        """Run, and end the process with the code that says how it went."""
        run: Callable[[], Any] = partial(
            super().main,
            args,
            prog_name or self.name,
            complete_var,
            standalone_mode=False,
            **extra,
        )
        if not standalone_mode:
            return run()
        try:
            result = run()
        except Exception as exc:
            _end(exc)
        # Without its own handling click hands back the code of an early exit such as `--help`.
        sys.exit(result if isinstance(result, int) else EXIT_OK)

    def _found(self) -> Mapping[str, tuple[EntryPoint, ...]]:
        points = entry_points(group=GROUP) if self._points is None else self._points
        found: dict[str, tuple[EntryPoint, ...]] = {}
        for point in points:
            found[point.name] = (*found.get(point.name, ()), point)
        return found

    def _short(self, name: str, points: tuple[EntryPoint, ...]) -> str:
        if any(_owner(point) == "poise" for point in points) or not points:
            return _OWN.get(name, "")
        return f"from {_owner(points[0])}"


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown distribution"


def _loaded(point: EntryPoint) -> click.Command:
    try:
        command = point.load()
    except Exception as exc:
        raise PluginLoadError(
            _owner(point), f"its command {point.name!r}: {type(exc).__name__}: {exc}"
        ) from exc
    if not isinstance(command, click.Command):
        raise PluginLoadError(_owner(point), f"its command {point.name!r} is no click command")
    return command


def _end(exc: BaseException) -> NoReturn:
    """Say what went wrong, in one line where it was foreseen, and exit."""
    while isinstance(exc, BaseExceptionGroup) and len(exc.exceptions) == 1:
        exc = exc.exceptions[0]
    if isinstance(exc, click.exceptions.Abort):
        click.echo("", err=True)
        sys.exit(EXIT_INTERRUPTED)
    if isinstance(exc, click.ClickException):
        exc.show()
        sys.exit(exc.exit_code)
    if isinstance(exc, PoiseError | OSError):
        click.echo(f"poise: {exc}", err=True)
        sys.exit(exit_code(exc))
    click.echo("".join(traceback.format_exception(exc)), err=True, nl=False)
    click.echo("poise: this is a fault of Poise or of a plugin; please report it", err=True)
    sys.exit(EXIT_INTERNAL)


def exit_code(exc: Exception) -> int:
    """Return the code to exit with for an error that was foreseen."""
    if isinstance(exc, PluginLoadError):
        return EXIT_ENVIRONMENT
    if isinstance(exc, ConfigError | ContractError | InvalidValueError | LookupError):
        return EXIT_USAGE
    return EXIT_ENVIRONMENT


@click.group("poise", cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="poise", prog_name="poise")
def main() -> None:
    """Customer-facing conversational agents, governed by rules."""
    from poise.cli.memory import give_back_what_is_freed

    give_back_what_is_freed()
