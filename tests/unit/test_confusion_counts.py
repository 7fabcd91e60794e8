"""The confusion matrices of a report: counted over batches, for fields with few values, most confused values first."""

import random
from collections import Counter

import pytest

import arbitre
from arbitre.corpus.worker import compare_pairs
from arbitre.inputs.records import Pair
from arbitre.language import Language, Translator
from arbitre.report.confusion_counts import MAX_LABELS, OTHER, ConfusionCounts, ConfusionObserver
from arbitre.report.figures import figures

ROLES = ["deputy", "senator", "minister"]


def listed(**properties):
    """The schema of a list of objects with these properties, matched by their id."""
    item = {"type": "object", "properties": {"id": {"type": "integer"}, **properties}}
    return {"type": "array", "x-arbitre": {"match": {"keyed": {"key": "id"}}}, "items": item}


SCHEMA = listed(
    role={"enum": ROLES},
    town={"type": "string"},
    elected={"type": "boolean"},
    name={"type": "string"},
    tags={"type": "array", "items": {"type": "string"}},
)


def corpus(seed, documents=40):
    chosen = random.Random(seed)  # noqa: S311
    gold, predicted = [], []
    for _ in range(documents):
        items = [
            {
                "id": at,
                "role": chosen.choice(ROLES),
                "town": chosen.choice(["Paris", "Lyon"]),
                "elected": chosen.random() < 0.5,
                "name": "".join(chosen.choices("abcdefgh", k=6)),
                "tags": ["x"],
            }
            for at in range(3)
        ]
        other = [dict(one) for one in items]
        for one in other:
            if chosen.random() < 0.3:
                one["role"] = chosen.choice(ROLES)
            if chosen.random() < 0.2:
                one["town"] = chosen.choice(["Rome", "paris"])
            if chosen.random() < 0.2:
                one["elected"] = chosen.choice([True, False, 1, "true"])
            if chosen.random() < 0.1:
                del one["town"]
        if chosen.random() < 0.1:
            other.pop()
        gold.append(items)
        predicted.append(other)
    return gold, predicted


def counted(schema, gold, predicted, batch=7):
    comparator = arbitre.Comparator(schema)
    counts = ConfusionCounts()
    pairs = [Pair(f"d{at}", None, *both) for at, both in enumerate(zip(gold, predicted, strict=True))]
    for start in range(0, len(pairs), batch):
        part = pairs[start : start + batch]
        for members, levels, _ in compare_pairs(comparator.plan, part):
            counts.take(ConfusionObserver()(members, levels))
    return counts.matrices(comparator.plan)


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_count_by_hand_whatever_the_batches(seed):
    gold, predicted = corpus(seed)
    matrices = counted(SCHEMA, gold, predicted)
    assert {one["path"] for one in matrices} == {"/*/role", "/*/town", "/*/elected"}
    assert all(counted(SCHEMA, gold, predicted, batch) == matrices for batch in (1, 40))
    for matrix in matrices:
        name = matrix["path"].rpartition("/")[2]
        expected = Counter()
        for items, other in zip(gold, predicted, strict=True):
            found = {one["id"]: one for one in other}
            for one in items:
                value = found.get(one["id"], {}).get(name)
                expected[repr(one[name]), repr(value)] += 1
        labels = [*map(repr, matrix["labels"])]
        made = {
            (row, column): count
            for row, line in zip(labels, matrix["counts"], strict=True)
            for column, count in zip(labels, line, strict=True)
            if count
        }
        assert made == expected
        wrong = [
            sum(line) - line[at] + sum(other[at] for other in matrix["counts"]) - line[at]
            for at, line in enumerate(matrix["counts"][:-1])
        ]
        assert wrong == sorted(wrong, reverse=True)
        assert matrix["labels"][-1] is None


def test_values_that_the_schema_treats_as_equal_are_one_label():
    schema = listed(town={"type": "string", "x-arbitre": {"distance": "exact", "normalize": ["casefold"]}})
    gold = [[{"id": at, "town": "Paris"} for at in range(10)]] * 2
    other = [[{"id": at, "town": "Lyon" if at < 2 else "PARIS"} for at in range(10)]] * 2
    (matrix,) = counted(schema, gold, other)
    assert (matrix["labels"], matrix["counts"]) == (["Paris", "Lyon", None], [[16, 4, 0], [0, 0, 0], [0, 0, 0]])


def test_fields_with_many_values_or_without_confusions_have_no_matrix():
    gold = [[{"id": at, "name": f"n{at % 9}", "role": "deputy"} for at in range(9)] for _ in range(3)]
    wrong = [[one | {"name": "n0"} for one in items] for items in gold]
    assert counted(SCHEMA, gold, wrong) == []  # nine names occur three times each
    assert counted(SCHEMA, gold * 2, wrong * 2) != []
    many = [[{"id": at, "name": f"n{at}"} for at in range(31)] for _ in range(9)]
    assert counted(SCHEMA, many, [[one | {"name": "n0"} for one in items] for items in many]) == []


def test_the_least_confused_values_are_counted_together():
    roles = [f"r{at:02}" for at in range(20)]
    schema = listed(role={"enum": roles})
    gold = [[{"id": at, "role": role} for at, role in enumerate(roles)]] * 3
    predicted = [[one | {"role": "r00"} for one in gold[0]], *gold[1:]]
    (matrix,) = counted(schema, gold, predicted)
    assert matrix["labels"][0] == "r00"
    assert matrix["labels"][MAX_LABELS:] == [OTHER, None]
    assert sum(map(sum, matrix["counts"])) == 60


def test_a_figure_shows_the_counts_and_tells_a_text_from_a_number():
    matrix = {
        "path": "/*/code",
        "labels": ["405", 405, "Rome", OTHER, None],
        "counts": [[1, 2, 0, 0, 0], *[[0] * 5] * 4],
    }
    view = {
        "subjects": [
            {"name": None, "confusions": [matrix], "curve": {"steps": []}, "paths": [], "explorer": [], "causes": None}
        ],
        "systems": None,
        "factors": [],
        "causes": None,
        "calibration": None,
    }
    (figure,) = figures(view, Translator(Language.EN))
    assert figure.name == "confusion-1"
    assert figure.chart.rows == ('"405"', "405", "Rome", "(other)", "(spurious)")
    assert figure.chart.columns == ('"405"', "405", "Rome", "(other)", "(missing)")
    assert "predicted" in figure.chart.cells[0][1].full
    assert [None if cell is None else cell.text for cell in figure.chart.cells[0]] == ["1", "2", None, None, None]
