# ruff: noqa: E501  # a row is a line
"""The 107 scenarios of the former generation's resolver as one table, in our own notation.

A row: its number; what is declared; what is matched, with journeys under way in brackets; who
survives; and what became of the others (and of the implied). Tags begin with `t`, journeys with
`J`, `n(J)` and `m(J)` are nodes, everything else is a rule.

    A>B      A takes priority over B            A->B       A depends on B, this turn
    A=>B|C   A depends on B or C                A|-B       A implies B
    t={A,B}  A and B carry the tag t            A#5        the priority of A is 5
    T~J      T is a trigger of J                any(t), all(t); a bare t is any(t) as a source

    B<A      outranked by A                     B<<A       gone with A, on which it depends
    B_A      of a lower number than A           B+A        implied by A
    A!B      lacks B                            A?B.C      lacks B and C, one of which would do

Several causes are joined by a dot; none are written where the row says nothing of them. Where the
default resolver differs, three more columns say who survives under it, what became of the others
(`n(J)/J`: goes with its journey), and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import attrs

from poise.testing.relating import implies, needs, needs_any, outranks
from poise.testing.turns import catalog_of, journey, node, policy
from poise.turn.fates import Fate, ResolutionRequest
from poise.turn.verdicts import Verdict, VerdictKind
from poise.values.compilation import adjacency
from poise.values.ids import Subject, TagId
from poise.values.relationships import DependencyMode, End, Relation, all_of, any_of

THIS_TURN = DependencyMode.THIS_TURN


@attrs.frozen
class Scenario:
    """One row of the table."""

    number: int
    given: str
    when: str
    then: str
    fates: str = ""
    other: str | None = None
    others: str = ""
    why: str = ""


S = Scenario
REINSTATED = "what is itself set aside sets nothing aside"
RANKED = "numbers compete within a declared rank alone"
NEAREST = "the nearest cause is named: a lack, not what made it"

# fmt: off
TABLE: tuple[Scenario, ...] = (
    S(1, "A>B, B>C", "A, B, C", "A", "B<A, C<B", "A, C", "B<A", REINSTATED),
    S(2, "J1>J2", "n(J1), n(J2), [J1, J2]", "n(J1)", "n(J2)<J1", "n(J1)", "n(J2)/J2", NEAREST),
    S(3, "g>J", "g, n(J), m(J), [J]", "g", "n(J)<g, m(J)<g, J<g", "g", "n(J)/J, m(J)/J, J<g", NEAREST),
    S(4, "J>g", "g, n(J), m(J), [J]", "n(J), m(J)", "g<J"),
    S(5, "x->J, y>J", "x, y, [J]", "y", "x<<J", "y", "x!J", NEAREST),
    S(6, "A>B", "B", "B"),
    S(7, "J1>J2, T~J1", "n(J2)", "n(J2)"),
    S(8, "A>B", "A, B", "A", "B<A"),
    S(9, "A|-t, t|-D, t={B,C}", "A", "A, B, C, D", "B+A, C+A, D+B.C"),
    S(10, "A>t, t>B, t={B}", "B", "B"),
    S(11, "A>t, t>B, t={B}", "A, B", "A", "B<A"),
    S(12, "A>t, t>C, t={B}", "A, C", "A", "C<A", "A, C", "", REINSTATED),
    S(13, "S->T", "S", "", "S!T"),
    S(14, "S->any(t), t={a,b}", "S, a", "S, a"),
    S(15, "J->g", "n(J), [J]", "", "n(J)!g", "", "n(J)/J", NEAREST),
    S(16, "J1->J2", "n(J1), [J1]", "", "n(J1)!J2", "", "n(J1)/J1", NEAREST),
    S(17, "a->J1, b->J2", "a, b, [J1]", "a", "b!J2"),
    S(18, "A>B, B>C, C->B, D#0", "A, B, C, D", "A, D", "B<A, C<B", "A, D", "B<A, C!B", NEAREST),
    S(19, "X->Y, A|-Z, Z>Y", "A, X, Y", "A, Z", "Z+A, Y<Z, X<<Y", "Z, A", "Z+A, Y<Z, X!Y", NEAREST),
    S(20, "A#1, B#0", "A, B", "A", "B_A", "A, B", "", RANKED),
    S(21, "J1#2, J2#0", "n(J1), n(J2), [J1, J2]", "n(J1)", "n(J2)_, J2_", "n(J1), n(J2)", "", RANKED),
    S(22, "g#1, J#0", "g, n(J), m(J), [J]", "g", "n(J)_g, m(J)_g, J_g", "g, n(J), m(J)", "", RANKED),
    S(23, "g#0, J#1", "g, n(J), m(J), [J]", "n(J), m(J)", "g_", "g, n(J), m(J)", "", RANKED),
    S(24, "t>B, t={A}", "A, B", "A", "B<A"),
    S(25, "t->B, t={A}", "A", "", "A!B"),
    S(26, "A>B, t={B}, C->all(t)", "A, B, C", "A", "B<A, C<<B", "A", "B<A, C!B", NEAREST),
    S(27, "t1>t2, t1={a1,a2}, t2={b1,b2}, b1>a1", "a1, a2, b1, b2", "a2", "a1<b1, b1<, b2<", "a1, a2", "b1<a1.a2, b2<a1.a2", REINSTATED),
    S(28, "t1>t2, t1={a1,a2}, t2={b1,b2}", "a1, a2, b1, b2", "a1, a2", "b1<, b2<"),
    S(29, "J>t, T~J, t={a,b}", "T, a, b, [J]", "T", "a<J, b<J"),
    S(30, "J1>J2", "n(J1), n(J2)", "n(J1)", "n(J2)<J1", "n(J1)", "n(J2)/J2", NEAREST),
    S(31, "t>J, t={a,b}", "a, b, n(J), [J]", "a, b", "n(J)<a.b", "a, b", "n(J)/J", NEAREST),
    S(32, "t->B, t={A}", "A, X", "X", "A!B"),
    S(33, "t1->all(t2), t1={A}, t2={B}", "A, X", "X", "A!B"),
    S(34, "J->all(t), t={B}", "n(J), X, [J]", "X", "n(J)!B", "X", "n(J)/J", NEAREST),
    S(35, "t->J, t={A}", "A, X", "X", "A!J"),
    S(36, "J1->J2", "n(J1), X, [J1]", "X", "n(J1)!J2", "X", "n(J1)/J1", NEAREST),
    S(37, "A->all(t), t={B,C}", "A, X", "X", "A!B.C"),
    S(38, "A->any(t), t={B,C}", "A, B", "A, B"),
    S(39, "A->any(t), t={n(J1),n(J2)}", "A, n(J1), [J1]", "A, n(J1)"),
    S(40, "A->all(t), t={n(J1),n(J2)}", "A, X", "X", "A!"),
    S(41, "t1->any(t2), t1={A}, t2={B,C}", "A, B", "A, B"),
    S(42, "J->any(t), t={B,C}", "n(J), B, [J]", "n(J), B"),
    S(43, "A->any(t), t={g,n(J)}", "A, n(J), [J]", "A, n(J)"),
    S(44, "B->A, C->B", "B, C", "", "B!A, C!B"),
    S(45, "B->A, C->B", "A, C", "A", "C!B"),
    S(46, "J->A, C->J", "n(J), C, [J]", "", "n(J)!A, C!", "", "n(J)/J, C!J", NEAREST),
    S(47, "J->A, C->J", "A, C", "A", "C!J"),
    S(48, "t2->t1, t3->t2, t1={a}, t2={b}, t3={c}", "b, c", "", "b!a, c!b"),
    S(49, "t2->t1, t3->t2, t1={a}, t2={b}, t3={c}", "a, c", "a", "c!b"),
    S(50, "J->t1, t2->J, t1={a}, t2={b}", "n(J), b, [J]", "", "n(J)!a, b!", "", "n(J)/J, b!J", NEAREST),
    S(51, "J->t1, t2->J, t1={a}, t2={b}", "a, b", "a", "b!J"),
    S(52, "t->A, J->t, t={b}", "b, n(J), [J]", "", "b!A, n(J)!b", "", "b!A, n(J)/J", NEAREST),
    S(53, "t->A, J->t, t={b}", "A, n(J), [J]", "A", "n(J)!b", "A", "n(J)/J", NEAREST),
    S(54, "g>J, T~J", "g, T, n(J), [J]", "g, T", "n(J)<g", "g, T", "n(J)/J", NEAREST),
    S(55, "t1>t2, t1={a}, t2={b}", "b", "b"),
    S(56, "t1->all(t2), t1={a}, t2={b}", "a, b", "a, b"),
    S(57, "t1>t2, C->t2, t1={a}, t2={b}", "a, b, C", "a", "b<a, C<<b", "a", "b<a, C!b", NEAREST),
    S(58, "t1>t2, t1={n(J)}, t2={g}", "n(J), g, [J]", "n(J)", "g<n(J)"),
    S(59, "t2>t1, t1={n(J)}, t2={g}", "n(J), g, [J]", "g", "n(J)<g"),
    S(60, "t1->t2, t1={n(J)}, t2={g}", "n(J), X, [J]", "X", "n(J)!g"),
    S(61, "t2->t1, t1={n(J)}, t2={g}", "g, X, [J]", "X", "g!n(J)"),
    S(62, "a->J1, b->J2, J1>J2", "a, b, [J1, J2]", "a", "b<<J2", "a", "b!J2", NEAREST),
    S(63, "s->J, g>J", "s, g, [J]", "g", "s<<J", "g", "s!J", NEAREST),
    S(64, "A->B, A->C, B->D, C->D", "A, B, C", "", "A!B.C, B!D, C!D"),
    S(65, "A->B, A->C, B->D, C->D", "A, B, C, D", "A, B, C, D"),
    S(66, "A->any(t), t={B,C}, B->D", "A, B, C", "A, C", "B!D"),
    S(67, "A->any(t), t={B,C}, B->D, C->E", "A, B, C", "", "A!B.C, B!D, C!E"),
    S(68, "A->t", "A, X", "X", "A!"),
    S(69, "A->B, A->all(t), t={C}", "A, B", "B", "A!C"),
    S(70, "A->B, A->all(t), t={C}", "A, B, C", "A, B, C"),
    S(71, "D->B, D->C, C->A", "B, C, D", "B", "C!A, D!C"),
    S(72, "A#100, B#0, C#100, A->B", "A, B, C", "C", "A!B, B_A.C", "A, B, C", "", RANKED),
    S(73, "A#100, B#100, A->B", "A, B", "A, B"),
    S(74, "A#100, B#0, C#100, A->all(t), t={B}", "A, B, C", "C", "A!B, B_A.C", "A, B, C", "", RANKED),
    S(75, "A#100, B#0, C#100, A->any(t), t={B,C}", "A, B, C", "A, C", "B_A.C", "A, B, C", "", RANKED),
    S(76, "A->all(t), t={B,C}", "A, B", "B", "A!C"),
    S(77, "A->all(t), t={B,C}", "A, B, C", "A, B, C"),
    S(78, "A->any(t), t={B,C}", "A, B", "A, B"),
    S(79, "A->any(t), t={B,C}", "A", "", "A!B.C"),
    S(80, "A->all(t1), A->any(t2), t1={B,C}, t2={D,E}", "A, B, C, D", "A, B, C, D"),
    S(81, "A->all(t1), A->any(t2), t1={B,C}, t2={D,E}", "A, B, D", "B, D", "A!C"),
    S(82, "A=>B|C", "A, B", "A, B"),
    S(83, "A=>B|C", "A", "", "A?B.C"),
    S(84, "A->B, A=>C|D", "A, B, D", "A, B, D"),
    S(85, "A->B, A=>C|D", "A, D", "D", "A!B"),
    S(86, "A=>B|C, A=>D|E", "A, B", "B", "A?D.E"),
    S(87, "A=>all(t)|D, t={B,C}", "A, B, D", "A, B, D"),
    S(88, "A=>J1|J2", "A, n(J1), [J1]", "A, n(J1)"),
    S(89, "A=>B|C, B->D", "A, B, C", "A, C", "B!D"),
    S(90, "A#100, B#0, C#100, D#100, A=>B|C", "A, B, C, D", "A, C, D", "B_A.C.D", "A, B, C, D", "", RANKED),
    S(91, "A->all(t), t={B,C}, B->D", "A, B, C", "C", "A!B, B!D"),
    S(92, "A=>B", "A", "", "A?B"),
    S(93, "A->B, A=>B|C", "A, B", "A, B"),
    S(94, "A->B, A=>B|C", "A, C", "C", "A!B"),
    S(95, "A#0, B#100, A|-B", "A", "A, B", "B+A"),
    S(96, "A|-B, B|-C", "A", "A, B, C", "B+A, C+B"),
    S(97, "A|-B, B->C", "A", "A", "B!C"),
    S(98, "A|-B, B=>C|D", "A, C", "A, B, C", "B+A"),
    S(99, "A=>B|C, D>B", "A, B, C, D", "A, C, D", "B<D"),
    S(100, "A=>all(t)|D, t={B,C}", "A, B, C", "A, B, C"),
    S(101, "A>B, B>C", "A, B, C", "A", "B<A, C<B", "A, C", "B<A", REINSTATED),
    S(102, "A->B, B->C, X>C", "A, B, C, X", "X", "C<X, B<<C, A!B", "X", "C<X, B!C, A!B", NEAREST),
    S(103, "J1->g, g->J2", "n(J1), g, [J1]", "", "n(J1)!g, g!J2", "", "n(J1)/J1, g!J2", NEAREST),
    S(104, "A>B, B>C, C>D", "B, D", "B, D"),
    S(105, "A|-B", "A, B", "A, B"),
    S(106, "A|-C, B|-C", "A, B", "A, B, C", "C+A.B"),
    S(107, "C->B, A|-B", "A, C", "A, B, C", "B+A"),
)
# fmt: on


Expected = tuple[Fate | None, str, set[str] | None]
"""The fate (`None` for whatever the journey's is), the relation, and the causes if they are said."""


@attrs.frozen
class Read:
    """A row as a resolver gets it, and the expected outcomes by name.

    Attributes:
        request: What is to be resolved.
        ids: By the names of the row.
        survivors: Names of the rules and nodes that survive.
        fates: What is expected of the others, by name.
        others_survivors: The same under the default resolver.
        others_fates: The same under the default resolver.
    """

    request: ResolutionRequest
    ids: dict[str, Subject]
    survivors: set[str]
    fates: dict[str, Expected]
    others_survivors: set[str]
    others_fates: dict[str, Expected]


_NAME = r"[\w()]+"
_RELATION = re.compile(rf"({_NAME})(->|=>|\|-|>|~)({_NAME}(?:\|{_NAME})*)")
_CARRIERS = re.compile(r"(t\d?)=\{([^}]*)\}")
_NUMBER = re.compile(rf"({_NAME})#(\d+)")
_FATE = re.compile(rf"({_NAME}?)(<<|<|_|\+|!|\?|/)([\w().]*)$")
_MEANS = {
    "<": (Fate.OUTRANKED, "priority"),
    "<<": (Fate.OUTRANKED, "dependency"),
    "_": (Fate.LOWER_PRIORITY, "rank"),
    "+": (Fate.IMPLIED, "entailment"),
    "!": (Fate.UNMET_DEPENDENCY_ALL, "dependency"),
    "?": (Fate.UNMET_DEPENDENCY_ANY, "dependency_any"),
    "/": (None, "journey"),
}


def read(row: Scenario) -> Read:
    """Return what a row says, as a resolver and a test need it."""
    tags = {tag: _listed(names) for tag, names in _CARRIERS.findall(row.given)}
    numbers = {name: int(number) for name, number in _NUMBER.findall(row.given)}
    given = _CARRIERS.sub("", row.given)
    under_way = _listed("".join(re.findall(r"\[([^\]]*)\]", row.when)))
    matched = _listed(re.sub(r"\[[^\]]*\]", "", row.when))
    edges = _RELATION.findall(given)
    names = {*matched, *under_way, *numbers, *_all(tags.values())}
    for source, _, targets in edges:
        names.update(re.sub(r"(?:any|all)\((.*)\)", r"\1", each) for each in targets.split("|"))
        names.add(source)
    names.update(match[1] for name in names.copy() if (match := re.search(r"\((\w+)\)", name)))
    names = {name for name in names if not re.fullmatch(r"t\d?", name)}
    carried = {name: [TagId(f"tag_{tag}") for tag in tags if name in tags[tag]] for name in names}

    rules = {
        name: policy(name, tags=carried[name], priority=numbers.get(name, 0))
        for name in sorted(names)
        if not re.match(r"J|[nm]\(", name)
    }
    nodes = {name: node(name, tags=carried[name]) for name in sorted(names) if "(" in name}
    triggers = [(rules[source].id, target) for source, sign, target in edges if sign == "~"]
    journeys = {
        name: journey(
            name,
            tags=carried[name],
            priority=numbers.get(name, 0),
            nodes=[each for key, each in nodes.items() if f"({name})" in key],
            triggers=[rule for rule, target in triggers if target == name],
        )
        for name in sorted(names)
        if re.fullmatch(r"J\d?", name)
    }
    things = {**rules, **nodes, **journeys}
    ids: dict[str, Subject] = {name: thing.id for name, thing in things.items()}
    # Without its relations first: row 27 declares a circle that compiling refuses.
    alone = catalog_of(rules.values(), journeys=journeys.values())
    relations = tuple(_relations(edges, ids))
    outgoing, incoming = adjacency(relations, alone.carriers)
    request = ResolutionRequest(
        attrs.evolve(alone, relations=relations, outgoing=outgoing, incoming=incoming),
        {
            rules[name].id: Verdict(rules[name].id, VerdictKind.APPLIES, "table")
            for name in matched
            if name in rules
        },
        journeys=frozenset(journeys[name].id for name in under_way),
        nodes=frozenset(nodes[name].id for name in matched if name in nodes),
    )
    survivors, fates = set(_listed(row.then)), _fates(row.fates)
    if row.other is None:
        return Read(request, ids, survivors, fates, survivors, fates)
    return Read(request, ids, survivors, fates, set(_listed(row.other)), _fates(row.others))


def _listed(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _all(lists: Iterable[list[str]]) -> list[str]:
    return [each for names in lists for each in names]


def _relations(edges: list[tuple[str, str, str]], ids: dict[str, Subject]) -> list[Relation]:
    found: list[Relation] = []
    for number, (left, sign, right) in enumerate(edges):
        source = _end(left, ids, every=False)
        targets = [_end(each, ids, every=True) for each in right.split("|")]
        if sign == "=>":
            alike: dict[str, Any] = {"mode": THIS_TURN, "group": f"group {number}"}
            found += [needs_any(source, target, **alike) for target in targets]
        elif sign == "->":
            found += [needs(source, target, mode=THIS_TURN) for target in targets]
        elif sign == "|-":
            found += [implies(source, target) for target in targets]
        elif sign == ">":
            found += [outranks(source, target) for target in targets]
    return found


def _end(name: str, ids: dict[str, Subject], *, every: bool) -> End:
    said = re.fullmatch(r"(any|all)\((t\d?)\)", name)
    if said:
        return any_of(f"tag_{said[2]}") if said[1] == "any" else all_of(f"tag_{said[2]}")
    if re.fullmatch(r"t\d?", name):
        return all_of(f"tag_{name}") if every else any_of(f"tag_{name}")
    return ids[name]


def _fates(text: str) -> dict[str, Expected]:
    found: dict[str, Expected] = {}
    for each in _listed(text):
        match = _FATE.match(each)
        assert match is not None, each
        fate, relation = _MEANS[match[2]]
        causes = set(match[3].split(".")) if match[3] else None
        found[match[1]] = (fate, relation, causes)
    return found
