"""Hypothesis strategies for rules, journeys, relations, catalogs, verdicts, resolution requests.

Give `resolution_requests` your own compiled catalog to property-test it: every example is a turn
that could happen to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import attrs
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.testing.turns import catalog_of, journey, node, observation, policy
from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.compilation import compile_catalog
from poise.values.ids import GroupId, Subject, TagId
from poise.values.journeys import Journey, JourneyNode
from poise.values.relationships import (
    OF_TOOLS,
    DependencyMode,
    End,
    Relation,
    RelationKind,
    TagEnd,
)
from poise.values.rules import Rule

TAGS = (TagId("tag_a"), TagId("tag_b"))
"""The tags that drawn rules, journeys and nodes carry, and drawn relations use."""


# Parts are made once: a strategy that is made anew for each draw costs more than the draw.
_MAKERS: st.SearchStrategy[Callable[..., Rule]] = st.sampled_from((policy, observation))
_TAG_SETS = st.frozensets(st.sampled_from(TAGS))
_RANKS = st.sampled_from((None, None, None, "rank_a", "rank_b"))
_PRIORITIES = st.sampled_from((0, 0, 1, 2))
_ENABLED = st.sampled_from((True, True, True, False))
_TRAITS: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "tags": _TAG_SETS,
        "enabled": _ENABLED,
        "track": st.sampled_from((True, True, False)),
        "continuous": st.sampled_from((None, None, True, False)),
        "groups": st.sampled_from((frozenset(), frozenset(), frozenset({GroupId("group_a")}))),
        "rank": _RANKS,
        "priority": _PRIORITIES,
    }
)
_JOURNEY_TRAITS: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {"tags": _TAG_SETS, "enabled": _ENABLED, "rank": _RANKS, "priority": _PRIORITIES}
)
_JOURNEY_SHAPES = st.tuples(
    st.lists(st.integers(0, 9), max_size=2), st.lists(_TAG_SETS, max_size=2), _JOURNEY_TRAITS
)
_KINDS = st.sampled_from(tuple(kind for kind in RelationKind if kind not in OF_TOOLS))
_MODES = st.sampled_from(DependencyMode)
_GROUPS = st.sampled_from((None, "g", "h"))
_VERDICTS = st.sampled_from(
    (VerdictKind.APPLIES,) * 4 + (VerdictKind.AMBIGUOUS,) + tuple(VerdictKind)
)
_CHANCES = st.none() | st.floats(0.0, 1.0)
_JUDGEMENTS = st.tuples(_VERDICTS, _CHANCES, st.booleans())
_JUDGEMENTS_OF_HEADS = st.tuples(
    st.just(VerdictKind.AMBIGUOUS) | _VERDICTS, _CHANCES, st.booleans()
)
_SHAPES = st.tuples(_MAKERS, _TRAITS)
_PARTS = st.sampled_from(("judged", "judged", "judged", "shown", "away"))
_IN_PLAY = st.sampled_from((True, False))


def rules(title: str = "a rule") -> st.SearchStrategy[Rule]:
    """Draw a policy or an observation called `title`; its id follows from the title."""
    return _SHAPES.map(lambda shape: _rule(title, shape))


def _rule(title: str, shape: tuple[Callable[..., Rule], dict[str, object]]) -> Rule:
    make, traits = shape
    return make(title, **traits)


def journeys(title: str = "a journey", triggers: Sequence[Rule] = ()) -> st.SearchStrategy[Journey]:
    """Draw a journey called `title`, of two nodes at most, with some of `triggers` as its own."""
    return _JOURNEY_SHAPES.map(lambda shape: _journey(title, triggers, shape))


def _journey(
    title: str,
    triggers: Sequence[Rule],
    shape: tuple[Sequence[int], Sequence[frozenset[TagId]], dict[str, object]],
) -> Journey:
    places, steps, traits = shape
    chosen = {triggers[place % len(triggers)].id for place in places} if triggers else ()
    nodes = [node(f"{title}: {number}", tags=tags) for number, tags in enumerate(steps)]
    return journey(title, triggers=sorted(chosen), nodes=nodes, **traits)


def ends(among: Sequence[Rule | Journey | JourneyNode]) -> st.SearchStrategy[End]:
    """Draw an end of a relation: one of these, or whatever carries a tag."""
    of_tags = [TagEnd(tag, every) for tag in TAGS for every in (False, True)]
    return st.sampled_from([*(each.id for each in among), *of_tags])


def relations(among: Sequence[Rule | Journey | JourneyNode]) -> st.SearchStrategy[Relation]:
    """Draw a relation between these and tags, of any kind that does not concern tools."""
    end = ends(among)
    pairs = st.tuples(end, end).filter(lambda pair: pair[0] != pair[1])
    return st.builds(_relation, pairs, _KINDS, _MODES, _GROUPS, st.booleans())


def _relation(
    pair: tuple[End, End], kind: RelationKind, mode: DependencyMode, group: str | None, always: bool
) -> Relation:
    return Relation(kind, *pair, mode=mode, group=group, always=always)


@st.composite
def catalogs(
    draw: st.DrawFn, max_rules: int = 7, max_relations: int = 12, max_journeys: int = 2
) -> CatalogSnapshot:
    """Draw a compiled catalog; relations that would form a refused cycle are left out."""
    count = draw(st.integers(2, max_rules))
    drawn = [_rule(f"rule {number}", draw(_SHAPES)) for number in range(count)]
    procedures = [
        draw(journeys(f"journey {number}", drawn))
        for number in range(draw(st.integers(0, max_journeys)))
    ]
    nodes = [node for each in procedures for node in each.nodes]
    wanted = draw(st.lists(relations([*drawn, *procedures, *nodes]), max_size=max_relations))
    try:
        return catalog_of(drawn, wanted, journeys=procedures)
    except InvalidValueError:
        pass
    snapshot, kept = catalog_of(drawn, journeys=procedures), list[Relation]()
    for relation in wanted:
        try:
            snapshot = catalog_of(drawn, [*kept, relation], journeys=procedures)
        except InvalidValueError:
            continue
        kept.append(relation)
    return snapshot


def verdicts(rule: Rule, among: Sequence[Subject] = ()) -> st.SearchStrategy[Verdict]:
    """Draw a verdict on `rule`; applying ones are the most frequent.

    Args:
        rule: The rule.
        among: Of which some are in question where the verdict is AMBIGUOUS.
    """
    some = st.lists(st.sampled_from(among), unique=True) if among else st.just([])
    return st.tuples(_JUDGEMENTS, some).map(lambda drawn: _verdict(rule, *drawn))


def _verdict(
    rule: Rule, judgement: tuple[VerdictKind, float | None, bool], among: Sequence[Subject]
) -> Verdict:
    kind, probability, from_code = judgement
    in_question = tuple(among) if kind is VerdictKind.AMBIGUOUS else ()
    return Verdict(rule.id, kind, "drawn", probability, among=in_question, from_code=from_code)


@st.composite
def resolution_requests(
    draw: st.DrawFn, snapshot: CatalogSnapshot | None = None
) -> ResolutionRequest:
    """Draw what a turn asks of a resolver, for `snapshot` or for a drawn catalog."""
    if snapshot is None:
        snapshot = draw(catalogs())
    given: list[Verdict] = []
    shown: list[Rule] = []
    for rule in snapshot.rules.values():
        part = draw(_PARTS)
        if part == "judged":
            in_doubt = snapshot.in_doubt(rule.id)
            judgement = draw(_JUDGEMENTS_OF_HEADS if in_doubt else _JUDGEMENTS)
            among = [each for each in in_doubt if draw(_IN_PLAY)]
            given.append(_verdict(rule, judgement, among))
        elif part == "shown":
            shown.append(rule)
    ids = list(snapshot.rules)
    some = st.frozensets(st.sampled_from(ids), max_size=3) if ids else st.just(frozenset())
    return ResolutionRequest(
        snapshot=snapshot,
        verdicts={verdict.rule: verdict for verdict in given},
        shown=frozenset(rule.id for rule in shown),
        confirmed=draw(some),
        applied=draw(some),
        groups=draw(st.sampled_from((frozenset(), frozenset({GroupId("group_a")})))),
        journeys=frozenset(each for each in snapshot.journeys if draw(_IN_PLAY)),
        nodes=frozenset(each for each in snapshot.journey_of if draw(_IN_PLAY)),
    )


def reordered(request: ResolutionRequest, random: Random) -> ResolutionRequest:
    """Return the same request with rules, journeys, relations and verdicts in another order."""
    snapshot = request.snapshot
    by_id, edges = list(snapshot.rules.values()), list(snapshot.relations)
    procedures = list(snapshot.journeys.values())
    given = list(request.verdicts.items())
    for each in (by_id, edges, procedures, given):
        random.shuffle(each)
    return attrs.evolve(
        request,
        snapshot=compile_catalog(
            snapshot.agent,
            rules=by_id,
            journeys=procedures,
            relations=edges,
            tools=snapshot.tools.values(),
            canned_responses=snapshot.canned_responses.values(),
            terms=snapshot.terms.values(),
            variables=snapshot.variables.values(),
            bindings=snapshot.bindings,
            annotations=snapshot.annotations,
        ),
        verdicts=dict(given),
    )
