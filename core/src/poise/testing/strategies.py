"""Hypothesis strategies for rules, relations, catalogs, verdicts and resolution requests.

Give `resolution_requests` your own compiled catalog to property-test it: every example is a turn
that could happen to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import attrs
from hypothesis import strategies as st

from poise.errors import InvalidValueError
from poise.testing.turns import catalog_of, observation, policy
from poise.turn.fates import ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.catalog import CatalogSnapshot
from poise.values.compilation import compile_catalog
from poise.values.ids import GroupId, TagId
from poise.values.relationships import DependencyMode, End, Relation, RelationKind, TagEnd
from poise.values.rules import Rule

TAGS = (TagId("tag_a"), TagId("tag_b"))
"""The tags that drawn rules carry, and drawn relations use."""


# Parts are made once: a strategy that is made anew for each draw costs more than the draw.
_MAKERS: st.SearchStrategy[Callable[..., Rule]] = st.sampled_from((policy, observation))
_TRAITS: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "tags": st.frozensets(st.sampled_from(TAGS)),
        "enabled": st.sampled_from((True, True, True, False)),
        "track": st.sampled_from((True, True, False)),
        "continuous": st.sampled_from((None, None, True, False)),
        "groups": st.sampled_from((frozenset(), frozenset(), frozenset({GroupId("group_a")}))),
    }
)
_KINDS = st.sampled_from(RelationKind)
_MODES = st.sampled_from(DependencyMode)
_GROUPS = st.sampled_from((None, "g", "h"))
_VERDICTS = st.sampled_from((VerdictKind.APPLIES,) * 4 + tuple(VerdictKind))
_PROBABILITIES = st.none() | st.floats(0.0, 1.0)
_JUDGEMENTS = st.tuples(_VERDICTS, _PROBABILITIES, st.booleans())
_SHAPES = st.tuples(_MAKERS, _TRAITS)
_PARTS = st.sampled_from(("judged", "judged", "judged", "shown", "away"))


def rules(title: str = "a rule") -> st.SearchStrategy[Rule]:
    """Draw a policy or an observation called `title`; its id follows from the title."""
    return _SHAPES.map(lambda shape: _rule(title, shape))


def _rule(title: str, shape: tuple[Callable[..., Rule], dict[str, object]]) -> Rule:
    make, traits = shape
    return make(title, **traits)


def ends(among: Sequence[Rule]) -> st.SearchStrategy[End]:
    """Draw an end of a relation: one of these rules, or those that carry a tag."""
    of_tags = [TagEnd(tag, every) for tag in TAGS for every in (False, True)]
    return st.sampled_from([*(rule.id for rule in among), *of_tags])


def relations(among: Sequence[Rule]) -> st.SearchStrategy[Relation]:
    """Draw a relation between these rules and tags."""
    end = ends(among)
    pairs = st.tuples(end, end).filter(lambda pair: pair[0] != pair[1])
    return st.builds(_relation, pairs, _KINDS, _MODES, _GROUPS, st.booleans())


def _relation(
    pair: tuple[End, End], kind: RelationKind, mode: DependencyMode, group: str | None, always: bool
) -> Relation:
    return Relation(kind, *pair, mode=mode, group=group, always=always)


@st.composite
def catalogs(draw: st.DrawFn, max_rules: int = 7, max_relations: int = 12) -> CatalogSnapshot:
    """Draw a compiled catalog; relations that would form a refused cycle are left out."""
    count = draw(st.integers(2, max_rules))
    drawn = [_rule(f"rule {number}", draw(_SHAPES)) for number in range(count)]
    wanted = draw(st.lists(relations(drawn), max_size=max_relations))
    try:
        return catalog_of(drawn, wanted)
    except InvalidValueError:
        pass
    snapshot, kept = catalog_of(drawn), list[Relation]()
    for relation in wanted:
        try:
            snapshot = catalog_of(drawn, [*kept, relation])
        except InvalidValueError:
            continue
        kept.append(relation)
    return snapshot


def verdicts(rule: Rule) -> st.SearchStrategy[Verdict]:
    """Draw a verdict on `rule`; applying ones are the most frequent."""
    return _JUDGEMENTS.map(lambda judgement: _verdict(rule, judgement))


def _verdict(rule: Rule, judgement: tuple[VerdictKind, float | None, bool]) -> Verdict:
    kind, probability, from_code = judgement
    return Verdict(rule.id, kind, "drawn", probability, from_code=from_code)


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
            given.append(_verdict(rule, draw(_JUDGEMENTS)))
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
    )


def reordered(request: ResolutionRequest, random: Random) -> ResolutionRequest:
    """Return the same request with its rules, relations and verdicts in another order."""
    snapshot = request.snapshot
    by_id, edges = list(snapshot.rules.values()), list(snapshot.relations)
    given = list(request.verdicts.items())
    random.shuffle(by_id)
    random.shuffle(edges)
    random.shuffle(given)
    return attrs.evolve(
        request,
        snapshot=compile_catalog(
            snapshot.agent,
            rules=by_id,
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
