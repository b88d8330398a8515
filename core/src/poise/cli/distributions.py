"""Writes a new distribution from the templates of this package, complete and passing its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.metadata import entry_points, version
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

import attrs

from poise.errors import ConfigError

_NAME = re.compile(r"[a-z]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)
_LONGEST = 30
_TEMPLATE = ".tmpl"
_PACKAGE = "package"  # the folder of the templates that becomes the package


@attrs.frozen
class Naming:
    """What a new plugin is called, everywhere.

    Attributes:
        name: The plugin's, the provider's and the settings section's: an identifier.
        distribution: As it is installed.
        package: As it is imported.
        camel: What its classes begin with.
        title: As people write it.
        variable: The environment variable of the vendor's key.
    """

    name: str
    distribution: str
    package: str
    camel: str
    title: str
    variable: str

    @classmethod
    def of(cls, said: str) -> Naming:
        """Return the names that follow from what the author calls the plugin.

        Raises:
            ConfigError: No distribution, package or section can be called that.
        """
        bare = re.sub(r"^poise[._-]+", "", said.strip(), flags=re.IGNORECASE)
        if not _NAME.fullmatch(bare) or len(bare) > _LONGEST:
            raise ConfigError(
                f"{said!r} can't name a distribution: write at most {_LONGEST} letters, digits and "
                f"hyphens, a letter first, e.g. 'acme' or 'acme-cloud'"
            )
        words = [word for word in re.split(r"[._-]+", bare) if word]
        normal = "-".join(words).lower()
        name = normal.replace("-", "_")
        _refuse_taken(said, name)
        return cls(
            name,
            f"poise-{normal}",
            f"poise_{name}",
            camel="".join(word[0].upper() + word[1:] for word in words),
            title=" ".join(word[0].upper() + word[1:] for word in words),
            variable=f"{name.upper()}_API_KEY",
        )


def _refuse_taken(said: str, name: str) -> None:
    from poise.app.config import Config

    if name in Config.model_fields or hasattr(Config, name):
        raise ConfigError(f"{said!r} is taken by Poise's own settings; choose another name")
    for point in entry_points(group="poise", name=name):
        brought = point.dist.name if point.dist else "another distribution"
        raise ConfigError(
            f"{said!r} is the name of a plugin that {brought} has installed here; two of one name "
            f"can't be loaded together: choose another, or uninstall that one"
        )


def write_distribution(kind: str, naming: Naming, folder: Path) -> tuple[Path, ...]:
    """Write every file of a distribution and return their paths.

    Args:
        kind: Which templates: a folder of `templates`.
        naming: What it is called.
        folder: Where; made if need be.

    Raises:
        ConfigError: Something is there already; nothing was written.
        OSError: The folder can't be written to.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} is there already and is left as it is; give another place with --folder"
        )
    texts = {folder / path: text for path, text in _rendered(kind, naming)}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tuple(texts)


def _rendered(kind: str, naming: Naming) -> Iterator[tuple[Path, str]]:
    values: Mapping[str, str] = {**attrs.asdict(naming), **_core_line()}
    root = resources.files("poise.cli").joinpath("templates", kind)
    for path, template in _templates(root, Path()):
        parts = [naming.package if part == _PACKAGE else part for part in path.parts]
        yield Path(*parts), Template(template.read_text("utf-8")).substitute(values)


def _core_line() -> Mapping[str, str]:
    """Return the line of core that this one is of, and where the next begins."""
    major, minor, *_ = version("poise").split(".")
    return {"core": f"{major}.{minor}", "next_core": f"{major}.{int(minor) + 1}"}


def _templates(folder: Traversable, above: Path) -> Iterator[tuple[Path, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda found: found.name):
        if each.is_dir():
            yield from _templates(each, above / each.name)
        elif each.name.endswith(_TEMPLATE):
            yield above / each.name.removesuffix(_TEMPLATE), each
