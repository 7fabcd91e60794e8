"""Patches of single predictions: where operations point, what they keep, and what is refused."""

import json

import pytest
from typer.testing import CliRunner

import arbitre
from arbitre import ABSENT, Comparator, Comparison, DataError, Facts
from arbitre.cli import app
from arbitre.comparison import Patch, PatchOperation
from arbitre.diagnosis import repair
from arbitre.distances import catalogue

pytestmark = pytest.mark.slow

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def obj(**properties):
    return {"type": "object", "properties": properties}


def listed(items, match="hungarian", **more):
    return {"type": "array", "items": items, "x-arbitre": {"match": match}, **more}


def credited(*, alternatives):
    """Objects whose field `a` counts as null if it is missing."""
    return listed(obj(a=TEXT | {"x-arbitre": {"alternatives": alternatives, "null": "credit"}}))


def patch_of(schema, gold, predicted, **options):
    """The patch as (op, path, value) and the quality of its result."""
    comparator = Comparator(schema, **options)
    patch = comparator.compare(gold=gold, predicted=predicted).patch()
    quality = comparator.compare(gold=gold, predicted=patch.apply(predicted)).quality
    return [tuple(operation.to_json_patch().values()) for operation in patch], quality


ALIASED = obj(
    name=TEXT, action=obj(kind=TEXT, pages=listed(NUMBER) | {"x-arbitre": {"aliases": ["pages", "meta/pages"]}})
)


@pytest.mark.parametrize(
    ("schema", "gold", "predicted", "expected"),
    [
        (
            obj(),
            {"a/b": {"~": 1}, "*": 2},
            {"a/b": {"~": 3}, "*": 4},
            [("replace", "/*", 2), ("replace", "/a~1b/~0", 1)],
        ),
        (listed(NUMBER), [1, 2, 3], [9, 3, 8, 2], [("replace", "/0", 1), ("remove", "/2")]),
        (listed(listed(NUMBER)), [[1]], [[2, 1, 3], [4]], [("remove", "/1"), ("remove", "/0/2"), ("remove", "/0/0")]),
        (listed(NUMBER, "ordered"), [1, 2, 3], [2, 3], [("replace", "/0", 1), ("replace", "/1", 2), ("add", "/-", 3)]),
        (
            listed(TEXT, "sequence"),
            ["aa", "bb", "cc", "dd"],
            ["dd", "xx", "aa", "dd"],
            [("replace", "/2", "cc"), ("replace", "/1", "bb"), ("replace", "/0", "aa")][::-1],
        ),
        (listed(NUMBER, "set"), [1, 2], [7, 2, 7], [("add", "/-", 1), ("remove", "/2"), ("remove", "/0")]),
        (listed(TEXT, {"transport": {}}), ["a", "b"], ["a"], [("replace", "", ["a", "b"])]),
        (
            listed(NUMBER, prefixItems=[TEXT, TEXT]),
            ["a", None, 1],
            ["a"],
            [("add", "/-", None), ("add", "/-", 1)],
        ),
        (obj(a=obj(b=NUMBER)), {"a": {"b": 1}}, {"a": "text"}, [("replace", "/a", {"b": 1})]),
        (obj(a=obj(b=NUMBER)), {"a": {"b": 1}}, {}, [("add", "/a", {"b": 1})]),
        (obj(a=obj(b=NUMBER)), {"a": None}, {"a": {"b": 1}}, [("replace", "/a", None)]),
        (obj(a=NUMBER), {"a": 1}, [], [("replace", "", {"a": 1})]),
        (obj(a=NUMBER), {"a": 1}, ABSENT, [("add", "", {"a": 1})]),
        (obj(a=NUMBER), ABSENT, {"a": 1}, [("replace", "", None)]),
        (obj(a=NUMBER) | {"x-arbitre": {"absent": []}}, ABSENT, {"a": 1}, [("remove", "")]),
        (obj(a=NUMBER), ABSENT, ABSENT, []),
        (obj(a=TEXT | {"x-arbitre": {"normalize": "casefold"}}), {"a": "PARIS"}, {"a": "paris"}, []),
        (obj(a=TEXT | {"x-arbitre": {"alternatives": True}}), {"a": ["b", "c"]}, {"a": "d"}, [("replace", "/a", "b")]),
        (obj(a=TEXT | {"x-arbitre": {"alternatives": True}}), {"a": ["b", "c"]}, {"a": "c"}, []),
        (credited(alternatives="/b"), [{}], [], [("add", "/-", {})]),
        (credited(alternatives="/b"), [{"b": ["c"]}], [], [("add", "/-", {"b": ["c"]})]),
        (credited(alternatives=True), [{}], [], [("add", "/-", {})]),
        (ALIASED, {"action": {"pages": [1, 2]}}, {"pages": [1, 3]}, [("replace", "/pages/1", 2)]),
        (ALIASED, {"name": "a"}, {"name": "a", "meta": {"pages": [1]}}, [("remove", "/meta")]),
        (
            ALIASED,
            {"action": {"kind": "a", "pages": [1]}},
            {"pages": [1], "stray": 2},
            [("add", "/action", {"kind": "a"}), ("remove", "/stray")],
        ),
        (ALIASED, {"action": {"pages": [1]}}, {"meta": {"pages": [2]}}, [("replace", "/meta/pages/0", 1)]),
        (ALIASED, {"meta": {"z": 1}}, {"meta": {"pages": [2]}}, [("replace", "", {"meta": {"z": 1}})]),
        (ALIASED, {"action": "none"}, {"pages": [1]}, [("add", "/action", "none"), ("remove", "/pages")]),
    ],
)
def test_operations_address_the_prediction_as_it_was(schema, gold, predicted, expected):
    assert patch_of(schema, gold, predicted) == (expected, 1.0)


def test_an_object_under_an_alias_may_become_empty():
    field = obj(a=TEXT, b=TEXT) | {"x-arbitre": {"aliases": ["meta/x"]}}
    operations, quality = patch_of(obj(field=field), {"field": {"b": "t"}}, {"meta": {"x": {"a": "s"}}})
    assert operations == [("remove", "/meta/x/a"), ("add", "/meta/x/b", "t")]
    assert quality == 1.0


def test_what_is_not_compared_stays_as_predicted():
    ignored = {"x-arbitre": {"ignore": True}}
    schema = obj(id=ignored, people=listed(obj(id=ignored, name=TEXT, born=NUMBER)), note=obj(id=ignored, text=TEXT))
    gold = {"id": 1, "people": [{"id": 2, "name": "Ada", "born": 1815}], "note": {"id": 3, "text": "a"}}
    predicted = {"id": 7, "people": [{"id": 8, "name": "Ada", "born": None}], "note": {"id": 9}}
    comparison = Comparator(schema).compare(gold=gold, predicted=predicted)
    repaired = {"id": 7, "people": [{"id": 8, "name": "Ada", "born": 1815}], "note": {"id": 9, "text": "a"}}
    assert comparison.patch().apply(predicted) == repaired
    assert predicted["people"][0]["born"] is None


def test_a_fault_that_a_repair_leaves_is_repaired_by_replacing_what_contains_it():
    """`greedy` takes the first of several perfect partners, and leaves another item without one."""
    name = TEXT | {"x-arbitre": {"alternatives": True}}
    schema = listed(obj(name=name, born=NUMBER), "greedy")
    gold = [{"name": ["a", "b"], "born": 1}, {"name": "a", "born": 1}]
    operations, quality = patch_of(schema, gold, [{"name": "a", "born": 2}, {"name": "b", "born": 1}])
    assert (operations, quality) == ([("replace", "", [{"name": "a", "born": 1}] * 2)], 1.0)


def test_no_patch_makes_more_of_a_prediction_than_gold_is_of_itself():
    schema = listed(obj(id=NUMBER, name=TEXT), {"keyed": {"key": "id"}})
    gold = [{"id": 1, "name": "a"}, {"name": "b"}]
    operations, quality = patch_of(schema, gold, [{"id": 1, "name": "c"}])
    assert operations == [("replace", "/0/name", "a"), ("add", "/-", {"name": "b"})]
    assert quality == Comparator(schema).compare(gold=gold, predicted=gold).quality == pytest.approx(1 / 3)
    patch = Comparator(schema).compare(gold=gold, predicted=[{"id": 1, "name": "c"}]).patch()
    assert patch[0].gain > 0.0 > patch[1].gain


def test_operations_name_their_faults_and_those_that_they_need():
    gold = [{"name": "Barthe", "pages": [2]}, {"name": "Barthou", "pages": [394, 811, 1020, 1100, 1200, 1237]}]
    predicted = [{"name": "Barthou", "pages": [2, 394, 811, 1020, 1100, 1200, 1237]}]
    comparator = Comparator(listed(obj(name=TEXT, pages=listed(NUMBER))))
    patch = comparator.compare(gold=gold, predicted=predicted).patch()
    assert [(operation.path, operation.fault) for operation in patch] == [("/-", "merged"), ("/0/pages/0", "merged")]
    duplicates = Comparator(listed(NUMBER, "set")).compare(gold=[1], predicted=[1, 7, 7]).patch()
    assert [(each.path, each.gain, each.needs) for each in duplicates] == [
        ("/2", 0.0, ()),
        ("/1", pytest.approx(1 / 3), (0,)),
    ]
    assert duplicates.to_list()[1]["needs"] == [0]
    assert duplicates.to_json_patch() == [{"op": "remove", "path": "/2"}, {"op": "remove", "path": "/1"}]


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_the_deepest_documents_are_patched(make):
    gold, predicted, shallow = 1, 2, 3
    for _ in range(500):
        gold, predicted = make(gold), make(predicted)
    assert [each.gain for each in Comparator({}).compare(gold=gold, predicted=predicted).patch()] == [0.5]
    assert [each.gain for each in Comparator({}).compare(gold=gold, predicted=make(shallow)).patch()] == [1.0]


def test_gains_that_take_long_are_computed_only_on_request(monkeypatch):
    comparison = Comparator(listed(TEXT)).compare(gold=["abc", "def"], predicted=["abd", "deg"])
    monkeypatch.setattr(repair, "MAX_WORK", 6)
    assert [each.gain for each in comparison.patch()] == [None, None]
    assert all(each.gain > 0.0 for each in comparison.patch(gains=True))
    monkeypatch.setattr(repair, "MAX_WORK", 7)
    assert all(each.gain > 0.0 for each in comparison.patch())
    assert [each.gain for each in comparison.patch(gains=False)] == [None, None]


def test_custom_distances_are_called_again_only_on_request():
    calls = []
    own = catalogue.with_distance("own", lambda gold, predicted: calls.append((gold, predicted)) or 0.5, Facts())
    schema = listed(obj(name=TEXT | {"x-arbitre": {"distance": "own"}}, born=NUMBER))
    gold, predicted = ([{"name": name * 2, "born": ord(name)} for name in names] for names in ("abcdef", "ghijkl"))
    comparison = Comparator(schema, distances=own).compare(gold=gold, predicted=predicted)
    first = len(calls)
    assert {each.gain for each in comparison.patch()} == {None}
    assert len(calls) <= 2 * first
    assert all(each.gain > 0.0 for each in comparison.patch(gains=True))


@pytest.mark.parametrize(
    ("operation", "document"),
    [
        (PatchOperation("remove", "/a"), {}),
        (PatchOperation("replace", "/a/1", 2), {"a": [1]}),
        (PatchOperation("replace", "/a/01", 2), {"a": [1, 2]}),
        (PatchOperation("replace", f"/a/{'9' * 5000}", 2), {"a": [1, 2]}),
        (PatchOperation("add", "/a/b", 2), {"a": 1}),
        (PatchOperation("add", "/3", 2), [1]),
        (PatchOperation("remove", ""), ABSENT),
    ],
)
def test_another_document_is_refused(operation, document):
    with pytest.raises(DataError, match="The document has no value to"):
        Patch([operation]).apply(document)


def test_a_comparison_that_was_read_has_no_patch():
    comparison = Comparator(NUMBER).compare(gold=1, predicted=2)
    with pytest.raises(DataError, match="The patch is not available"):
        Comparison.from_dict(comparison.to_dict()).patch()


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "gold.json").write_text('[{"name": "Ada"}, {"name": "Bó"}]', encoding="utf-8")
        (tmp_path / "predicted.json").write_text('[{"name": "Ada", "born": 1}]', encoding="utf-8")
        return lambda *more: CliRunner().invoke(app, ["compare", "gold.json", "predicted.json", *more])

    def test_the_patch_is_json_with_one_operation_per_line(self, run):
        gold, predicted = [{"name": "Ada"}, {"name": "Bó"}], [{"name": "Ada", "born": 1}]
        patch = arbitre.compare(gold=gold, predicted=predicted).patch()
        for more in ([], ["--format", "json"], ["--quiet"]):
            result = run("--patch", *more)
            assert (result.exit_code, json.loads(result.stdout)) == (0, patch.to_list())
        assert [line[:7] for line in result.stdout.splitlines()] == ["[", '  {"op"', '  {"op"', "]"]
        assert '"Bó"' in result.stdout
        assert json.loads(run("--patch", "--no-gains").stdout) == [
            {"op": "remove", "path": "/0/born", "fault": "spurious"},
            {"op": "add", "path": "/-", "value": {"name": "Bó"}, "fault": "missing"},
        ]

    def test_bounds_set_the_exit_code(self, run):
        assert run("--patch", "--fail-under", "f1q=0.9").exit_code == 1

    def test_a_note_says_that_gains_were_left_out(self, run, monkeypatch):
        monkeypatch.setattr(repair, "MAX_WORK", 1)
        assert "The gains of 2 operations were not computed" in run("--patch").stderr
        assert "gains" not in run("--patch", "--no-gains").stderr

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["--patch", "--rematch"], "cannot be combined with --patch"),
            (["--patch", "--flat"], "cannot be combined with --flat"),
            (["--no-gains"], "--no-gains requires --patch"),
        ],
    )
    def test_contradictions_are_refused(self, run, more, message):
        result = run(*more)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.replace("│", "").split())
