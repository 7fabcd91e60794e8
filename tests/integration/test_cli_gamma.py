"""`arbitre gamma`: formats of files, documents, figures of the function, warnings and errors."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from arbitre import DataError, OptionError, agreement, bundled
from arbitre.cli import app

WRONG = {"alex": [(0, 2, "A"), (2, 4, "A"), (4, 6, "A"), (8, 9, "A")], "suzan": [(0, 6, "A"), (8, 9, "B")]}
RIGHT = WRONG | {"suzan": [(0, 2, "A"), (2.5, 4, "A"), (5, 7, "A"), (8, 9, "B")]}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("NO_COLOR", "1")


def file(name, text):
    Path(name).write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return name


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["gamma", *arguments])
    assert result.exit_code == code, result.output
    return result


def plain(*arguments):
    printed = json.loads(run(*arguments, "--format", "json").stdout)
    jsonschema.validate(printed, bundled.schema("agreement.schema.json"))
    assert printed["format"] == "arbitre-gamma/1"
    return printed


def records(documents, scale=1):
    """Records with spans; positions are multiplied, because those in files are integers."""
    return "\n".join(
        json.dumps(
            {
                "id": identity,
                "spans": [{"start": int(s * scale), "end": int(e * scale), "label": label} for s, e, label in spans],
            }
        )
        for identity, spans in documents.items()
    )


def pages(continua, scale=1):
    """One file per annotator, from continua by id; returns the arguments of the command."""
    names = sorted({name for continuum in continua.values() for name in continuum})
    return [
        f"{name}={file(f'{name}.jsonl', records({i: c[name] for i, c in continua.items() if name in c}, scale))}"
        for name in names
    ]


def test_the_command_prints_the_figures_of_the_function():
    continua = {"2": WRONG, "1": RIGHT}
    arguments = pages(continua, 2)
    printed = plain(*arguments, "--alpha", "3", "--beta", "2", "--unmatched", "0.5", "--seed", "4")
    sources = dict(argument.split("=") for argument in arguments)
    result = agreement.agree_spans(sources, alpha=3.0, beta=2.0, unmatched=0.5, seed=4)
    assert printed == json.loads(json.dumps(result.to_dict()))
    doubled = [
        {name: [(2 * s, 2 * e, label) for s, e, label in row] for name, row in continua[i].items()} for i in "12"
    ]
    for expected in ("local", "global"):
        coefficient = agreement.gamma(doubled, alpha=3.0, beta=2.0, unmatched=0.5, seed=4, expected=expected)
        assert printed["gamma"][expected] == json.loads(json.dumps(coefficient.to_dict()))
    assert printed["disorder"]["observed"] == pytest.approx(0.5 * (1.0 - result.gamma["local"].observed))


def test_other_units_get_a_lower_gamma_than_the_same_units_with_one_other_label():
    wrong, right = (plain(*pages({"1": continuum}, 2), "--alpha", "3") for continuum in (WRONG, RIGHT))
    assert wrong["gamma"]["local"]["value"] < 0.3 < right["gamma"]["local"]["value"]
    assert right["exchanged"] == [{"labels": ["A", "B"], "pairs": 1}]
    assert right["pairs"] == 4


def test_local_and_global_gamma_are_printed_with_their_sampling_errors():
    arguments = pages({"1": WRONG, "2": RIGHT}, 2)
    printed, text = plain(*arguments), run(*arguments).stdout
    for expected in ("local", "global"):
        assert f"{printed['gamma'][expected]['value']:.4f}" in text
        assert f"{printed['error'][expected]:.4f}" in text
        assert f"{printed['disorder'][expected]:.4f}" in text
    assert "A / B" in text
    assert "alpha 1 (position), beta 1 (label), unmatched 1" in text


def test_a_smaller_precision_lowers_the_sampling_error():
    arguments = pages({"1": RIGHT}, 2)
    rough, fine = (plain(*arguments, "--precision", precision) for precision in ("0.1", "0.01"))
    assert fine["error"]["local"] < rough["error"]["local"]
    chance = fine["gamma"]["local"]
    assert 1.96 * chance["standard_error"] <= 0.01 * (1.0 - chance["expected"])


def test_one_document_has_the_same_local_and_global_gamma():
    printed = plain(*pages({"1": RIGHT}, 2))
    assert printed["gamma"]["local"]["value"] == printed["gamma"]["global"]["value"]
    assert not any("heterogeneous" in note for note in printed["notes"])


def test_documents_with_labels_of_their_own_are_reported_as_heterogeneous():
    continua = {
        label: {
            "ada": [(at, at + 3, label) for at in (0, 5, 10, 15)],
            "bob": [(at + 1, at + 4, label) for at in (0, 5)],
        }
        for label in "AB"
    }
    printed = plain(*pages(continua))
    local, over_all = (printed["gamma"][expected]["value"] for expected in ("local", "global"))
    assert over_all > local + 0.05
    (note,) = [note for note in printed["notes"] if "heterogeneous" in note]
    assert f"{local:.2f}" in note
    assert f"{over_all:.2f}" in note


def test_a_negative_gamma_comes_with_its_reason_and_the_labels_exchanged_most_often():
    spans = [(at, at + 3, "AB"[at % 2]) for at in range(0, 45, 5)]
    swapped = [(start, end, {"A": "B", "B": "A"}[label]) for start, end, label in spans]
    arguments = pages({"1": {"ada": spans, "bob": swapped}})
    printed = plain(*arguments, "--beta", "1.9")
    coefficient = printed["gamma"]["local"]
    assert coefficient["value"] < 0.0
    assert coefficient["reason"].endswith("'A' and 'B' (9).")
    assert printed["exchanged"][0] == {"labels": ["A", "B"], "pairs": 9}
    assert any(coefficient["reason"] in note and "negative" in note for note in printed["notes"])
    assert "negative" in run(*arguments, "--beta", "1.9").stdout


def test_a_note_names_the_gamma_that_is_negative():
    first = {"ada": [(0, 5, "A"), (1, 3, "B"), (1, 3, "B")], "bob": [(0, 5, "A")]}
    notes = plain(*pages({"1": first, "2": {"ada": [], "bob": []}, "4": {"ada": [], "bob": [(3, 9, "C")]}}))["notes"]
    (note,) = [note for note in notes if "negative" in note]
    assert note.startswith("gamma is negative with local chance (-0.17 local, 0.30 global).")


def test_documents_are_joined_by_id_and_those_of_one_annotator_are_left_out():
    ada = records({"1": WRONG["alex"], "2": WRONG["alex"], "3": []})
    bob = records({"3": [], "2": WRONG["suzan"]})
    printed = plain(f"ada={file('ada.jsonl', ada)}", f"bob={file('bob.jsonl', bob)}")
    assert (printed["documents"], printed["spans"]) == (2, {"ada": {"A": 4, "B": 0}, "bob": {"A": 1, "B": 1}})
    assert any("left out because they have only one annotator: 1" in note for note in printed["notes"])
    alone = plain(f"ada={file('ada.jsonl', records({'2': WRONG['alex']}))}", "bob=bob.jsonl", "--quiet")
    assert alone["gamma"]["local"]["value"] == printed["gamma"]["local"]["value"]


def test_files_without_spans_have_no_gamma():
    printed = plain(*pages({"1": {"ada": [], "bob": []}}))
    assert printed["gamma"]["global"]["value"] is None
    assert printed["gamma"]["global"]["reason"] == "No annotator marked a span."
    assert "No annotator marked a span." in run(*pages({"1": {"ada": [], "bob": []}})).stdout


SENTENCES = [["B-a", "I-a", "O"], ["O", "B-b"], ["B-a", "O"], ["B-b", "I-b", "I-b"]]
OTHER = [["B-a", "O", "O"], ["O", "B-b"], ["B-b", "O"], ["B-b", "I-b", "O"]]


def conll(sentences, sections=()):
    blocks = ["\n".join(f"w{at} {tag}" for at, tag in enumerate(tags)) for tags in sentences]
    return "\n\n".join(
        ("-DOCSTART- O\n\n" if number in sections else "") + block for number, block in enumerate(blocks)
    )


def test_sentences_without_ids_form_one_document_in_all_formats():
    words = [[f"w{at}" for at in range(len(tags))] for tags in SENTENCES]
    tokens = [{"tokens": row, "tags": tags} for row, tags in zip(words, SENTENCES, strict=True)]
    printed = [
        plain(f"ada={name}", f"bob={file('bob.conll', conll(OTHER))}")
        for name in (
            file("ada.conll", conll(SENTENCES)),
            file("ada.json", SENTENCES),
            file("ada.jsonl", "\n".join(map(json.dumps, tokens))),
        )
    ]
    assert printed[0] == printed[1] == printed[2]
    assert printed[0]["documents"] == 1
    joined = {
        "ada": [(0, 2, "a"), (4, 5, "b"), (5, 6, "a"), (7, 10, "b")],
        "bob": [(0, 1, "a"), (4, 5, "b"), (5, 6, "b"), (7, 9, "b")],
    }
    assert printed[0]["gamma"]["local"]["value"] == agreement.gamma(joined).value


def test_sections_and_files_are_documents():
    file("bob.conll", conll(OTHER))
    sections = plain(f"ada={file('ada.conll', conll(SENTENCES, {0, 2}))}", "bob=bob.conll")
    parts = [
        f"{name}={file(f'{name}{number}.conll', conll(sentences[half]))}"
        for name, sentences in (("ada", SENTENCES), ("bob", OTHER))
        for number, half in enumerate((slice(2), slice(2, 4)))
    ]
    assert sections == plain(*parts)
    assert sections == plain("ada=ada?.conll", "bob=bob?.conll")
    assert sections["documents"] == 2


def test_spans_of_sentences_without_tokens_are_documents_of_their_own():
    spans = [[{"start": 0, "end": 2, "label": "a"}], [{"start": 0, "end": 1, "label": "b"}]]
    printed = plain(f"ada={file('ada.json', spans)}", f"bob={file('bob.json', spans)}")
    assert printed["documents"] == 2
    assert any("1.0 spans per annotator" in note for note in printed["notes"])


def test_labels_that_differ_only_in_their_unicode_form_are_equal():
    lines = "Ada\tB-\u00e9crivain\nviews\tO\nLyon\tB-ville\n"
    files = file("a.conll", lines), file("b.conll", lines.replace("\u00e9", "e\u0301"))
    printed = plain(f"a={files[0]}", f"b={files[1]}")
    assert (printed["gamma"]["local"]["value"], printed["exchanged"]) == (1.0, [])
    page = {"a": [(0, 1, "\u00e9")], "b": [(0, 1, "e\u0301")]}
    assert agreement.gamma(page).margins.keys() == {"\u00e9"}


def test_annotators_may_be_columns_of_one_file():
    rows = [
        f"w{at} {first} {second}"
        for left, right in zip(SENTENCES, OTHER, strict=True)
        for at, (first, second) in enumerate([*zip(left, right, strict=True), ("", "")])
    ]
    name = file("both.conll", "\n".join("" if row.endswith("  ") else row for row in rows))
    both = plain(f"ada={name}", f"bob={name}", "--column", "ada=1", "--column", "bob=2")
    assert both == plain(f"ada={file('ada.conll', conll(SENTENCES))}", f"bob={file('bob.conll', conll(OTHER))}")
    assert plain(f"ada={name}", f"bob={name}", "--column", "1")["gamma"]["local"]["value"] == 1.0


def test_tags_that_do_not_follow_the_notation_are_refused_or_noted():
    file("ada.conll", "x B-a\ny O\n")
    file("bob.conll", "x B-a\ny O\n\nz I-a\n")
    arguments = ["ada=ada.conll", "bob=bob.conll", "--tags", "bio"]
    assert "bob.conll:4: Expected BIO tags" in run(*arguments, code=2).stderr
    file("ada.conll", "x B-a\ny O\n\nz B-a\n")
    assert any(
        note.startswith("bob.conll: tags that do not follow BIO") and note.endswith(": 1.")
        for note in plain(*arguments, "--lenient")["notes"]
    )


@pytest.mark.parametrize(
    ("ada", "bob", "message"),
    [
        ("x O\n\ny B-a\n", "x O\n", "bob.conll:1: Expected 2 sentences, as in ada.conll, got 1"),
        ("x O\n\ny B-a\n", "x O\n\nz B-a\n", "bob.conll:3: Expected the token 'y', as in ada.conll, got 'z'"),
        ("x O\n\ny B-a\n", "x O\ny O\n\ny O\n", "Expected 1 tokens, as in sentence 1 of ada.conll, at line 1, got 2"),
    ],
    ids=["fewer sentences", "other token", "more tokens"],
)
def test_files_with_other_sentences_are_refused(ada, bob, message):
    arguments = f"ada={file('ada.conll', ada)}", f"bob={file('bob.conll', bob)}"
    assert message in " ".join(run(*arguments, code=2).stderr.split())


def test_arguments_that_contradict_each_other_are_refused():
    file("a.jsonl", records({"1": WRONG["alex"]}))
    file("b.jsonl", records({"1": WRONG["suzan"]}))
    assert "Expected NAME=PATH" in run("a.jsonl", code=2).stderr
    assert "at least two annotators" in run("a=a.jsonl", code=2).stderr
    assert "annotated the document '1' twice" in " ".join(
        run("a=a.jsonl", "a=b.jsonl", "b=b.jsonl", code=2).stderr.split()
    )
    assert "got 'x'" in run("a=a.jsonl", "b=b.jsonl", "--column", "x", code=2).stderr
    with pytest.raises(OptionError, match="`precision` to be above 0"):
        agreement.agree_spans({"a": "a.jsonl", "b": "b.jsonl"}, precision=0.0)
    with pytest.raises(OptionError, match="Unknown annotator 'c'"):
        agreement.agree_spans({"a": "a.jsonl", "b": "b.jsonl"}, column={"c": 1})
    file("c.jsonl", records({"2": []}))
    with pytest.raises(DataError, match="No document was annotated by two annotators"):
        agreement.agree_spans({"a": "a.jsonl", "c": "c.jsonl"})


def test_narrow_terminals_name_the_columns_that_they_do_not_show(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = " ".join(run(*pages({"1": RIGHT}, 2)).stdout.split())
    assert "chance gamma ± observed expected ─" in text
    assert "Left out at this width: disorder, by chance." in text


def test_random_annotations_of_corpora_with_hardly_any_spans_are_found():
    empty = {str(number): {"ada": [], "bob": []} for number in range(3000)}
    printed = plain(
        *pages(empty | {"x": {"ada": RIGHT["alex"], "bob": RIGHT["suzan"]}}, 2), "--samples", "2", "--precision", "0.5"
    )
    assert printed["documents"] == 3001
    assert printed["gamma"]["global"]["value"] < 1.0
