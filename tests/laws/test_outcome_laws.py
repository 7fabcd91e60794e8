"""The outcomes by path: they add up to the tally, and are those of the nodes counted one by one."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from tests.oracle.strategies import SMOOTH, SOLVERS, cases, transports

from arbitre import Comparator
from arbitre.tally import OUTCOMES

NEAR = 1e-9
slow = settings(suppress_health_check=list(HealthCheck))


def counted(comparison):
    """The outcomes by path and name, from the nodes of the comparison as JSON, one after the other."""
    nodes, counts = comparison.to_dict()["nodes"], Counter()
    scales, inside = [], []
    for node in nodes:
        parent = node["parent"]
        scales.append(node.get("mass", 1.0) * (1.0 if parent is None else scales[parent]))
        mismatch = node["gold_kind"] and node["predicted_kind"] and node["gold_kind"] != node["predicted_kind"]
        inside.append(bool(mismatch and not node["leaf"]) or (parent is not None and inside[parent]))
        container = not node["leaf"] and not node["item"]
        empty = {side: container and not node["tally"][side] and not mismatch for side in ("gold", "predicted")}
        gold, predicted = (node[side] is not None and (not container or empty[side]) for side in ("gold", "predicted"))
        if node["item"] and node["inner"]:
            continue
        if gold and predicted:
            quality = node["quality"]
            name = "exact" if quality >= 1 else "close" if quality >= comparison.close else "wrong"
            names = ("wrong_type", "wrong_type_predicted") if mismatch else (name,)
        elif gold:
            names = ("wrong_type",) if inside[-1] else ("missing",)
        else:
            names = (("wrong_type_predicted",) if inside[-1] else ("spurious",)) if predicted else ()
        counts.update({(node["path"], name): scales[-1] for name in names})
    return {key: mass for key, mass in counts.items() if mass}


@slow
@given(case=cases() | cases(ties=False) | transports(solvers=SOLVERS + SMOOTH))
def test_the_outcomes_are_those_of_the_nodes_and_add_up(case):
    schema, gold, predicted = case
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    paths = comparison.by_path()
    found = {(path, name): getattr(scores, name) for path, scores in paths.items() for name in OUTCOMES}
    expected = counted(comparison)
    assert {key: mass for key, mass in found.items() if mass} == pytest.approx(expected, abs=NEAR)
    for scores in paths.values():
        paired = scores.exact + scores.close + scores.wrong
        assert paired + scores.wrong_type + scores.missing == pytest.approx(scores.gold, abs=NEAR)
        assert paired + scores.wrong_type_predicted + scores.spurious == pytest.approx(scores.predicted, abs=NEAR)
