"""Conformance suites for composers and term finders."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from poise.errors import UnservedRouteError
from poise.ports.composition import Composer, TermFinder
from poise.testing.models import ScriptedModels
from poise.testing.turns import AGENT, catalog_of, policy, turn_of
from poise.turn.context import TurnContext, Wake
from poise.turn.fates import Fate, Outcome, Resolution
from poise.turn.models import Capability
from poise.turn.speech import Utterance, UtteranceKind
from poise.turn.tooling import ToolOutcome
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.agents import CompositionMode
from poise.values.canned import FIELD, CannedResponse, Role
from poise.values.ids import CannedResponseId, TermId, ToolId, stable_id
from poise.values.rules import Rule
from poise.values.terms import Term
from poise.values.tools import Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_EMBEDDED = 64
"""Texts that a turn with one active rule may have embedded, whatever else the catalog holds."""

ODD_TEXTS = (
    "",
    "   ",
    "\x00",
    "{}",
    "{{}} }{ {% if %} {{ secret }} {name}",
    "%s %d \\N{bell} ${HOME}",
    "\ud800 lone",
    "😀" * 50,
    "x " * 500_000,
)


def canned(template: str, **fields: Any) -> CannedResponse:  # any field of `CannedResponse`
    """Return an approved response of the test agent with that template."""
    return CannedResponse(
        id=CannedResponseId(stable_id("canned", AGENT.id, template)),
        agent=AGENT.id,
        template=template,
        **fields,
    )


def answered_by(
    rule: Rule, *responses: CannedResponse, said: str = "where is my parcel", **fields: Any
) -> TurnContext:  # any field of `TurnContext`
    """Return a turn on which `rule` is active and carries `responses`."""
    carried: Any = [each.id for each in responses]  # the converter hides the element type
    carrying = attrs.evolve(rule, canned_responses=carried)
    others = fields.pop("others", ())
    snapshot = catalog_of(
        [carrying, *others],
        canned_responses=(*responses, *fields.pop("more", ())),
        tools=fields.pop("tools", ()),
        agent=attrs.evolve(AGENT, composition_mode=CompositionMode.CANNED_STRICT),
    )
    return turn_of(
        snapshot,
        said,
        verdicts=(Verdict(rule.id, VerdictKind.APPLIES, "scripted", 0.9),),
        resolution=Resolution({rule.id: Outcome(rule.id, Fate.MATCHED)}),
        **fields,
    )


def outcome_of(**fields: Any) -> ToolOutcome:  # values for templates
    """Return a successful tool outcome with those template fields."""
    call = ToolCall("key", ToolId("tool_lookup"), {})
    return ToolOutcome(call, "lookup", ToolResult(fields=fields))


async def spoken(composer: Composer, turn: TurnContext) -> Sequence[Utterance]:
    """Return everything that `composer` yields for `turn`."""
    return [utterance async for utterance in composer.compose(turn)]


def words(utterances: Sequence[Utterance]) -> str:
    """Return what a customer reads of `utterances`, as one text."""
    said = [each.text for each in utterances if each.kind is UtteranceKind.MESSAGE]
    chunks = "".join(each.text for each in utterances if each.kind is UtteranceKind.CHUNK)
    return "\n\n".join([*said, chunks] if chunks else said)


class _NoModels(ScriptedModels):
    async def embed(self, texts: Sequence[str], *, route: str = "embed") -> NDArray[np.float32]:
        raise UnservedRouteError("none", "none", route, "no model serves this route")

    def serves(self, route: str, capability: Capability) -> bool:
        return False

    def identity(self, route: str = "embed") -> str:
        raise UnservedRouteError("none", "none", route, "no model serves this route")


class ComposerConformance:
    """What every composer promises. Fill the fixture `subject`.

    Tests of what may be worded at all run for composers whose `modes` hold CANNED_STRICT.
    """

    @pytest.fixture
    def subject(self) -> Composer:
        raise NotImplementedError("return the composer under test from the fixture `subject`")

    @pytest.fixture
    def strict(self, subject: Composer) -> Composer:
        """The subject, where it promises to say approved wording alone."""
        if CompositionMode.CANNED_STRICT not in subject.modes:
            pytest.skip("declares no CANNED_STRICT in `modes`")
        return subject

    def test_modes_are_declared(self, subject: Composer) -> None:
        assert subject.modes, "`modes` is empty: the engine would never choose this composer"
        assert all(isinstance(mode, CompositionMode) for mode in subject.modes), (
            "`modes` holds something else than CompositionMode"
        )

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: repr(text[:12]))
    async def test_speaks_or_says_why_not_whatever_was_said(
        self, subject: Composer, text: str
    ) -> None:
        turn = answered_by(policy("Parcels"), canned("It is on its way."), said=text)
        started = time.perf_counter()

        utterances = await spoken(subject, turn)

        _check_speech(utterances)
        assert time.perf_counter() - started < 5.0, (
            "composing took longer than 5 s: clip the customer's text before working on it"
        )

    @pytest.mark.anyio
    async def test_speaks_or_says_why_not_when_no_rule_is_active(self, subject: Composer) -> None:
        _check_speech(await spoken(subject, turn_of(catalog_of(), "hello")))

    @pytest.mark.anyio
    @pytest.mark.parametrize("wake", list(Wake))
    async def test_speaks_or_says_why_not_whatever_woke_the_turn(
        self, subject: Composer, wake: Wake
    ) -> None:
        turn = attrs.evolve(
            answered_by(policy("Parcels"), canned("It is on its way.")),
            wake=wake,
            base=10,
            requested=("say that it is on its way",) if wake is Wake.UTTER else (),
        )

        _check_speech(await spoken(subject, turn))

    @pytest.mark.anyio
    async def test_never_leaves_a_field_unfilled(self, subject: Composer) -> None:
        turn = answered_by(
            policy("Parcels"),
            canned("It arrives on {delivery.day}."),
            canned("Hello {{ unknown_field }}, it is in {generic.city}."),
        )

        text = words(await spoken(subject, turn))

        assert not FIELD.search(text), (
            f"{text!r} shows a field: a response is usable only when every field has a value"
        )

    @pytest.mark.anyio
    async def test_closes_before_its_end_and_before_its_start(self, subject: Composer) -> None:
        turn = answered_by(policy("Parcels"), canned("It is on its way."))
        unstarted, begun = subject.compose(turn), subject.compose(turn)
        await anext(begun)

        for iterator in (unstarted, begun):
            close = getattr(iterator, "aclose", None)
            assert close is not None, "compose must return an async generator, which can be closed"
            await close()

    @pytest.mark.anyio
    async def test_says_the_same_on_the_same_turn(self, subject: Composer) -> None:
        turn = answered_by(policy("Parcels"), canned("It is on its way."), canned("It left."))

        first, second = await spoken(subject, turn), await spoken(subject, turn)

        assert words(first) == words(second), (
            "two compositions of one turn differ: look for unordered sets or leftovers of a turn"
        )

    @pytest.mark.anyio
    async def test_embeds_no_more_for_a_larger_catalog(self, subject: Composer) -> None:
        idle = [canned(f"Answer number {number}.") for number in range(300)]
        others = [
            policy(f"Topic {number}", canned_responses=(each.id,))
            for number, each in enumerate(idle)
        ]
        models = ScriptedModels()
        turn = answered_by(
            policy("Parcels"),
            canned("It is on its way."),
            canned("It has arrived."),
            others=others,
            more=idle,
            models=models,
        )

        await spoken(subject, turn)

        embedded = sum(len(batch) for batch in models.embedded)
        assert embedded <= MOST_EMBEDDED, (
            f"{embedded} texts were embedded for one active rule: compare only what is in view"
        )

    # -- approved wording alone --

    @pytest.mark.anyio
    async def test_says_the_response_of_the_active_rule(self, strict: Composer) -> None:
        response = canned("Your parcel is on its way. {} {% Really.")

        utterances = await spoken(strict, answered_by(policy("Parcels"), response))

        assert words(utterances) == response.template, (
            "the active rule's only response must be said exactly as it was approved"
        )
        assert utterances[0].chosen == (response.id,), "`chosen` must name what was said"

    @pytest.mark.anyio
    @pytest.mark.parametrize(
        ("value", "written"),
        [(0, "0"), (7, "7"), ("", ""), ("{other}", "{other}")],
        ids=["zero", "number", "empty", "braces"],
    )
    async def test_fills_fields_with_whatever_a_tool_returned(
        self, strict: Composer, value: object, written: str
    ) -> None:
        turn = answered_by(
            policy("Parcels", tools=[ToolId("tool_lookup")]),
            canned("There are ({count}) parcels."),
            results=(outcome_of(count=value, other="secret"),),
            tools=(Tool(ToolId("tool_lookup"), AGENT.id, "lookup", "python"),),
        )

        text = words(await spoken(strict, turn))

        assert text == f"There are ({written}) parcels.", (
            "only what is absent is missing, and what a value contains is no template"
        )

    @pytest.mark.anyio
    @pytest.mark.parametrize("role", sorted(set(Role) - {Role.REPLY, Role.NO_MATCH}, key=str))
    async def test_says_no_match_where_nothing_is_a_reply(
        self, strict: Composer, role: Role
    ) -> None:
        turn = answered_by(policy("Parcels"), canned("Something else.", role=role))

        assert words(await spoken(strict, turn)) == turn.agent.no_match, (
            f"a response with the role {role.value} was said as a reply, or nothing was said"
        )

    @pytest.mark.anyio
    @pytest.mark.parametrize("fate", [fate for fate in Fate if not fate.is_active])
    async def test_says_nothing_for_a_rule_that_is_not_active(
        self, strict: Composer, fate: Fate
    ) -> None:
        rule = policy("Parcels")
        turn = answered_by(rule, canned("Where is my parcel? On its way.", signals=["my parcel"]))
        turn = attrs.evolve(turn, resolution=Resolution({rule.id: Outcome(rule.id, fate)}))

        assert words(await spoken(strict, turn)) == turn.agent.no_match, (
            f"a rule with the fate {fate.value} has spoken: use `turn.active_rules` alone"
        )

    @pytest.mark.anyio
    async def test_speaks_without_any_model(self, strict: Composer) -> None:
        turn = answered_by(
            policy("Parcels"), canned("It is on its way."), canned("It left."), models=_NoModels()
        )

        assert words(await spoken(strict, turn)) in ("It is on its way.", "It left."), (
            "an agent without models must still say what its rules approve"
        )


def _check_speech(utterances: Sequence[Utterance]) -> None:
    assert utterances, "nothing was yielded: say something, or one SILENCE with its reason"
    kinds = {each.kind for each in utterances}
    if UtteranceKind.SILENCE in kinds:
        assert len(utterances) == 1, "a SILENCE stands alone: it is why nothing is said"
    assert UtteranceKind.MESSAGE not in kinds or UtteranceKind.CHUNK not in kinds, (
        "whole messages and chunks are mixed in one reply"
    )
    for each in utterances:
        if each.kind is not UtteranceKind.CHUNK:
            assert each.text.strip(), f"an empty {each.kind.value} was yielded"
    if kinds == {UtteranceKind.CHUNK}:
        assert words(utterances).strip(), "the chunks together are empty"


class TermFinderConformance:
    """What every term finder promises. Fill the fixture `subject`.

    Finders differ in how they read; each must find a name that stands in the text as it is, and
    must not find what nothing in the conversation resembles.
    """

    @pytest.fixture
    def subject(self) -> TermFinder:
        raise NotImplementedError("return the term finder under test from the fixture `subject`")

    @pytest.mark.anyio
    async def test_finds_names_and_synonyms_that_were_mentioned(self, subject: TermFinder) -> None:
        terms = [_term("overdraft"), _term("standing order", "recurring payment"), _term("vault")]
        turn = turn_of(
            catalog_of(terms=terms), "My overdraft is high", "stop the recurring payment please"
        )

        found = {term.name for term in await subject.find(turn)}

        assert {"overdraft", "standing order"} <= found, (
            f"found only {sorted(found)}: names and synonyms in the window must be found"
        )

    @pytest.mark.anyio
    async def test_finds_nothing_in_silence(self, subject: TermFinder) -> None:
        turn = turn_of(catalog_of(terms=[_term("overdraft")]))

        assert list(await subject.find(turn)) == [], "found terms where nothing was said"

    @pytest.mark.anyio
    async def test_returns_each_term_of_the_catalog_once(self, subject: TermFinder) -> None:
        terms = [_term("overdraft", "debt", "red")]
        turn = turn_of(catalog_of(terms=terms), "debt, overdraft, debt: I am in the red")

        assert list(await subject.find(turn)) == terms, (
            "a term must come once, as the catalog has it, however often it is mentioned"
        )

    @pytest.mark.anyio
    async def test_order_does_not_depend_on_declaration(self, subject: TermFinder) -> None:
        terms = [_term("savings"), _term("card"), _term("loan")]
        said = "a loan, a card and my savings"

        forward = await subject.find(turn_of(catalog_of(terms=terms), said))
        backward = await subject.find(turn_of(catalog_of(terms=reversed(terms)), said))

        assert list(forward) == list(backward), (
            "order follows the declaration: prompts would change their bytes"
        )

    @pytest.mark.anyio
    @pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: repr(text[:12]))
    async def test_bears_any_text(self, subject: TermFinder, text: str) -> None:
        turn = turn_of(catalog_of(terms=[_term("overdraft"), _term("C++"), _term("{}")]), text)
        started = time.perf_counter()

        await subject.find(turn)

        assert time.perf_counter() - started < 5.0, "took longer than 5 s: bound the text first"


def _term(name: str, *synonyms: Any) -> Term:  # texts; the converter hides that
    return Term(
        TermId(stable_id("term", AGENT.id, name)), AGENT.id, name, f"what {name} is", synonyms
    )
