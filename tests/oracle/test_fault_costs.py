"""Verdicts, faults, costs and repair gains compared with a recursion over the JSON of a comparison."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.oracle.strategies import SMOOTH, SOLVERS, cases, transports

from arbitre import Comparator
from arbitre.comparison.node_tree import NodeTree
from arbitre.diagnosis.faults import FaultRows
from arbitre.diagnosis.repair import repaired_prediction
from arbitre.diagnosis.repair_gain import f1q_gain, repair_changes
from arbitre.diagnosis.taxonomy import FAULTS, VERDICTS, classify
from arbitre.values import SIDES

NEAR = 1e-9
slow = settings(deadline=None, suppress_health_check=list(HealthCheck))


class Tree:
    """The nodes of a comparison, with the leaves and items that are faults."""

    def __init__(self, comparison):
        self.nodes = comparison.to_dict()["nodes"]
        self.close, self.entries = comparison.close, comparison.entries
        self.children = defaultdict(list)
        self.roots = []
        for number, node in enumerate(self.nodes):
            (self.roots if node["parent"] is None else self.children[node["parent"]]).append(number)
        self.verdicts = [self._verdict(number) for number in range(len(self.nodes))]
        self.faults = [fault for root in self.roots for fault in self._faults(root)]

    def mismatch(self, node):
        return node["gold_kind"] and node["predicted_kind"] and node["gold_kind"] != node["predicted_kind"]

    def _inside_mismatch(self, number):
        while (number := self.nodes[number]["parent"]) is not None:
            if self.mismatch(self.nodes[number]):
                return True
        return False

    def _verdict(self, number):
        node = self.nodes[number]
        if self.mismatch(node) or self._inside_mismatch(number):
            return "wrong type"
        if node["predicted"] is None or node["gold"] is None:
            return "missing" if node["predicted"] is None else "spurious"
        if node["leaf"]:
            quality = node["quality"]
            return "correct" if quality >= 1 else "close" if quality >= self.close else "wrong"
        if node["item"]:
            return "matched"
        empty = [not node["tally"][side] for side in SIDES]
        return "correct" if empty[0] == empty[1] else "missing" if empty[0] else "spurious"

    def _faults(self, number):
        node, verdict = self.nodes[number], self.verdicts[number]
        one_sided = node["gold"] is None or node["predicted"] is None
        empty = not node["leaf"] and one_sided and not node["tally"]["gold"] and not node["tally"]["predicted"]
        shown = node["leaf"] or node["item"] or self.mismatch(node) or empty
        if shown and verdict not in ("correct", "matched"):
            return [number]
        return [fault for child in self.children[number] for fault in self._faults(child)]

    def state(self, number, repaired):
        """Whether gold and the prediction have the node after a repair, and its quality."""
        node = self.nodes[number]
        gold, predicted = node["gold"] is not None, node["predicted"] is not None
        if number in repaired:
            return gold, gold, float(gold)
        if node["leaf"] or self.mismatch(node) or not self.children[number]:
            return gold, predicted, node["quality"]
        n, m, k, mass = self.tally(number, repaired)
        if gold and not predicted:
            predicted = m > NEAR
        elif predicted and not gold and m <= NEAR:
            predicted = False
        quality = (mass / (n + m - k) if n + m - k > NEAR else 1.0) if gold and predicted else 0.0
        return gold, predicted, quality

    def tally(self, number, repaired):
        n = m = k = mass = 0.0
        for child in self.children[number]:
            node = self.nodes[child]
            weight = node["weight"] * node.get("mass", 1.0)
            gold, predicted, quality = self.state(child, repaired)
            n, m, k = n + weight * gold, m + weight * predicted, k + weight * (gold and predicted)
            mass += weight * quality
        return n, m, k, mass

    def entries_tally(self, repaired, number=None, scale=1.0, *, covered=False):
        """n, m and S of the entries after a repair."""
        total = np.zeros(3)
        for root in self.roots if number is None else [number]:
            node = self.nodes[root]
            here, factor = covered or root in repaired, scale * node.get("mass", 1.0)
            if node["path"] == self.entries:
                if node["leaf"]:
                    n, m = float(node["gold"] is not None), float(node["predicted"] is not None)
                    mass = node["quality"] if n and m and not self.mismatch(node) else 0.0
                elif self.mismatch(node):
                    n = m = mass = 0.0
                else:
                    n, m, _, mass = self.tally(root, repaired)
                total += factor * np.array([n, n, n] if here else [n, m, mass])
            for child in self.children[root]:
                total += self.entries_tally(repaired, child, factor, covered=here)
        return total

    def f1q(self, repaired=frozenset()):
        n, m, mass = self.entries_tally(repaired)
        return 2 * mass / (n + m) if n + m > NEAR else None


def taxonomy_of(comparison):
    return classify(comparison.levels, 1, comparison.entries, comparison.close)


@slow
@given(case=cases() | cases(ties=False) | transports(solvers=SOLVERS + SMOOTH))
def test_the_verdicts_of_each_path_add_up_to_its_tally(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    taxonomy = taxonomy_of(comparison)
    counts = dict(zip(taxonomy.paths, taxonomy.counts()[0], strict=True))
    scores = comparison.by_path()
    for path, by_side in counts.items():
        if path not in scores:
            assert not by_side.any()
            continue
        assert by_side[0].sum() == pytest.approx(scores[path].gold, abs=NEAR)
        assert by_side[1].sum() == pytest.approx(scores[path].predicted, abs=NEAR)
        for side in range(2):
            by_name = dict(zip(VERDICTS, by_side[side].tolist(), strict=True))
            paired = by_name["correct"] + by_name["close"] + by_name["wrong"] + by_name["matched"]
            expected = scores[path].exact + scores[path].close + scores[path].wrong
            assert paired == pytest.approx(expected, abs=NEAR)
            assert by_name["missing"] == pytest.approx(scores[path].missing if side == 0 else 0, abs=NEAR)
            assert by_name["spurious"] == pytest.approx(scores[path].spurious if side == 1 else 0, abs=NEAR)


@slow
@given(case=cases() | cases(ties=False) | transports(solvers=SOLVERS + SMOOTH))
def test_the_faults_are_those_of_the_tree_and_their_costs_add_up_to_the_lost_f1q(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    tree, rows = Tree(comparison), FaultRows(taxonomy_of(comparison))
    expected = Counter(
        (tree.nodes[at]["path"], tree.verdicts[at], tree.nodes[at]["gold"], tree.nodes[at]["predicted"])
        for at in tree.faults
    )
    assert Counter(zip(rows.paths, rows.faults, rows.gold_pointers, rows.predicted_pointers, strict=True)) == expected
    f1q = comparison.scores.f1q
    assert sum(rows.costs) == pytest.approx(0.0 if f1q is None else 1.0 - f1q, abs=1e-7)


@slow
@given(case=cases() | cases(ties=False) | transports())
def test_repair_gains_equal_those_of_the_repaired_tree(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    tree, taxonomy = Tree(comparison), taxonomy_of(comparison)
    changes = repair_changes(taxonomy)
    before = tree.f1q()
    assert comparison.scores.f1q == pytest.approx(before, abs=NEAR)

    def gain(repaired):
        after = tree.f1q(frozenset(repaired))
        return 0.0 if before is None else (1.0 if after is None else after) - before

    classes = dict(zip(FAULTS, f1q_gain(taxonomy.tallies, changes.classes)[0], strict=True))
    for name, computed in classes.items():
        assert computed == pytest.approx(gain(at for at in tree.faults if tree.verdicts[at] == name), abs=1e-7), name
    paths = dict(zip(taxonomy.paths, f1q_gain(taxonomy.tallies, changes.paths)[0], strict=True))
    for path, computed in paths.items():
        assert computed == pytest.approx(gain(at for at in tree.faults if tree.nodes[at]["path"] == path), abs=1e-7), (
            path
        )


@slow
@given(case=cases() | cases(ties=False))
def test_a_prediction_without_its_faults_is_as_good_as_gold(case):
    schema, gold, predicted = case
    comparator = Comparator(schema)
    taxonomy = taxonomy_of(comparator.compare(gold=gold, predicted=predicted))
    faults = taxonomy.fault.nonzero()[0].tolist()
    if not faults:
        return
    repaired = comparator.compare(gold=gold, predicted=repaired_prediction(NodeTree.of(taxonomy.levels), faults))
    ideal = comparator.compare(gold=gold, predicted=gold)  # items without a key have no partner
    assert repaired.quality == pytest.approx(ideal.quality, abs=NEAR)
    assert repaired.scores.f1q == (ideal.scores.f1q and pytest.approx(ideal.scores.f1q, abs=NEAR))


def named(count, rng):
    return [
        {"name": "".join(rng.choices("abc", k=4)), "pages": [rng.randrange(9) for _ in range(rng.randrange(4))]}
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_comparing_repaired_documents_again_gains_at_least_as_much(seed):
    rng = random.Random(seed)  # noqa: S311
    people = {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}}
    comparator = Comparator({"type": "array", "items": {"type": "object", "properties": people}})
    gold, predicted = named(5, rng), named(4, rng)
    predicted[:2] = gold[1:3]
    fixed = comparator.compare(gold=gold, predicted=predicted).diagnosis
    exact = comparator.compare(gold=gold, predicted=predicted, rematch=True).diagnosis
    assert fixed.repair_gain.keys() == exact.repair_gain.keys()
    for kind in ("repair_gain", "repair_gain_by_path"):
        for name, gain in getattr(fixed, kind).items():
            assert getattr(exact, kind)[name] >= gain - NEAR
