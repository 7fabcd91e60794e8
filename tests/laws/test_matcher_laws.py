"""Every built-in matching has the properties that it declares, and lacks those that it denies."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from arbitre import Comparator
from arbitre.engine import compare_to_levels
from arbitre.matching import Matcher, catalogue

ROUNDING = 1e-12
PROVED = 1e-7
"""Plans that are found step by step are right to about this."""
FACTS = ("metric", "separating", "full_matching", "in_order")

POINT = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 1}}}}
THREE = {"values": ["r", "s", "t"], "costs": [[0, 0.29, 0.78], [0.29, 0, 1], [0.78, 1, 0]]}
SIGN = {"type": "string", "x-arbitre": {"distance": {"table": THREE}}}
RECORD = {"type": "object", "properties": {"id": {"type": "integer"}, "v": POINT}}
WEIGHED = {"type": "object", "properties": {"id": {"type": "integer"}, "w": POINT}}

POINTS = [list(items) for n in range(4) for items in combinations_with_replacement((0, 0.25, 0.5, 1), n)]
POINTS += [[0.5, 0], [1, 0], [1, 0, 0.25], [0.5, 0, 0.25], [1, 0.5, 0]]
SHORT = [items for items in POINTS if len(items) < 3]
"""For the solvers that take long."""
SIGNS = [list(items) for n in range(4) for items in product("rst", repeat=n)]
RECORDS = [
    [{"id": key, "v": value} for key, value in items]
    for n in range(4)
    for items in combinations_with_replacement([(1, 0), (1, 1), (2, 0), (3, 0.5)], n)
] + [[{"id": 2, "v": 0}, {"id": 1, "v": 1}]]
HEAVY = [
    [{"id": key, "w": mass} for key, mass in items]
    for n in range(3)
    for items in combinations_with_replacement([(1, 0.5), (1, 1), (2, 0.5), (2, 1)], n)
]


@dataclass(frozen=True, eq=False)
class Law:
    """What one choice of a matching is to declare, lists to hold it against, and a witness of every fact denied.

    The witnesses of `metric` break `identity` (x, x), `symmetry` (x, y) or the `triangle` (x, y, z).
    """

    choice: object
    lists: list = field(default_factory=lambda: POINTS)
    items: dict = field(default_factory=lambda: POINT)
    metric: bool = True
    separating: bool = True
    full_matching: bool = False
    in_order: bool = False
    witnesses: dict = field(default_factory=dict)
    near: float = ROUNDING

    @property
    def name(self) -> str:
        return self.choice if isinstance(self.choice, str) else next(iter(self.choice))

    @property
    def matcher(self) -> Matcher:
        return catalogue.build(self.choice)


def moving(law, **options):
    return Law({"transport": options}, separating=False, **law)


TWINS = ([0, 0], [0])
SWAPPED = ([0, 1], [1, 0])
FAR = ([0], [1])
HALVES = ([0], [0.25], [0.5])  # too far apart at the ends to be paired where 0.5 is the limit
NO = {"metric": False}

LAWS = [
    Law("hungarian", full_matching=True),
    Law("hungarian", SIGNS, SIGN, full_matching=True),
    Law({"hungarian": {"gate": 0.6}}, metric=False, witnesses={"triangle": HALVES, "full_matching": FAR}),
    Law("greedy", metric=False, witnesses={"symmetry": ([0.5, 0], [0, 1]), "full_matching": ([0.5, 0], [0, 1])}),
    Law({"greedy": {"gate": 0.6}}, metric=False, witnesses={"triangle": HALVES, "full_matching": FAR}),
    Law("ordered", in_order=True, witnesses={"full_matching": SWAPPED, "in_order": SWAPPED}),
    Law("ordered", SIGNS, SIGN, in_order=True),
    Law(
        "sequence",
        SIGNS,
        SIGN,
        metric=False,
        in_order=True,
        witnesses={
            "triangle": (["r", "r", "s"], ["r", "r", "r"], ["r", "t", "r"]),
            "full_matching": (["r", "s"], ["s", "r"]),
            "in_order": (["r", "s"], ["s", "r"]),
        },
    ),
    Law(
        {"keyed": {"key": "id"}},
        RECORDS,
        RECORD,
        witnesses={"full_matching": ([{"id": 1, "v": 0}], [{"id": 2, "v": 0}])},
    ),
    Law("set", witnesses={"full_matching": FAR}),
    moving({"witnesses": {"separating": TWINS, "full_matching": TWINS}}),
    moving({"witnesses": {"separating": TWINS, "full_matching": TWINS}}, masses="size"),
    moving(
        {
            "lists": HEAVY,
            "items": WEIGHED,
            "witnesses": {"separating": ([{"id": 1, "w": 1}], [{"id": 1, "w": 1}, {"id": 1, "w": 1}])},
        },
        masses="w",
    ),
    moving(
        NO | {"witnesses": {"identity": ([0, 0.25],) * 2, "full_matching": TWINS}, "near": PROVED}, solver="sinkhorn"
    ),
    moving(
        NO
        | {
            "lists": SHORT,
            "witnesses": {"triangle": ([0], [0, 0.5, 1], [1]), "separating": TWINS},
            "near": PROVED,
        },
        solver="sinkhorn",
        epsilon=0.5,
        debiased=True,
    ),
    moving(NO | {"witnesses": {"identity": FAR[:1] * 2, "full_matching": FAR[:1] * 2}}, solver="partial", mass=0.5),
    moving(
        NO
        | {
            "lists": SHORT,
            "witnesses": {"triangle": ([0, 0, 0.25], [0, 0, 0.5], [0, 0.25, 0.5]), "full_matching": FAR},
            "near": 1e-3,
        },
        solver="unbalanced",
    ),
    moving(
        NO | {"witnesses": {"triangle": HALVES, "full_matching": FAR}}, solver="unbalanced", penalty="tv", reg_m=0.2
    ),
    moving(NO | {"witnesses": {"triangle": HALVES, "full_matching": FAR}}, solver="dummy", **{"lambda": 0.2}),
]


def each(laws):
    return pytest.mark.parametrize("law", laws, ids=lambda law: f"{law.choice} {law.items['type']}")


each_law = each(LAWS)


def table(law, lists):
    """The distances between lists, (lists, lists), and how many pairs were made."""
    plan = Comparator({"type": "array", "items": law.items, "x-arbitre": {"match": law.choice}}).plan
    pairs = list(product(lists, repeat=2))
    root = compare_to_levels(plan, [gold for gold, _ in pairs], [predicted for _, predicted in pairs])[0]
    found = np.zeros((3, len(pairs)))
    found[:, root.document] = 1.0 - root.quality, root.matched, root.mass
    return found.reshape(3, len(lists), len(lists))


@cache
def table_of(law):
    """The table of the lists of a law."""
    return table(law, law.lists)


def test_every_matching_of_the_catalogue_has_a_law():
    assert {law.name for law in LAWS} == set(catalogue.names)


def test_every_solver_has_a_law():
    solvers = {law.matcher.options["solver"] for law in LAWS if law.name == "transport"}
    assert solvers == {"exact", "sinkhorn", "partial", "unbalanced", "dummy"}


def test_every_denied_fact_has_a_witness():
    """One for the name at least."""
    broken = {"identity": "metric", "symmetry": "metric", "triangle": "metric"}
    shown = {(law.name, broken.get(fact, fact)) for law in LAWS for fact in law.witnesses}
    for law in LAWS:
        denied = {"metric": not law.metric, "full_matching": not law.full_matching, "in_order": law.in_order}
        denied["separating"] = not law.separating and law.metric
        assert {(law.name, fact) for fact, no in denied.items() if no} <= shown


@each_law
def test_matchings_declare_the_facts_of_the_table(law):
    assert [getattr(law.matcher, fact) for fact in FACTS] == [getattr(law, fact) for fact in FACTS]


@each_law
def test_matchings_can_be_pickled(law):
    copy = pickle.loads(pickle.dumps(law.matcher))  # noqa: S301
    assert repr(copy) == repr(law.matcher)


@each_law
def test_the_distance_between_lists_is_in_its_range(law):
    distances = table_of(law)[0]
    assert (distances >= 0.0).all()
    assert (distances <= 1.0).all()
    assert distances.max() == pytest.approx(1.0)


@each([law for law in LAWS if law.metric])
def test_the_distance_between_lists_is_a_metric_where_declared(law):
    distances = table_of(law)[0]
    assert distances == pytest.approx(distances.T, abs=ROUNDING)
    assert distances.diagonal().max() == pytest.approx(0.0, abs=ROUNDING)
    detours = (distances[:, :, None] + distances[None, :, :]).min(axis=1)
    assert (distances <= detours + ROUNDING).all()


@each([law for law in LAWS if law.metric and law.separating])
def test_different_lists_have_positive_distance_where_declared(law):
    canonical = [[repr(item) for item in one] for one in law.lists]
    if not law.in_order:
        canonical = [sorted(set(items) if law.name == "set" else items) for items in canonical]
    different = np.array([[one != other for other in canonical] for one in canonical])
    assert ((table_of(law)[0] > ROUNDING) == different).all()


@each([law for law in LAWS if not law.in_order])
def test_a_reordered_list_is_as_close_as_the_list_itself(law):
    longest = [one for one in law.lists if len(one) == max(map(len, law.lists))]
    for one in longest[:: max(1, len(longest) // 6)]:
        copies = [list(order) for order in permutations(one)]
        distances = table(law, copies)[0]
        assert distances == pytest.approx(np.full_like(distances, distances[0, 0]), abs=law.near)


@each([law for law in LAWS if law.full_matching])
def test_a_forced_matching_is_the_best_of_all_with_the_most_pairs(law):
    _, matched, mass = table_of(law)
    sizes = np.array([len(one) for one in law.lists])
    assert (matched == np.minimum(sizes[:, None], sizes)).all()
    place = {item: at for at, item in enumerate((0, 0.25, 0.5, 1) if law.items is POINT else "rst")}
    single = 1.0 - table(law, [[item] for item in place])[0]
    for (i, one), (j, other) in product(enumerate(law.lists), repeat=2):
        shorter, longer = sorted((one, other), key=len)
        best = max(
            sum(single[place[a], place[b]] for a, b in zip(shorter, some, strict=True))
            for some in permutations(longer, len(shorter))
        )
        assert mass[i, j] == pytest.approx(best, abs=ROUNDING)


@each_law
def test_witnesses_violate_the_facts_that_are_denied(law):
    for fact, witness in law.witnesses.items():
        distances, matched, mass = table(law, list(witness))
        if fact == "triangle":
            assert distances[0, 2] > distances[0, 1] + distances[1, 2] + law.near
        elif fact == "symmetry":
            assert abs(distances[0, 1] - distances[1, 0]) > law.near
        elif fact == "identity":
            assert distances[0, 0] > law.near
        elif fact == "in_order":
            assert distances[0, 1] > distances[0, 0] + law.near
        elif fact == "separating":
            assert witness[0] != witness[1]
            assert distances[0, 1] == pytest.approx(0.0, abs=law.near)
        else:  # full_matching: fewer or more pairs, or a better matching of as many
            best = table(Law("hungarian", items=law.items), list(witness))
            assert (abs(matched - best[1]) > law.near)[0, 1] or mass[0, 1] < best[2][0, 1] - law.near
