"""Templates of approved wording: compiled once, rendered from a turn's fields or refused."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from jinja2 import TemplateError

from poise.values.canned import FIELD
from poise_compose.fields import Fields, Found, Origin
from poise_compose.plain import Writing, is_blank, written
from poise_compose.programs import (
    RENDER_LIMIT,
    Program,
    TemplateRefusedError,
    compile_program,
    is_program,
    without_blocks,
)


@attrs.frozen
class Rendering:
    """What became of a template.

    Attributes:
        text: The words to say; `None` when the template can't be said on this turn.
        values: Its fields, as written.
        from_results: Whether one of them comes from a tool result of this turn.
        problem: Why it can't be said.
    """

    text: str | None
    values: Mapping[str, str] = attrs.field(factory=dict)
    from_results: bool = False
    problem: str = ""


@attrs.frozen
class Wording:
    """A template that was looked at once.

    Attributes:
        template: As the author wrote it.
        words: Its plain text, for comparing it with what a customer says.
        fields: The names of its plain fields, each once, in order.
        program: Its compiled form where it has conditions or filters.
        refused: Why it can never be said.
    """

    template: str
    words: str
    fields: tuple[str, ...] = ()
    program: Program | None = None
    refused: str = ""

    @classmethod
    def of(cls, template: str, writing: Writing) -> Wording:
        """Return the wording of `template`; one that is refused says why and is never said."""
        words = " ".join(without_blocks(template).split())
        if not is_program(template):
            names = (match[1] or match[2] for match in FIELD.finditer(template))
            return cls(template, words, tuple(dict.fromkeys(names)))
        try:
            program = compile_program(template, writing)
        except TemplateRefusedError as exc:
            return cls(template, words, refused=str(exc))
        return cls(template, words, tuple(program.paths.values()), program)

    def render(self, fields: Fields) -> Rendering:
        """Return the words with every field filled, or why there are none.

        One pass: what a value contains is text and never a field. Nothing is raised.
        """
        if self.refused:
            return Rendering(None, problem=f"its template {self.refused}")
        found = {name: value for name in self.fields if (value := fields.find(name)) is not None}
        values = {name: written(each.value, fields.writing) for name, each in found.items()}
        if self.program is None:
            return self._filled(found, values)
        return self._run(self.program, found, values)

    def _filled(self, found: Mapping[str, Found], values: Mapping[str, str]) -> Rendering:
        absent = next((name for name in self.fields if name not in found), None)
        if absent is not None:
            return Rendering(None, problem=f"no value for {{{absent}}}")
        pieces: list[str] = []
        size = end = 0
        for match in FIELD.finditer(self.template):
            value = values[match[1] or match[2]]
            pieces += (self.template[end : match.start()], value)
            end = match.end()
            size += len(value)
            if size > RENDER_LIMIT:
                break
        return self._said("".join((*pieces, self.template[end:])), found, values)

    def _run(
        self, program: Program, found: Mapping[str, Found], values: Mapping[str, str]
    ) -> Rendering:
        given = {name: found[path].value for name, path in program.paths.items() if path in found}
        try:
            text = program.run(given)
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as exc:
            return Rendering(None, problem=str(exc) or type(exc).__name__)
        return self._said(text, found, values)

    def _said(self, text: str, found: Mapping[str, Found], values: Mapping[str, str]) -> Rendering:
        if len(text) > RENDER_LIMIT:
            return Rendering(None, problem=f"renders to more than {RENDER_LIMIT} characters")
        if is_blank(text):
            return Rendering(None, problem="renders to nothing")
        results = any(each.origin is Origin.RESULT for each in found.values())
        return Rendering(text, values, results)
