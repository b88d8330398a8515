"""Templates with conditions and filters, in a corner of Jinja that can neither reach nor run away.

A template is parsed, every node is held against a list of what is allowed, and every field is
replaced by a name that the resolver fills beforehand: what Jinja then runs has no attributes, no
calls, no loops and no arithmetic left in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs
from jinja2 import StrictUndefined, Template, TemplateError, Undefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from poise.values.canned import FIELD, TEMPLATE_LIMIT
from poise_compose.plain import Writing, written

RENDER_LIMIT = 16_384
"""Characters that a rendered reply may have."""

_PROGRAM = re.compile(r"\{%.*?%\}|\{\{\s*[A-Za-z_][\w.]*\s*\|", re.DOTALL)
_BLOCK = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_DEPTH = 40

_ALLOWED: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Const,
    nodes.Filter,
    nodes.If,
    nodes.Compare,
    nodes.Operand,
    nodes.Test,
    nodes.And,
    nodes.Or,
    nodes.Not,
)
_FILTERS = frozenset({"default", "upper", "lower", "title", "trim", "round", "join", "length"})
_TESTS = frozenset({"defined", "undefined", "true", "false", "number", "string"})


class TemplateRefusedError(ValueError):
    """A template asks for more than templates may; the message says what."""


def is_program(template: str) -> bool:
    """Say whether a template has conditions or filters, beyond fields and plain text."""
    return _PROGRAM.search(template) is not None


def without_blocks(template: str) -> str:
    """Return the template's plain text, its blocks and fields left out."""
    return FIELD.sub(" ", _BLOCK.sub(" ", template))


@attrs.frozen
class Program:
    """A compiled template.

    Attributes:
        paths: Its fields by the name that stands for each of them.
        run: Renders it from values by those names.
    """

    paths: Mapping[str, str]
    run: Callable[[Mapping[str, object]], str]


def compile_program(template: str, writing: Writing) -> Program:
    """Return `template` ready to be rendered, its values written as `writing` says.

    Raises:
        TemplateRefusedError: It is malformed, or holds something that isn't allowed.
    """
    if len(template) > TEMPLATE_LIMIT:
        raise TemplateRefusedError(f"is longer than {TEMPLATE_LIMIT} characters")
    source = FIELD.sub(lambda match: "{{ " + (match[1] or match[2]) + " }}", template)
    environment = _environment(writing)
    try:
        tree = environment.parse(source)
        _refuse_foreign(tree)
        replacing = _Replacing()
        tree = replacing.visit(tree)
        code = environment.compile(tree)
    except (TemplateError, SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise TemplateRefusedError(str(exc) or type(exc).__name__) from exc
    paths = {name: path for path, name in replacing.names.items()}

    made = Template.from_code(environment, code, {}, None)

    def run(values: Mapping[str, object]) -> str:
        known = {
            name: values[name] if name in values else StrictUndefined(name=path)
            for name, path in paths.items()
        }
        pieces: list[str] = []
        size = 0
        for piece in made.generate(known):
            size += len(piece)
            if size > RENDER_LIMIT:
                raise ValueError(f"renders to more than {RENDER_LIMIT} characters")
            pieces.append(piece)
        return "".join(pieces)

    return Program(paths, run)


def _environment(writing: Writing) -> ImmutableSandboxedEnvironment:
    def finalize(value: Any) -> Any:  # an undefined value raises where Jinja writes it
        return value if isinstance(value, Undefined) else written(value, writing)

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        finalize=finalize,
        autoescape=False,
        keep_trailing_newline=True,
        # Comments would swallow text that authors write as it is.
        comment_start_string="{\x00#",
        comment_end_string="#\x00}",
        cache_size=0,
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.filters.update(_filters(writing))
    environment.tests = {name: environment.tests[name] for name in _TESTS}
    return environment


def _filters(writing: Writing) -> dict[str, Callable[..., Any]]:
    def default(value: Any, other: Any = "") -> Any:
        return other if isinstance(value, Undefined) else value

    def rounded(value: Any, digits: int = 0) -> Any:
        places = max(0, min(6, digits))
        return round(value, places) if places else round(value)

    def joined(value: Any, between: str = ", ") -> str:
        return between.join(written(each, writing) for each in value)

    return {
        "default": default,
        "upper": lambda value: written(value, writing).upper(),
        "lower": lambda value: written(value, writing).lower(),
        "title": lambda value: written(value, writing).title(),
        "trim": lambda value: written(value, writing).strip(),
        "round": rounded,
        "join": joined,
        "length": len,
    }


def _refuse_foreign(tree: nodes.Template) -> None:
    waiting: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEPTH:
            raise TemplateRefusedError(f"is nested deeper than {_DEPTH}")
        if type(node) not in _ALLOWED:
            kind = type(node).__name__.lower()
            raise TemplateRefusedError(f"line {node.lineno}: {kind} is not allowed in a template")
        if isinstance(node, nodes.Filter):
            _refuse_name(node, node.name, _FILTERS, "filter")
        elif isinstance(node, nodes.Test):
            _refuse_name(node, node.name, _TESTS, "test")
        elif isinstance(node, nodes.Name | nodes.Getattr | nodes.Getitem):
            _path(node)
            continue
        elif isinstance(node, nodes.Const | nodes.TemplateData):
            _refuse_literal(node)
        waiting.extend((child, depth + 1) for child in node.iter_child_nodes())


def _refuse_name(node: nodes.Node, name: str, allowed: frozenset[str], what: str) -> None:
    if name not in allowed:
        offered = ", ".join(sorted(allowed))
        raise TemplateRefusedError(f"line {node.lineno}: no {what} {name!r}; there are {offered}")


def _refuse_literal(node: nodes.Const | nodes.TemplateData) -> None:
    value = node.data if isinstance(node, nodes.TemplateData) else node.value
    if isinstance(value, str) and FIELD.search(value):
        raise TemplateRefusedError(f"line {node.lineno}: shows a field that would stay unfilled")
    if isinstance(value, float) and not math.isfinite(value):
        raise TemplateRefusedError(f"line {node.lineno}: holds a number out of range")


def _path(node: nodes.Node) -> str:
    """Return the dotted name that a name or a chain of records stands for."""
    names: list[str] = []
    while not isinstance(node, nodes.Name):
        if isinstance(node, nodes.Getattr):
            names.append(node.attr)
            node = node.node
        elif (
            isinstance(node, nodes.Getitem)
            and isinstance(node.arg, nodes.Const)
            and isinstance(node.arg.value, str)
        ):
            names.append(node.arg.value)
            node = node.node
        else:
            raise TemplateRefusedError(f"line {node.lineno}: only fields can be reached into")
    names.append(node.name)
    if any(not name or name.startswith("_") or "." in name for name in names):
        raise TemplateRefusedError(f"line {node.lineno}: names a private field")
    return ".".join(reversed(names))


class _Replacing(NodeTransformer):
    """Puts one plain name in the place of every field."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Name(self, node: nodes.Name) -> nodes.Node:  # noqa: N802 - Jinja's name
        return self._replaced(node)

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:  # noqa: N802 - Jinja's name
        return self._replaced(node)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - Jinja's name
        return self._replaced(node)

    def _replaced(self, node: nodes.Node) -> nodes.Node:
        name = self.names.setdefault(_path(node), f"field{len(self.names)}")
        return nodes.Name(name, "load", lineno=node.lineno)
