"""Runs an author's program under a host: from a file or a module, in any of its three forms.

The forms are `async def main()`, which opens an application itself; `async def build(app)`, which
declares agents on one; and `async def install(agent)`, which declares what one agent needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import click

from poise.errors import InvalidValueError, PoiseError
from poise.ports.discovery import Progress
from poise.sdk.hosting import Host, HostedApplication, ProgramOver, hosted

FORMS = ("main", "build", "install")
"""The functions that make a program, in the order in which they are looked for."""


class ProgramError(click.ClickException):
    """A program can't be found, or failed; printed with the part of the traceback that is its own.

    Args:
        message: What went wrong and where, in one line.
        report: The lines of the author's code that led there.
    """

    exit_code = 2

    def __init__(self, message: str, report: str = "") -> None:
        super().__init__(message)
        self.report = report

    def show(self, file: Any = None) -> None:  # where click writes to
        """Print the report and the line."""
        if self.report:
            click.echo(self.report, file=file, err=file is None, nl=False)
        click.echo(f"poise: {self.message}", file=file, err=file is None)


class DeclarationError(ProgramError):
    """A program declares something that can't be.

    Args:
        mistake: What, as the SDK says it.
        place: Where in the author's code, as `file:line`; the program itself where that is unknown.
    """

    def __init__(self, mistake: InvalidValueError, place: str) -> None:
        super().__init__(f"{place}: {mistake}")
        self.mistake = mistake
        self.place = place


def run_program(
    source: str,
    serve: Callable[[HostedApplication], Awaitable[None]],
    progress: Progress,
    *,
    with_sessions: bool = True,
) -> None:
    """Run a program and serve its application; returns when that is done.

    Args:
        source: A Python file, or a dotted module.
        serve: What to do with the application.
        progress: Hears of the indexing.
        with_sessions: Let the program hold its own conversations first. Otherwise it is served, and
            ended, where it would open the first one.

    Raises:
        DeclarationError: It declares something that can't be.
        ProgramError: There is no such program, it has no entry function, it failed, or it ended
            without an application.
        PoiseError: Whatever `serve` raises.
    """
    served: list[Exception | None] = []

    async def serve_once(application: HostedApplication) -> None:
        if served:
            return  # a program may open several applications; the first one is served
        try:
            await serve(application)
        except Exception as exc:
            # Raised below: on its way through the program it would look like the author's.
            served.append(exc)
        else:
            served.append(None)

    with hosted(Host(serve_once, progress, with_sessions=with_sessions)):
        try:
            try:
                module = _imported(source)
                if not served:  # a program may well run itself when it is imported
                    _run(_entry(module, source), agent_name=_agent_name(source))
            except* ProgramOver:
                pass  # it was served where it would have opened a session
        except click.ClickException:
            raise
        except Exception as exc:
            failure = _failed(source, exc)
            raise failure from (None if isinstance(failure, PoiseError) else exc)
    if not served:
        raise ProgramError(f"{source}: the program ended without opening an application")
    if served[0] is not None:
        raise served[0]


def _run(entry: Callable[..., Any], *, agent_name: str) -> None:
    name = entry.__name__
    if name == "main":
        if inspect.iscoroutinefunction(entry):
            anyio.run(entry)
        else:
            entry()
        return

    async def within_an_application() -> None:
        from poise.sdk.application import Application

        async with Application() as application:
            if name == "build":
                await entry(application)
            else:
                await entry(await application.create_agent(name=agent_name))

    anyio.run(within_an_application)


# -- finding --


def _imported(source: str) -> ModuleType:
    path = Path(source)
    if source.endswith(".py") or os.sep in source or path.exists():
        return _imported_file(path)
    _search_first(Path.cwd())
    try:
        return importlib.import_module(source)
    except ModuleNotFoundError as exc:
        missing = exc.name or ""
        if source == missing or source.startswith(f"{missing}."):
            raise ProgramError(f"there is no file and no module {source!r}") from exc
        raise


def _imported_file(path: Path) -> ModuleType:
    if not path.exists():
        raise ProgramError(f"there is no file {path}")
    if path.is_dir():
        raise ProgramError(f"{path} is a folder; give a Python file within it, or a module")
    _search_first(path.resolve().parent)
    name = path.stem if path.stem not in sys.modules else f"poise_program_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise ProgramError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that what the program declares can name its module
    spec.loader.exec_module(module)
    return module


def _search_first(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _entry(module: ModuleType, source: str) -> Callable[..., Any]:
    for name in FORMS:
        found = getattr(module, name, None)
        if not callable(found):
            continue
        if name != "main" and not inspect.iscoroutinefunction(found):
            raise ProgramError(f"{source}: write `async def {name}`")
        return _called(found, name)
    raise ProgramError(
        f"{source} has no entry function; "
        f"write `async def main()`, `async def build(app)` or `async def install(agent)`"
    )


def _called(found: Any, name: str) -> Callable[..., Any]:  # a function, or what acts like one
    if getattr(found, "__name__", "") == name:
        return found  # type: ignore[no-any-return]  # checked by the caller

    async def named(*arguments: Any) -> Any:  # whatever the program wants
        answer = found(*arguments)
        return await answer if inspect.isawaitable(answer) else answer

    named.__name__ = name
    return named


def _agent_name(source: str) -> str:
    stem = Path(source).stem if source.endswith(".py") else source.rpartition(".")[2]
    return stem.replace("_", " ").strip().capitalize() or "Agent"


# -- failing --


def _failed(source: str, exc: BaseException) -> Exception:
    """Return what to raise: the author's mistakes with their place, the operator's as they are."""
    while isinstance(exc, BaseExceptionGroup) and exc.exceptions:
        exc = exc.exceptions[0]
    if isinstance(exc, PoiseError) and not isinstance(exc, InvalidValueError):
        return exc
    frames = traceback.extract_tb(exc.__traceback__)
    own = [frame for frame in frames if not _is_foreign(frame.filename)]
    last = own[-1] if own else None
    place = f"{_short(last.filename)}:{last.lineno}" if last else source
    if isinstance(exc, InvalidValueError):
        return DeclarationError(exc, place)
    report = "".join(
        (
            "Traceback (the program's own part):\n",
            *traceback.format_list(own or frames),
            *traceback.format_exception_only(exc),
        )
    )
    return ProgramError(f"{place}: {type(exc).__name__}: {exc}", report)


def _is_foreign(filename: str) -> bool:
    path = Path(filename)  # relative for compiled libraries, which write it as it was built
    return not path.is_absolute() or any(path.is_relative_to(folder) for folder in _FOREIGN)


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename


_FOREIGN = (
    Path(__file__).resolve().parents[1],
    *(Path(sysconfig.get_path(kind)) for kind in ("stdlib", "purelib", "platlib")),
)
"""Where code lives that is not the author's: Poise, the standard library, what is installed."""
