"""Missing and spurious values that occur in the texts given to the model or in the gold of other documents."""

import csv
import json
import math
import random
import re

import pytest
from jsonschema import Draft202012Validator
from tests.oracle.senate import DATA, HERE
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.diagnosis.evidence import MAX_SEARCHED, adjacent_ids, is_searched, natural_order, search_halvings
from arbitre.errors import DataError
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.source_texts import SourceTexts
from arbitre.report.report_files import read_view

PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "pages": {"type": "array"}}}
PEOPLE = {"type": "array", "items": PERSON}
BRIAND = [31, 32, 33, 34]
GOLD = [
    {"name": "Barthe", "pages": [2, 394, 811]},
    {"name": "Briand", "pages": BRIAND},
    {"name": "Gasnier", "pages": [5]},
]
PREDICTED = [{"name": "Barthe", "pages": [2, 811]}, {"name": "Briand", "pages": [*BRIAND, 720, 999]}]
TEXT = "Barthe, p. 2, 394, 811.\nGasnjer, p. 5.\nDoumer, p. 720."


@pytest.fixture
def corpus(tmp_path):
    for side, value in (("gold", GOLD), ("predicted", PREDICTED)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "page_1.json").write_text(json.dumps(value))
    (tmp_path / "schema.json").write_text(json.dumps(PEOPLE))
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "page_1.txt").write_text(TEXT)
    return tmp_path


def run(folder, *arguments, code=0):
    names = [f"--{name}={folder / name}" for name in ("gold", "predicted", "source")]
    result = CliRunner().invoke(
        app, ["evaluate", f"--schema={folder / 'schema.json'}", *names, *map(str, arguments)], env={"COLUMNS": "100"}
    )
    assert result.exit_code == code, result.output
    return result.output


def counts(evaluation):
    return {(row.path, row.fault): (row.in_source, row.not_in_source) for row in evaluation.diagnosis.source.counts}


def test_values_are_marked_in_the_table_and_counted_by_path(corpus):
    evaluation = arbitre.evaluate(
        PEOPLE, gold=corpus / "gold", predicted=corpus / "predicted", source=corpus / "source", diagnose=True
    )
    assert counts(evaluation) == {
        ("/*/name", "missing"): (0, 1),  # "Gasnjer"
        ("/*/pages/*", "missing"): (2, 0),  # 394, and 5 in the missing entry
        ("/*/pages/*", "spurious"): (1, 1),  # 720 and 999
    }
    table = evaluation.faults()
    shares = dict(zip(zip(table["path"], table["predicted"], strict=True), table["in_source"].tolist(), strict=True))
    assert shares["/*/pages/*", None] == 1.0
    assert shares["/*", None] == 0.5
    assert (shares["/*/pages/*", "720"], shares["/*/pages/*", "999"]) == (1.0, 0.0)


def test_the_command_line_writes_the_same_results_and_explains_them(corpus):
    out = corpus / "out"
    shown = run(corpus, "--diagnose", "--out", out)
    assert "Missing and spurious values in the source texts" in shown
    assert "Where values are missing" in shown
    written = json.loads((out / "evaluation.json").read_text())
    Draft202012Validator(bundled.schema("evaluation.schema.json")).validate(written)
    evaluation = arbitre.evaluate(
        PEOPLE, gold=corpus / "gold", predicted=corpus / "predicted", source=corpus / "source", diagnose=True
    )
    assert written["diagnosis"] == json.loads(json.dumps(evaluation.diagnosis.to_dict()))
    assert arbitre.load(out).diagnosis == evaluation.diagnosis
    with (out / "faults.csv").open() as file:
        assert [row["in_source"] for row in csv.DictReader(file)] == ["1.0", "0.5", "1.0", "0.0"]
    page = (out / "report.html").read_text()
    assert "Missing and spurious values in the source texts" in page
    assert "Valeurs manquantes et en trop dans les textes sources" in run_report(corpus)


def run_report(corpus):
    run(corpus, "--diagnose", "--out", corpus / "fr", "--lang", "fr")
    return (corpus / "fr" / "report.html").read_text()


def test_without_source_no_value_is_marked():
    evaluation = arbitre.evaluate(PEOPLE, [("page_1", GOLD, PREDICTED)], diagnose=True)
    assert evaluation.diagnosis.source is None
    assert "source" not in evaluation.diagnosis.to_dict()


def test_triples_are_joined_with_their_texts_by_id(corpus):
    evaluation = arbitre.evaluate(
        PEOPLE,
        iter([("page_1", GOLD, PREDICTED), ("page_2", GOLD, PREDICTED)]),
        diagnose=True,
        source=corpus / "source",
    )
    source = evaluation.diagnosis.source
    assert (source.with_text, source.without_text) == (1, 1)
    assert counts(evaluation)["/*/pages/*", "spurious"] == (1, 1)


def test_the_text_of_a_run_comes_before_that_of_the_document(tmp_path):
    for side, names in {"gold": ["p1"], "predicted": ["p1_a", "p1_b"], "source": ["p1", "p1_b"]}.items():
        (tmp_path / side).mkdir()
        for name in names:
            text = {"gold": GOLD, "predicted": PREDICTED}.get(side)
            content = json.dumps(text) if text else TEXT if name == "p1" else "Barthe, p. 2"
            (tmp_path / side / f"{name}.{'json' if text else 'txt'}").write_text(content)
    evaluation = arbitre.evaluate(
        PEOPLE,
        gold=tmp_path / "gold",
        predicted=tmp_path / "predicted",
        source=tmp_path / "source",
        id_pattern=r"(p\d+)(?:_(?P<run>.+))?",
        diagnose=True,
    )
    assert evaluation.diagnosis.source.with_text == 2
    assert counts(evaluation)["/*/pages/*", "missing"] == (2, 2)


def test_the_rest_of_a_file_name_is_not_a_run(corpus):
    (corpus / "source" / "page_1.txt").rename(corpus / "source" / "page_1_ocr.txt")
    sides = {side: corpus / side for side in ("gold", "predicted", "source")}
    evaluation = arbitre.evaluate(PEOPLE, **sides, id_pattern=r"page_\d+", diagnose=True)
    assert evaluation.diagnosis.source.with_text == 1
    (corpus / "source" / "page_1_corrected.txt").write_text(TEXT)
    with pytest.raises(DataError, match="Expected one text for 'page_1'") as caught:
        arbitre.evaluate(PEOPLE, **sides, id_pattern=r"page_\d+", diagnose=True)
    assert "a group named run in --id-pattern" in caught.value.hint


def test_texts_of_no_document_are_an_error(corpus):
    (corpus / "source" / "page_1.txt").rename(corpus / "source" / "page_9.txt")
    assert "No document has a source text" in run(corpus, "--diagnose", code=2)


@pytest.mark.parametrize("name", ["page_1.json", None])
def test_a_folder_without_texts_is_an_error(corpus, name):
    (corpus / "source" / "page_1.txt").unlink()
    if name is None:
        (corpus / "source").rmdir()
    else:
        (corpus / "source" / name).write_text("{}")
    with pytest.raises(DataError):
        arbitre.evaluate(PEOPLE, [("page_1", GOLD, PREDICTED)], diagnose=True, source=corpus / "source")


def test_a_text_that_is_not_unicode_is_an_error(corpus):
    (corpus / "source" / "page_1.txt").write_bytes(b"Br\xe9mond")
    with pytest.raises(DataError, match="UTF-8"):
        arbitre.evaluate(PEOPLE, [("page_1", GOLD, PREDICTED)], diagnose=True, source=corpus / "source")


def test_spurious_values_are_looked_for_in_the_documents_before_and_after():
    pages = {f"page_{number}": [{"name": "Barthe", "pages": [number * 100 + 37]}] for number in (9, 10, 11, 12)}
    predicted = {name: [dict(one[0], pages=list(one[0]["pages"]))] for name, one in pages.items()}
    predicted["page_10"][0]["pages"] += [937, 1137, 1237]  # before, after, and two pages later
    evaluation = arbitre.evaluate(
        PEOPLE, [(name, pages[name], predicted[name]) for name in sorted(pages)], diagnose=True, no_chance=True
    )
    (row,) = evaluation.diagnosis.neighbours
    assert (row.path, row.spurious, row.in_neighbours) == ("/*/pages/*", 3, 2)


def test_neighbours_are_the_previous_and_next_ids_in_natural_order():
    draw = random.Random(5)  # noqa: S311
    ids = [f"{draw.choice('ab')}_{number}" for number in draw.sample(range(400), 90)]
    ordered = sorted(ids, key=natural_order)
    some = set(draw.sample(ids, 30))
    expected = {
        one: [(ids[ids.index(other)], ids.index(other)) for other in (*ordered[:at][-1:], *ordered[at + 1 :][:1])]
        for at, one in enumerate(ordered)
        if one in some
    }
    assert adjacent_ids(some, [*ids, *ids[::3]]) == expected
    assert adjacent_ids(some, []) == {key: [] for key in some}


@pytest.mark.slow
def test_a_sample_of_a_large_corpus_has_the_share_of_all_its_documents():
    """A fifth of the spurious values is planted from the previous document; the others are in no document."""
    draw, pairs, planted = random.Random(7), [], 0  # noqa: S311
    for number in range(1500):
        borrowed = number > 0 and draw.random() < 0.2
        planted += borrowed
        gold = [{"name": "Barthe", "pages": [number * 10]}]
        added = (number - 1) * 10 if borrowed else number * 10 + 5
        pairs.append((f"page_{number}", gold, [{"name": "Barthe", "pages": [number * 10, added]}]))
    (row,) = arbitre.evaluate(PEOPLE, pairs, diagnose=True, no_chance=True).diagnosis.neighbours
    assert row.spurious == sum(is_searched(identity, search_halvings(1500)) for identity, _, _ in pairs)
    assert MAX_SEARCHED / 2 < row.spurious < MAX_SEARCHED
    share = planted / 1500
    assert abs(row.in_neighbours / row.spurious - share) < 3 * math.sqrt(share * (1 - share) / row.spurious)


def test_results_do_not_depend_on_the_workers(corpus):
    pairs = [(f"page_{number}", GOLD, PREDICTED) for number in range(150)]
    for number in range(150):
        (corpus / "source" / f"page_{number}.txt").write_text(TEXT)
    one, two = (
        arbitre.evaluate(PEOPLE, pairs, diagnose=True, source=corpus / "source", workers=workers, no_chance=True)
        for workers in (1, 2)
    )
    assert one.diagnosis == two.diagnosis


@HERE
def test_missing_page_numbers_of_the_senate_stand_in_the_text():
    schema = bundled.schema("examples/senat-iou.schema.json")
    del schema["properties"]["listes_des_intervenants"]["items"]["properties"]["references_pages"]["x-arbitre"]
    evaluation = arbitre.evaluate(
        schema,
        gold=DATA / "gold",
        predicted=DATA / "predicted",
        source=DATA / "source",
        id_pattern=r"(page_\d+)(?:_(?P<run>.+))?",
        diagnose=True,
        no_chance=True,
    )
    pages = "/listes_des_intervenants/*/references_pages/*"
    assert evaluation.diagnosis.source.with_text == 9
    assert counts(evaluation)[pages, "missing"] == (32, 0)
    assert counts(evaluation)[pages, "spurious"] == (51, 0)
    rows = {
        row.group: row for row in evaluation.diagnosis.missing_groups if (row.path, row.property) == (pages, "digits")
    }
    assert {group: (row.missing, row.gold) for group, row in rows.items()} == {
        "1": (0, 10),
        "2": (0, 48),
        "3": (5, 800),
        "4": (13, 735),
    }
    assert rows["4"].p == pytest.approx(0.0316, abs=1e-4)
    assert rows["4"].p_adjusted > 0.05  # not confirmed


def test_pictures_of_a_source_are_listed_if_they_are_wanted(tmp_path):
    for name in ("a.txt", "a.PNG", "b.jpg", "notes.md"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    documents = [("a", None), ("b", None), ("c", None)]
    found = SourceTexts.of(tmp_path, ReadOptions(), documents, pictures=True)
    assert [found.image(*one) for one in documents] == [str(tmp_path / "a.PNG"), str(tmp_path / "b.jpg"), None]
    assert [found.read(*one) for one in documents] == ["x", None, None]
    assert SourceTexts.of(tmp_path, ReadOptions(), documents).images == {}
    (tmp_path / "a.txt").unlink()
    with pytest.raises(DataError, match=r"folder of \.txt files, got none"):
        SourceTexts.of(tmp_path, ReadOptions(), documents)
    (tmp_path / "b.png").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match=r"Expected one picture for 'b', got 'b\.jpg' and 'b\.png'"):
        SourceTexts.of(tmp_path, ReadOptions(), documents, pictures=True)


# Sources beside the examples of the report.


def examples(folder):
    """The examples of the causes in the report of a folder of results."""
    return [
        example
        for subject in read_view([folder]).subjects
        for row in subject.causes["rows"]
        for example in row["examples"]
    ]


def ranked(corpus, *more, systems=("one", "two")):
    names = [f"{name}={corpus / 'predicted'}" for name in systems]
    given = [f"--schema={corpus / 'schema.json'}", f"--gold={corpus / 'gold'}", f"--source={corpus / 'source'}"]
    result = CliRunner().invoke(app, ["rank", *given, *names, *more], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result.output


def test_the_report_has_an_excerpt_beside_each_example_without_a_diagnosis(corpus):
    run(corpus, "--out", corpus / "out")
    found = examples(corpus / "out")
    assert len(found) >= 4
    assert {(one["source"]["file"], one["source"]["text"]) for one in found} == {("page_1.txt", TEXT)}
    by_value = {one.get("gold", one.get("predicted")): one["source"]["marks"] for one in found if one["path"] != "/*"}
    ((start, end, kind),) = by_value[394]
    assert (TEXT[start:end], kind) == ("394", "gold")
    ((start, end, kind),) = by_value[720]
    assert (TEXT[start:end], kind) == ("720", "predicted")
    assert {(kind, TEXT[start:end]) for start, end, kind in by_value[999]} == {("entry", "720")}
    written = json.loads((corpus / "out" / "evaluation.json").read_text())
    assert "diagnosis" not in written
    assert "source" not in written["causes"]["causes"][0]["examples"][0]


def test_pictures_are_linked_from_every_page(corpus):
    (corpus / "source" / "page_1.txt").unlink()
    (corpus / "source" / "page_1.PNG").write_bytes(b"")
    (corpus / "source" / "page_2 ü.png").write_bytes(b"")
    ranked(corpus, "--out", str(corpus / "out"))
    for folder, page in ((corpus / "out", corpus / "out"), (corpus / "out" / "one", corpus / "out" / "one")):
        for one in examples(folder):
            assert one["source"]["file"] == "page_1.PNG"
            assert (page / one["source"]["image"]).resolve() == corpus / "source" / "page_1.PNG"
    elsewhere = corpus / "pages" / "both.html"
    elsewhere.parent.mkdir()
    arbitre.write_report([corpus / "out" / name for name in ("one", "two")], out=elsewhere)
    (shown,) = set(re.findall(r'"image": ?"([^"]*)"', elsewhere.read_text()))
    assert (elsewhere.parent / shown).resolve() == corpus / "source" / "page_1.PNG"


def test_a_text_and_a_picture_of_a_document_are_both_shown(corpus):
    (corpus / "source" / "page_1.jpg").write_bytes(b"")
    run(corpus, "--out", corpus / "out")
    (source, *_) = (one["source"] for one in examples(corpus / "out"))
    assert (source["file"], source["image"]) == ("page_1.txt", "../source/page_1.jpg")
    assert source["marks"]


def test_a_report_that_is_made_again_has_the_same_sources(corpus):
    ranked(corpus, "--out", str(corpus / "out"))
    page = (corpus / "out" / "report.html").read_bytes()
    assert b"Gasnjer" in page
    arbitre.write_report(corpus / "out")
    assert (corpus / "out" / "report.html").read_bytes() == page


def test_a_source_that_cannot_be_read_is_an_error_before_the_documents_are_compared(corpus):
    (corpus / "source" / "page_1.txt").unlink()
    assert "Expected a folder of .txt files" in run(corpus, code=2)
