"""The texts of predictions that could not be read, in the report."""

import gzip
import json

import pytest

import arbitre
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.raw_answers import MAX_CHARACTERS, raw_answers
from arbitre.inputs.records import Failure

SCHEMA = {"type": "array", "items": {"type": "string"}}
BROKEN = '{"id": "b", "predicted": ["ink",'


def documents(folder):
    """The documents that the report of a folder of results keeps, by key."""
    return {one["key"]: one for one in json.loads((folder / "alignments.json").read_text())["kept"]}


def evaluated(folder, name, text, **options):
    """The kept documents of gold a, b, c and the predictions in a file."""
    gold = "".join(json.dumps({"id": one, "gold": ["ink"]}) + "\n" for one in "abc")
    (folder / "gold.jsonl").write_text(gold)
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    arbitre.evaluate(SCHEMA, gold=folder / "gold.jsonl", predicted=folder / name, out=folder / "out", **options)
    return documents(folder / "out")


@pytest.mark.parametrize("name", ["predicted.jsonl", "predicted.jsonl.gz"])
def test_a_failed_document_has_its_reason_and_its_line(tmp_path, name):
    kept = evaluated(tmp_path, name, f'{{"id": "a", "predicted": ["ink"]}}\n{BROKEN}\n')
    assert (kept["a"]["reason"], kept["a"]["raw"]) == (None, None)
    assert "JSON" in kept["b"]["reason"] or "line" in kept["b"]["reason"]
    assert kept["b"]["raw"] == {"text": BROKEN, "characters": len(BROKEN)}
    assert (kept["c"]["failed"], kept["c"]["reason"], kept["c"]["raw"]) == (True, None, None)


def test_a_long_answer_is_cut(tmp_path):
    long = f'{{"id": "b", "predicted": ["{"ink " * 5000}'
    kept = evaluated(tmp_path, "predicted.jsonl", f'{{"id": "a", "predicted": ["ink"]}}\n{long}\n')
    raw = kept["b"]["raw"]
    assert raw == {"text": long[:MAX_CHARACTERS], "characters": len(long)}


def test_a_failed_file_of_a_folder_is_its_answer(tmp_path):
    for side, texts in {"gold": ["[]", '["ink"]'], "predicted": ["[]", '["ink"']}.items():
        (tmp_path / side).mkdir()
        for name, text in zip("ab", texts, strict=True):
            (tmp_path / side / f"{name}.json").write_text(text)
    arbitre.evaluate(SCHEMA, gold=tmp_path / "gold", predicted=tmp_path / "predicted", out=tmp_path / "out")
    kept = documents(tmp_path / "out")
    assert kept["b"]["raw"] == {"text": '["ink"', "characters": 6}


def test_a_cell_that_could_not_be_read_is_its_answer(tmp_path):
    kept = evaluated(
        tmp_path, "predicted.csv", 'id,predicted\na,"[""ink""]"\nb,"[""ink"""\n', predicted_key="predicted"
    )
    assert kept["b"]["raw"] == {"text": '["ink"', "characters": 6}


def test_a_row_with_too_many_cells_is_shown_whole(tmp_path):
    (tmp_path / "rows.csv").write_text("id,name\nb,x,y\n")
    failure = Failure("predicted", "b", None, str(tmp_path / "rows.csv"), 2, reason="Expected 2 cells, got 3")
    assert raw_answers([failure], ReadOptions())[failure].text == '["b","x","y"]'


def test_files_that_are_gone_and_lists_of_several_documents_have_no_answer(tmp_path):
    (tmp_path / "list.json").write_text("[1, 2]")
    several = [Failure("predicted", name, None, str(tmp_path / "list.json"), reason="x") for name in "ab"]
    gone = Failure("predicted", "c", None, str(tmp_path / "gone.jsonl"), 1, reason="x")
    assert raw_answers([*several, gone, Failure("predicted", "d", reason="x")], ReadOptions()) == {}


def test_the_answers_of_the_first_failed_documents_are_kept(tmp_path):
    names = [f"d{number:02}" for number in range(30)]
    (tmp_path / "gold.jsonl").write_text("".join(f'{{"id": "{name}", "gold": ["ink"]}}\n' for name in names))
    (tmp_path / "predicted.jsonl").write_text("".join(f'{{"id": "{name}", "predicted": [\n' for name in names[1:]) +
                                              '{"id": "d00", "predicted": ["ink"]}\n')  # fmt: skip
    arbitre.evaluate(SCHEMA, gold=tmp_path / "gold.jsonl", predicted=tmp_path / "predicted.jsonl", out=tmp_path / "out")
    kept = documents(tmp_path / "out")
    assert sum(one["reason"] is not None for one in kept.values()) == 29
    assert [name for name, one in kept.items() if one["raw"] is not None] == names[1:21]


@pytest.mark.parametrize(("answer", "got"), [(None, "none"), ({"name": "Ada"}, "dict")])
def test_an_answer_that_is_no_text_is_refused(answer, got):
    for strictness in ("lenient", "strict"):
        with pytest.raises(arbitre.DataError, match=f"Expected the text of an answer, got {got}"):
            arbitre.read_answer(answer, strictness=strictness)
