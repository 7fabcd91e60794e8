"""The kinds of the faults that no change repairs."""

import pytest

from arbitre import Comparator
from arbitre.causes import search
from arbitre.causes.remainder import resemblance
from arbitre.causes.search import find_causes
from arbitre.inputs.records import Pair

TEXT = {"type": "string"}
WORDS = ["modern", "number", "remember", "summer", "minimum", "grammar", "common", "hammer"]
LISTS = {"type": "array", "items": TEXT, "x-arbitre": {"distance": "jaccard"}}
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": TEXT, "place": TEXT, "year": {"type": "integer"}, "tags": LISTS},
    },
}


@pytest.fixture(autouse=True)
def _no_detectors(monkeypatch):
    monkeypatch.setattr(search, "phases", tuple)


def remaining(predicted, documents=8, schema=SCHEMA):
    """The causes by kind; `predicted` changes an entry of each document."""
    pairs = []
    for number in range(documents):
        gold = {
            "name": f"{WORDS[number % 8]} affair of the {number * 7919} {WORDS[number * 3 % 8]}",
            "place": f"Quai {chr(75 + number)}{number * 31}",
            "year": 1900 + number,
            "tags": [f"{number}a", f"{number}b"],
        }
        pairs.append(Pair(f"d{number}", None, [gold], [predicted(dict(gold), number)]))
    analysis = find_causes(Comparator(schema).plan, pairs)
    assert sum(cause.cost for cause in analysis.causes) == pytest.approx(1.0 - analysis.f1q)
    return {cause.kind: cause for cause in analysis.causes}


def test_confused_characters_are_counted():
    (near,) = remaining(
        lambda entry, _: entry | {"name": entry["name"].replace("mm", "rnm").replace("e", "c", 1)}
    ).values()
    assert near.kind == "near"
    assert near.detail["confusions"][:2] == [["e", "c", 8], ["m", "rn", 8]]


def test_characters_are_confused_after_the_normalisers():
    text = {"type": "string", "x-arbitre": {"normalize": ["casefold"]}}
    schema = {"type": "array", "items": {"type": "object", "properties": {"name": text}}}
    (near,) = remaining(
        lambda entry, _: entry | {"name": entry["name"].upper().replace("AFFAIR", "AFFAIN")}, schema=schema
    ).values()
    assert near.detail["confusions"] == [["r", "n", 8]]


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        ("the State of New York", "State of New York", "part-of"),
        ("Barthou", "Louis Barthou", "part-of"),
        ("Louis Barthou", "Louis Bartho", "near"),
        ("Discussion d'un projet de loi", "Discussion d'un pro…", "part-of"),
        ("Discussion d'un projet de loi", "Discussion ...", "part-of"),
        ("Discussion d'un projet de loi", "...", "unrelated"),
        ("a", "ab", "unrelated"),
        ("Paris", "Lyon", "unrelated"),
        ("international", "national", "part-of"),
        ("1918", 1918, "near"),
        (1918, 1978, "near"),
        (12, 13, "unrelated"),
        (True, False, "unrelated"),
        (["a", "b"], ["a"], "part-of"),
        (["a", "b"], ["b", "c", "a"], "part-of"),
        (["a", "b"], ["b", "c"], "near"),
        (["a"], ["b"], "unrelated"),
        ([], ["b"], "unrelated"),
        (["a", "b"], "b", "part-of"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "near"),
    ],
)
def test_wrong_values_are_part_of_gold_near_or_unrelated(gold, predicted, kind):
    assert resemblance(gold, predicted) == kind
    assert resemblance(predicted, gold) == kind


def test_lists_that_overlap_are_not_unrelated():
    found = remaining(
        lambda entry, number: entry | {"tags": [entry["tags"][0], "x"] if number % 2 else entry["tags"][:1]}, 16
    )
    assert {kind: cause.count for kind, cause in found.items()} == {"near": 8, "part-of": 8}


def test_documents_without_a_prediction_are_no_omissions():
    documents = [(f"d{number}", [{"name": f"{WORDS[number]} {number}"}], None) for number in range(6)]
    causes = Comparator(SCHEMA).evaluate([*documents, ("d7", [{"name": "Ada"}], [{"name": "Ada"}])]).causes
    assert [(cause.kind, cause.count) for cause in causes] == [("no-prediction", 6)]


def test_a_list_item_at_another_position_is_not_in_another_field():
    lists = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    plan = Comparator({"type": "object", "properties": {"rows": lists}}).plan
    pairs = []
    for number in range(6):
        gold = [[number * 1000 + 37, number + 2000, 5 + number], [number * 31 + 7000, 9 + number, number + 3000]]
        predicted = [gold[0][:2], [*gold[1], gold[0][2] + 5000]]
        gold[0][2] += 5000
        pairs.append(Pair(str(number), None, {"rows": gold}, {"rows": predicted}))
    assert "other-field" not in {cause.kind for cause in find_causes(plan, pairs).causes}


def test_a_value_in_another_field_is_a_moved_value_if_nothing_is_systematic():
    def predicted(entry, number):
        place, entry["place"] = entry.pop("place"), entry.pop("name")
        return entry | ({"name": place} if number else {})

    found = remaining(predicted)
    assert found["moved-value"].paths
    assert "other-field" not in found


def test_kinds_with_few_faults_are_taken_together():
    def predicted(entry, number):
        if number < 4:
            del entry["year"]
        elif number < 7:
            entry["place"] = "Rome and Naples"
        return entry

    (other,) = remaining(predicted).values()
    assert (other.kind, other.detail) == ("other", {"kinds": {"omission": 4, "unrelated": 3}})
    assert {*remaining(predicted, 2)} == {"omission"}


def test_the_source_tells_omissions_and_hallucinations_apart(tmp_path):
    documents = []
    for number in range(6):
        (tmp_path / f"d{number}.txt").write_text(
            f"The letter of Ada Lovelace number {number} to Turin", encoding="utf-8"
        )
        documents.append(
            (f"d{number}", [{"place": "Turin"}], [{"name": "Ada Lovelace" if number < 2 else "Nobody Else"}])
        )
    evaluation = Comparator(SCHEMA).evaluate(documents, source=tmp_path, diagnose=True)
    found = {cause.kind: cause for cause in evaluation.causes}
    assert found["hallucination"].detail == {"in_source": 2, "not_in_source": 4}
    assert found["hallucination"].advice == "Ask for values of the source text only; 2 of 6 are in the source text."
    assert found["omission"].detail == {"in_source": 6, "not_in_source": 0}
    assert Comparator(SCHEMA).evaluate(documents).causes[0].detail == {}


@pytest.mark.parametrize("spans", [{}, {"distance": {"span": {"label": "label"}}}])
def test_values_that_no_source_text_contains_do_not_make_an_omission_an_ocr_error(tmp_path, spans):
    documents = []
    for number in range(8):
        names = ["Ada Lovelace", "Mary Shelley", "Jane Austen"]
        text = f"On the morning of that day {', '.join(names)} met."
        (tmp_path / f"d{number}.txt").write_text(text, encoding="utf-8")
        found = [(name, at := text.index(name), at + len(name)) for name in names]
        gold = [{"text": name, "start": start, "end": end, "label": "PER"} for name, start, end in found]
        documents.append((f"d{number}", gold, gold[:2]))
    schema = {"type": "array", "items": {"type": "object", "x-arbitre": spans}}
    (cause,) = Comparator(schema).evaluate(documents, source=tmp_path, diagnose=True).causes
    assert (cause.kind, cause.detail) == ("omission", {"in_source": 8, "not_in_source": 0})
    assert cause.advice == "Ask for all values; 8 of 8 are in the source text."
