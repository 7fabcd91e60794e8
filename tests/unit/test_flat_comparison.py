"""Solidarity and the flat comparison: definition, edge cases, the corpus, the files and the command line."""

from __future__ import annotations

import copy
import json
import os
import random
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import ABSENT, Comparator, Comparison, DataError, FlatComparison, bundled
from arbitre.cli import app
from arbitre.diagnosis import solidarity

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "pages": {"type": "array", "items": {"type": "integer"}}},
    },
}
PEOPLE = Comparator(SCHEMA)
GOLD = [{"name": "Curie", "pages": [3, 117]}, {"name": "Joliot", "pages": [8, 342]}]
SWAPPED = [{"name": "Curie", "pages": [8, 342]}, {"name": "Joliot", "pages": [3, 117]}]
DOCUMENTS = [("a", GOLD, SWAPPED), ("b", GOLD, GOLD), ("c", GOLD, ABSENT)]


def diagnosis(gold, predicted, comparator=PEOPLE):
    return comparator.compare(gold=gold, predicted=predicted).diagnosis


def test_solidarity_is_the_share_of_the_flat_quality_reached_in_the_own_entries():
    diagnosed = diagnosis(GOLD, SWAPPED)
    in_entries = PEOPLE.compare(gold=GOLD, predicted=SWAPPED).leaves.quality_mass
    assert diagnosed.flat.quality_mass == 6.0
    assert diagnosed.solidarity == pytest.approx(in_entries / 6.0)
    assert diagnosed.solidarity_by_path["/*/pages/*"] * 4.0 + diagnosed.solidarity_by_path[
        "/*/name"
    ] * 2.0 == pytest.approx(in_entries)


def test_solidarity_is_none_if_nothing_can_be_reached():
    for predicted in ([], [{"name": "", "pages": []}], ABSENT):
        assert diagnosis(GOLD, predicted).solidarity is None
    assert diagnosis([], []).solidarity == 1.0  # empty lists match


def test_solidarity_is_none_under_transport():
    diagnosed = diagnosis(GOLD, SWAPPED, Comparator(SCHEMA, match="transport"))
    assert diagnosed.solidarity is None
    assert set(diagnosed.solidarity_by_path.values()) == {None}
    assert diagnosed.flat.f1q == 1.0


def test_flat_scores_ignore_entries():
    diagnosed = diagnosis(GOLD, [{"name": "Joliot"}, {"pages": [3, 9]}, {"name": "Curie"}])
    assert (diagnosed.flat.gold, diagnosed.flat.predicted, diagnosed.flat.matched, diagnosed.flat.quality_mass) == (
        6,
        4,
        4,
        3,
    )
    assert diagnosed.flat_by_path["/*/name"].f1q == 1.0
    assert diagnosed.flat.variance is None


def test_empty_lists_are_flat_leaves():
    diagnosed = diagnosis([{"pages": []}, {"pages": [1]}], [{"pages": [1]}, {"pages": []}, {"pages": []}])
    assert diagnosed.flat_by_path["/*/pages"].to_dict() | {"gold": 1.0, "predicted": 2.0, "matched": 1.0} == (
        diagnosed.flat_by_path["/*/pages"].to_dict()
    )


def test_values_of_different_kinds_are_not_matched():
    diagnosed = diagnosis([{"name": "8"}], [{"name": 8}])
    assert (diagnosed.flat.gold, diagnosed.flat.predicted, diagnosed.flat.matched) == (1, 1, 0)


def test_a_large_flat_matching_is_a_lower_bound(monkeypatch):
    names = [f"person {at:02}" for at in range(30)]
    gold, predicted = [{"name": name} for name in names], [{"name": f"{name}x"} for name in names]
    exact = diagnosis(gold, predicted)
    monkeypatch.setattr(solidarity, "MAX_CELLS", 50)
    bounded = diagnosis(gold, predicted)
    assert (exact.flat_exact, bounded.flat_exact) == (True, False)
    assert 0.0 < bounded.flat.quality_mass <= exact.flat.quality_mass + 1e-9
    assert bounded.flat.matched == exact.flat.matched


def test_a_custom_distance_is_not_called_again():
    calls = []

    def same(gold, predicted):
        calls.append((gold, predicted))
        return 0.1 if gold[0] == predicted[0] else 1.0

    name = {"type": "string", "x-arbitre": {"distance": "same"}}
    items = {"type": "object", "properties": {"id": {"type": "integer"}, "name": name}}
    comparator = Comparator(
        {"type": "array", "items": items, "x-arbitre": {"match": {"keyed": {"key": "id"}}}}, distances={"same": same}
    )
    gold = [{"id": at, "name": name} for at, name in enumerate(["Ada", "Bob", "Eve", "Zoe"])]
    predicted = [{"id": at, "name": name} for at, name in enumerate(["Adam", "Eve", "Bob", "Joe"])]
    comparison = comparator.compare(gold=gold, predicted=predicted)
    calls.clear()
    diagnosed = comparison.diagnosis
    assert calls == []
    assert diagnosed.flat_by_path["/*/name"].quality_mass == pytest.approx(0.9 + 2.0)
    assert diagnosed.solidarity_by_path["/*/name"] == pytest.approx(0.9 / 2.9)
    assert not diagnosed.flat_exact


def test_the_diagnosis_is_computed_once():
    comparison = PEOPLE.compare(gold=GOLD, predicted=SWAPPED)
    assert comparison.diagnosis is comparison.diagnosis


def test_a_comparison_read_from_json_keeps_its_diagnosis():
    comparison = PEOPLE.compare(gold=GOLD, predicted=SWAPPED)
    plain = json.loads(json.dumps(comparison.to_dict()))
    again = Comparison.from_dict(plain)
    assert again.diagnosis == comparison.diagnosis
    assert again.to_dict() == plain
    schema = json.loads((bundled.schemas() / "comparison.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(plain)


def test_a_comparison_read_from_json_without_diagnosis_raises_an_error():
    plain = PEOPLE.compare(gold=GOLD, predicted=SWAPPED).to_dict()
    del plain["diagnosis"]
    again = Comparison.from_dict(plain)
    with pytest.raises(DataError, match="Compare the documents again"):
        again.diagnosis  # noqa: B018
    assert "diagnosis" not in again.to_dict()


def test_compare_flat_is_the_flat_part_of_the_diagnosis():
    diagnosed = PEOPLE.compare_flat(gold=GOLD, predicted=SWAPPED)
    plain = diagnosis(GOLD, SWAPPED).to_dict()
    assert diagnosed.to_dict() == {name: plain[name] for name in diagnosed.to_dict()}


def test_the_solidarity_of_a_corpus_pools_its_documents():
    evaluation = PEOPLE.evaluate(DOCUMENTS)
    in_entries = sum(PEOPLE.compare(gold=gold, predicted=given).leaves.quality_mass for _, gold, given in DOCUMENTS)
    assert evaluation.flat_comparison is None
    assert evaluation.solidarity == pytest.approx(in_entries / 12.0)
    assert (evaluation.flat.gold, evaluation.flat.quality_mass) == (18.0, 12.0)
    assert evaluation.flat_by_path["/*/name"].gold == 6.0
    assert "solidarity" not in evaluation.to_dict()


@pytest.mark.parametrize("option", ["flat", "diagnose"])
def test_the_files_of_a_corpus_contain_the_flat_comparison(tmp_path, option):
    evaluation = PEOPLE.evaluate(DOCUMENTS, out=tmp_path, **{option: True})
    plain = json.loads((tmp_path / "evaluation.json").read_text(encoding="utf-8"))
    schema = json.loads((bundled.schemas() / "evaluation.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(plain)
    assert FlatComparison.from_dict(plain) == evaluation.flat_comparison
    assert plain["solidarity"] == evaluation.solidarity
    loaded = arbitre.load(tmp_path)
    assert loaded.solidarity == evaluation.solidarity
    assert loaded.to_dict() == evaluation.to_dict()


def test_the_order_of_the_documents_does_not_change_the_flat_comparison():
    first = PEOPLE.evaluate(DOCUMENTS, flat=True).flat_comparison
    assert PEOPLE.evaluate(DOCUMENTS[::-1], flat=True).flat_comparison == first


def test_a_loaded_evaluation_without_flat_comparison_raises_an_error(tmp_path):
    PEOPLE.evaluate(DOCUMENTS, out=tmp_path)
    with pytest.raises(DataError, match="no longer available"):
        arbitre.load(tmp_path).solidarity  # noqa: B018


def test_the_solidarity_of_changed_documents_is_refused():
    predicted = copy.deepcopy(GOLD)
    evaluation = PEOPLE.evaluate([("a", GOLD, predicted)])
    predicted[0]["name"] = "X"
    with pytest.raises(DataError, match="changed after the evaluation"):
        evaluation.solidarity  # noqa: B018


@pytest.mark.parametrize(("language", "words"), [("en", "Solidarity"), ("fr", "Solidarité")])
def test_the_report_shows_the_solidarity(tmp_path, language, words):
    PEOPLE.evaluate(DOCUMENTS, out=tmp_path, flat=True, lang=language)
    assert words in (tmp_path / "report.html").read_text(encoding="utf-8")
    PEOPLE.evaluate(DOCUMENTS, out=tmp_path / "plain", lang=language)
    assert words not in (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def files(tmp_path):
    for name, document in (("schema", SCHEMA), ("gold/a", GOLD), ("predicted/a", SWAPPED)):
        file = tmp_path / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(document), encoding="utf-8")
    return {name: str(tmp_path / f"{name}.json") for name in ("schema", "gold/a", "predicted/a")}


def run(*arguments):
    return CliRunner().invoke(app, list(map(os.fspath, arguments)), env={"COLUMNS": "100"})


def test_compare_flat_shows_the_flat_comparison_alone(files):
    arguments = ["compare", files["gold/a"], files["predicted/a"], "--schema", files["schema"], "--flat"]
    text = run(*arguments).output
    assert "Flat f1q 1.0000, solidarity 0." in text
    assert "Verdicts" not in text
    plain = json.loads(run(*arguments, "--format", "json").stdout)
    assert FlatComparison.from_dict(plain) == PEOPLE.compare_flat(gold=GOLD, predicted=SWAPPED)


def test_compare_flat_refuses_options_about_other_scores(files):
    result = run("compare", files["gold/a"], files["predicted/a"], "--schema", files["schema"], "--flat", "--published")
    assert result.exit_code == 2
    assert "combined with --flat" in " ".join(result.output.replace("│", " ").split())


def test_compare_shows_the_solidarity_and_the_moved_values(files):
    Path(files["predicted/a"]).write_text(json.dumps(SWAPPED[::-1]), encoding="utf-8")
    text = run("compare", files["gold/a"], files["predicted/a"], "--schema", files["schema"]).output
    assert "solidarity (values in right entry): 0." in text
    assert "Moved values" in text


@pytest.mark.slow
def test_evaluate_flat_shows_the_flat_comparison_alone(files):
    arguments = ["evaluate", "--schema", files["schema"]]
    for side in ("gold", "predicted"):
        arguments += [f"--{side}", str(Path(files[f"{side}/a"]).parent)]
    text = run(*arguments, "--flat").output
    assert "solidarity" in text
    assert "Confidence intervals" not in text
    plain = json.loads(run(*arguments, "--flat", "--format", "json").stdout)
    assert {"solidarity", "flat", "flat_by_path", "flat_exact", "solidarity_by_path", "micro"} <= plain.keys()


def test_solidarity_is_compared_with_values_that_are_exchanged_at_random(tmp_path):
    draw = random.Random(5)  # noqa: S311
    words = ["".join(draw.choices("abcdefghilmnoprstu", k=8)) for _ in range(240)]
    fields = {name: {"type": "string"} for name in ("name", "role", "town")}
    comparator = arbitre.Comparator({"type": "array", "items": {"properties": fields}})
    gold = [dict(zip(fields, words[3 * at : 3 * at + 3], strict=True)) for at in range(12)]
    columns = {name: draw.sample([row[name] for row in gold], 12) for name in fields}
    noise = [{name: columns[name][at] for name in fields} for at in range(12)]
    right, random_ = (comparator.compare(gold=gold, predicted=one).diagnosis for one in (gold, noise))
    assert right.solidarity == 1.0 > right.solidarity_chance + 0.2
    assert random_.solidarity == pytest.approx(random_.solidarity_chance, abs=0.1)
    assert comparator.compare_flat(gold=gold, predicted=noise).solidarity_chance == random_.solidarity_chance
    assert random_.solidarity_chance_by_path.keys() == random_.solidarity_by_path.keys()
    corpus = [("a", gold, noise), ("b", gold, gold), ("c", gold, arbitre.ABSENT)]
    evaluation = comparator.evaluate(corpus, flat=True, out=tmp_path / "out")
    chance = evaluation.flat_comparison.solidarity_chance
    assert chance == comparator.evaluate(corpus[::-1], flat=True).flat_comparison.solidarity_chance
    assert chance == pytest.approx(random_.solidarity_chance, abs=0.1)
    assert json.loads((tmp_path / "out" / "evaluation.json").read_bytes())["solidarity_chance"] == chance
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "by chance, if values are exchanged between entries" in page


def test_values_under_aliases_are_exchanged_too():
    named = {"type": "string", "x-arbitre": {"aliases": ["label"]}}
    comparator = arbitre.Comparator({"type": "array", "items": {"properties": {"name": named, "page": {}}}})
    gold = [{"name": "Vauquelin", "page": 11}, {"name": "Chomsky", "page": 52}, {"name": "Oudinot", "page": 97}]
    aliased = [{"label": row["name"], "page": row["page"]} for row in gold]
    chances = [comparator.compare_flat(gold=gold, predicted=one).solidarity_chance for one in (gold, aliased)]
    assert chances[0] == chances[1] < 1.0


def test_the_documents_are_not_compared_a_second_time_for_the_chance_value(monkeypatch):
    counted = []
    compare_to_levels = solidarity.compare_to_levels

    def counting(plan, gold, predicted):
        counted.append(len(gold))
        return compare_to_levels(plan, gold, predicted)

    monkeypatch.setattr(solidarity, "compare_to_levels", counting)
    comparator = arbitre.Comparator({"type": "array", "items": {"properties": {"name": {}, "page": {}}}})
    gold = [{"name": "Vauquelin", "page": 11}, {"name": "Chomsky", "page": 52}]
    flat = comparator.compare_flat(gold=gold, predicted=gold[::-1])
    diagnosis = comparator.compare(gold=gold, predicted=gold[::-1]).diagnosis
    assert flat.solidarity_chance == diagnosis.solidarity_chance is not None
    assert counted == [solidarity.SHUFFLES] * 2


def test_values_without_others_to_exchange_with_are_not_compared_again(monkeypatch):
    monkeypatch.delattr(solidarity, "compare_to_levels")
    comparator = arbitre.Comparator({"properties": {"title": {"type": "string"}, "pages": {"items": {}}}})
    gold = {"title": "Vauquelin", "pages": [11, 52]}
    flat = comparator.compare_flat(gold=gold, predicted={"title": "Vauqelin", "pages": [11]})
    assert flat.solidarity_chance == flat.solidarity == 1.0
    assert flat.solidarity_chance_by_path == flat.solidarity_by_path


@pytest.mark.parametrize(
    ("size", "length", "match", "shuffles"),
    [
        (20, 8, "hungarian", solidarity.SHUFFLES),
        (20, 2_000, "hungarian", 10),
        (20, 8_000, "hungarian", 1),
        (20, 20_000, "hungarian", 0),
        (2_000, 8, "hungarian", 3),
        (9_000, 8, "hungarian", 0),
        (9_000, 8, "ordered", 3),
    ],
)
def test_the_number_of_shuffles_depends_on_the_pairs_and_the_lengths_of_the_texts(
    monkeypatch, size, length, match, shuffles
):
    counted = []

    def counting(_plan, gold, _predicted):
        counted.append(len(gold))
        raise DataError("stop")

    monkeypatch.setattr(solidarity, "compare_to_levels", counting)
    comparator = arbitre.Comparator({"items": {"type": "string"}, "x-arbitre": {"match": match}})
    texts = [f"{number:0{length}}" for number in range(size)]
    comparator.compare_flat(gold=texts, predicted=texts)
    assert counted == [shuffles] * (shuffles > 0)


def test_a_corpus_with_a_document_that_cannot_be_compared_has_a_chance_value():
    keyed = {
        "type": "array",
        "items": {"properties": {"k": {}, "v": {}}},
        "x-arbitre": {"match": {"keyed": {"key": "k"}}},
    }
    gold = [{"k": at, "v": f"value {at}"} for at in range(4)]
    corpus = [("a", gold, gold), ("b", gold, [{"k": 10**400, "v": "x"}, {"k": float("nan"), "v": "y"}])]
    flat = arbitre.Comparator(keyed).evaluate(corpus, flat=True).flat_comparison
    assert flat.solidarity_chance is not None


def test_missing_keys_that_count_as_null_are_exchanged_as_null():
    d = {"type": ["string", "null"], "x-arbitre": {"null": "credit"}}
    entry = {"type": "object", "properties": {"name": {"type": "string"}, "d": d}}
    comparator = arbitre.Comparator({"type": "array", "items": entry})
    gold = [{"name": "Vauquelin", "d": "x"}, {"name": "Chomsky"}, {"name": "Oudinot"}]
    written = [{"d": None, **row} for row in gold]
    chances = [comparator.compare(gold=gold, predicted=one).diagnosis.solidarity_chance for one in (gold, written)]
    assert chances[0] == chances[1] < 1.0
