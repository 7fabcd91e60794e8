"""Files of annotation tools: what is read as spans, what is left out, and where errors are."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, entities
from arbitre.cli import app
from arbitre.errors import ArbitreError, DataError
from arbitre.inputs.annotated_text import Utf16Offsets
from arbitre.inputs.annotation_files import AnnotationOptions, annotation_format

pytestmark = pytest.mark.slow

TEXT = "Ada 😀 met Bob in Zürich 😀😀."
MARKED = [("Ada", "PER"), ("Bob", "PER"), ("Bob in Zürich", "EVENT"), ("😀😀", "MOOD"), ("Zürich", "LOC")]
"""Spans of the text, two of them overlapping, one of surrogate pairs."""
SPANS = [{"start": TEXT.index(part), "end": TEXT.index(part) + len(part), "label": label} for part, label in MARKED]
OTHER = [*SPANS[:2], SPANS[-1] | {"label": "ORG"}]
"""The spans of a second annotator."""


def utf16(position, text=TEXT):
    return len(text[:position].encode("utf-16-le")) // 2


def region(span, number, **changed):
    value = {
        "start": utf16(span["start"]),
        "end": utf16(span["end"]),
        "text": TEXT[span["start"] : span["end"]],
        "labels": [span["label"]],
    }
    return {"id": str(number), "from_name": "label", "to_name": "text", "type": "labels", "value": value | changed}


def label_studio(**changed):
    """A task with two people and a model, a relation, and a cancelled annotation."""
    relation = {"type": "relation", "from_id": "0", "to_id": "1", "direction": "right"}
    choice = {"type": "choices", "value": {"choices": ["good"]}, "from_name": "mood", "to_name": "text"}
    first = [region(span, number) for number, span in enumerate(SPANS)]
    task = {
        "id": 7,
        "data": {"text": TEXT},
        "annotations": [
            {"id": 1, "completed_by": {"id": 1, "email": "ada@example.org"}, "result": [*first, relation, choice]},
            {"id": 2, "completed_by": 2, "result": [region(span, number) for number, span in enumerate(OTHER)]},
            {"id": 3, "completed_by": 3, "was_cancelled": True, "result": []},
        ],
        "predictions": [{"model_version": "m1", "result": [region(SPANS[0], 0)]}, 12],
    }
    return task | changed


def prodigy(spans=SPANS, **changed):
    return {"text": TEXT, "spans": spans, "_input_hash": 7, "_task_hash": 9, "answer": "accept"} | changed


def langextract(spans=SPANS, **changed):
    extractions = [
        {
            "extraction_class": span["label"],
            "extraction_text": TEXT[span["start"] : span["end"]],
            "char_interval": {"start_pos": span["start"], "end_pos": span["end"]},
        }
        for span in spans
    ]
    return {"document_id": "7", "text": TEXT, "extractions": extractions} | changed


def xmi(spans=SPANS, text=TEXT, more=""):
    marks = "\n".join(
        f'<type:NamedEntity xmi:id="{number}" sofa="1" begin="{utf16(span["start"])}" end="{utf16(span["end"])}" '
        f'identifier="x" value="{span["label"]}"/>'
        for number, span in enumerate(spans, 10)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"
 xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore"
 xmlns:own="http:///webanno/custom.ecore"
 xmlns:meta="http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore" xmi:version="2.0">
<cas:NULL xmi:id="0"/>
<meta:DocumentMetaData xmi:id="3" sofa="1" begin="0" end="{utf16(len(text))}" documentTitle="7"/>
<type:Token xmi:id="4" sofa="1" begin="0" end="3"/>
{marks}
{more}
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{text}"/>
</xmi:XMI>"""


WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_SP=webanno.custom.Mood
#T_RL=webanno.custom.Knows|kind|BT_de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity
#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink|referenceRelation|referenceType


#Text=Ada 😀 met Bob in Zürich 😀😀.
1-1	0-3	Ada	*	PER	_	_	_	*->1-1	*
1-2	4-6	😀	_	_	*	_	_	_	_
1-3	7-10	met	_	_	_	_	_	_	_
1-4	11-14	Bob	*[1]|*[2]	PER[1]|EVENT[2]	_	friend	1-1	_	_
1-5	15-17	in	*[2]	EVENT[2]	_	_	_	_	_
1-6	18-24	Zürich	*[2]|*[3]	EVENT[2]|LOC[3]	_	_	_	_	_
1-7	25-29	😀😀	*[4]	MOOD[4]	_	_	_	_	_
1-8	29-30	.	_	_	_	_	_	_	_

#Text=A\\\\B\\_C
#Text=next
2-1	31-36	A\\\\B\\_C	*	x\\|y\\_\\[z\\]	_	_	_	_	_
2-1.1	31-32	A	*	SUB	_	_	_	_	_
2-2	37-41	next	_	_	_	_	_	_	_
"""
NOTES = {
    "label-studio": (
        "cancelled annotations left out: 1.",
        "relations left out: 1.",
        "results of type choices left out: 1.",
    ),
    "webanno": (
        "annotations of the layer Mood left out: 1.",
        "chain links of the layer CoreferenceLink left out: 1.",
        "relations of the layer Knows left out: 1.",
    ),
}
FILES = {
    "label-studio": ("tasks.json", json.dumps([label_studio()])),
    "prodigy": ("tasks.jsonl", json.dumps(prodigy(), ensure_ascii=False) + "\n"),
    "langextract": ("extracted.jsonl", json.dumps(langextract()) + "\n"),
    "webanno": ("7.tsv", WEBANNO),
    "xmi": ("7.xmi", xmi()),
}


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("tool", FILES)
def test_a_file_is_recognised_and_its_spans_count_characters(tool):
    path = write(*FILES[tool])
    assert annotation_format(path) == tool
    file = AnnotationOptions().read(path)
    one = file.of("ada@example.org" if tool == "label-studio" else None)[0]
    assert one.id == "7"
    assert one.text.startswith(TEXT)
    assert sorted(one.spans[:5], key=str) == sorted(SPANS, key=str)
    assert [TEXT[span["start"] : span["end"]] for span in SPANS] == [part for part, _ in MARKED]
    assert file.notes == tuple(f"{path}: {note}" for note in NOTES.get(tool, ()))


def test_webanno_cells_are_unescaped_and_parts_of_tokens_are_spans():
    one = AnnotationOptions().read(write(*FILES["webanno"])).documents[0]
    assert [(one.text[span["start"] : span["end"]], span["label"]) for span in one.spans[5:]] == [
        ("A\\B_C", "x|y_[z]"),
        ("A", "SUB"),
    ]
    assert one.text == f"{TEXT} A\\B_C\nnext"


def test_the_layer_and_the_feature_can_be_chosen():
    path = write(*FILES["webanno"])
    (mood,) = AnnotationOptions(layer="Mood").read(path).documents[0].spans
    assert mood == {"start": 4, "end": 5, "label": "Mood"}
    full = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
    for layer in (full, "NamedEntity:value"):
        assert AnnotationOptions(layer=layer).read(path).documents[0].spans[0]["label"] == "PER"
    with pytest.raises(DataError, match=r"Expected a layer 'Moods'.*\n.*Did you mean \"Mood\"") as error:
        AnnotationOptions(layer="Moods").read(path)
    assert error.value.file == path
    own = '<own:Place xmi:id="30" sofa="1" begin="0" end="3" kind="town"/>'
    path = write("a.xmi", xmi((), more=own + own.replace("Place", "Person")))
    with pytest.raises(DataError, match="Expected one layer of spans, got Person, Place"):
        AnnotationOptions().read(path)
    file = AnnotationOptions(layer="Place:kind").read(path)
    assert file.documents[0].spans == [{"start": 0, "end": 3, "label": "town"}]
    assert file.notes == (f"{path}: annotations of the layer Person left out: 1.",)


def test_annotations_of_other_views_and_relations_of_xmi_are_left_out():
    more = (
        '<type:Dependency xmi:id="40" sofa="1" begin="0" end="3" Governor="4" Dependent="4"/>'
        '<type:NamedEntity xmi:id="41" sofa="2" begin="0" end="1" value="PER"/>'
        '<cas:Sofa xmi:id="2" sofaNum="2" sofaID="other" sofaString="x"/>'
    )
    file = AnnotationOptions().read(write("7.xmi", xmi(more=more)))
    assert len(file.documents[0].spans) == 5
    assert file.notes == (
        "7.xmi: annotations of other views left out: 1.",
        "7.xmi: relations of the layer Dependency left out: 1.",
    )


def test_the_annotators_of_label_studio_are_chosen_by_name():
    file = AnnotationOptions().read(write(*FILES["label-studio"]))
    assert file.annotators == ("2", "ada@example.org")
    assert file.of("2")[0].spans == OTHER
    assert [one.predicted for one in file.of("m1")] == [True]
    with pytest.raises(
        DataError, match=r"Expected the annotator 'ada@example.com', got 2, ada@example.org, m1"
    ) as error:
        file.of("ada@example.com")
    assert error.value.hint == 'Did you mean "ada@example.org"?'
    with pytest.raises(DataError, match="Expected one annotator"):
        file.of()
    alone = label_studio(annotations=[{"result": [region(SPANS[0], 0)]}])
    assert AnnotationOptions().read(write("alone.json", json.dumps([alone]))).of("anybody")[0].spans == SPANS[:1]


def test_offsets_of_label_studio_in_characters_are_taken_as_they_are():
    """Old exports, and those of other programs, count characters; the marked text decides."""
    regions = [region(span, 0, start=span["start"], end=span["end"]) for span in SPANS]
    task = label_studio(annotations=[{"completed_by": 1, "result": regions}])
    assert AnnotationOptions().read(write("a.json", json.dumps([task]))).of("1")[0].spans == SPANS
    wrong = label_studio(annotations=[{"completed_by": 1, "result": [region(SPANS[0], 0, text="Bob")]}])
    file = AnnotationOptions().read(write("b.json", json.dumps([wrong])))
    assert file.of("1")[0].spans == SPANS[:1]
    assert file.notes == ("b.json: marked texts that differ from the text at their offsets: 1.",)


def test_several_texts_and_offsets_of_html():
    task = label_studio(data={"title": "Meeting", "text": TEXT})
    assert AnnotationOptions().read(write("a.json", json.dumps([task]))).of("2")[0].text == TEXT
    limits = {"start": utf16(SPANS[0]["start"]), "end": utf16(SPANS[0]["end"])}
    value = {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "globalOffsets": limits, "hypertextlabels": ["PER"]}
    html = label_studio(annotations=[{"completed_by": 1, "result": [{"type": "hypertextlabels", "value": value}]}])
    assert AnnotationOptions().read(write("b.json", json.dumps([html]))).of("1")[0].spans == SPANS[:1]


def test_each_of_several_texts_of_a_task_is_a_document():
    def tasks(name, *results):
        people = [{"completed_by": number, "result": result} for number, result in enumerate(results, 1)]
        rows = [
            {"id": 7, "data": {"title": "Ada 😀 wins", "body": TEXT}, "annotations": people},
            {"id": 8, "data": {"title": "Ada", "body": "Bob"}, "annotations": [people[0] | {"result": []}]},
        ]
        return write(name, json.dumps(rows))

    title, body = (region(SPANS[0], 0) | {"to_name": name} for name in ("title", "body"))
    bob = region(SPANS[1], 1) | {"to_name": "body"}
    both = tasks("a.json", [title, body, bob], [title])
    sentences = entities.read(both, annotator="1")
    assert (sentences.source.ids, sentences.source.texts[:2]) == (
        ["7/body", "7/title", "8/body", "8/title"],
        [TEXT, "Ada 😀 wins"],
    )
    assert sentences.spans == [SPANS[:2], SPANS[:1], [], []]
    with pytest.raises(DataError, match="Expected a sentence with the id '8/body', as in gold, got none"):
        entities.evaluate(sentences, entities.read(both, annotator="2"))
    single = [entities.read(tasks(f"{each['to_name']}.json", [each])) for each in (title, body)]
    with pytest.raises(DataError, match="Expected 'wins' at character 6") as error:
        entities.evaluate(*single)
    assert error.value.file == "body.json"
    lost = title | {"to_name": None}
    with pytest.raises(DataError, match="Expected `to_name` to be one of body, title") as error:
        entities.read(tasks("b.json", [title, body, lost]))
    assert error.value.pointer == "/0/annotations/0/result/2"


@pytest.mark.parametrize("kind", ["choices", "taxonomy", "paragraphlabels", "timeserieslabels"])
def test_only_labels_of_characters_are_spans(kind):
    other = region(SPANS[0], 0, **{kind: ["certain"]}) | {"type": kind}
    task = label_studio(annotations=[{"completed_by": 1, "result": [region(SPANS[0], 0), other]}])
    file = AnnotationOptions().read(write("a.json", json.dumps([task])))
    assert file.of("1")[0].spans == SPANS[:1]
    assert file.notes == (f"a.json: results of type {kind} left out: 1.",)


@pytest.mark.parametrize("labels", [[], None])
def test_regions_without_a_label_are_left_out(labels):
    regions = [region(SPANS[0], 0), region(SPANS[1], 1, labels=labels)]
    task = label_studio(annotations=[{"completed_by": 1, "result": regions}])
    file = AnnotationOptions().read(write("a.json", json.dumps([task])))
    assert file.of("1")[0].spans == SPANS[:1]
    assert file.notes == ("a.json: regions without a label left out: 1.",)


TIMED = [{"value": {"channel": 0}}, {"original_length": 9}, {"value": {"end": 2.5}}]


@pytest.mark.parametrize("changed", TIMED)
def test_all_regions_of_audio_are_left_out(changed):
    """One region shows that the limits of all regions of the object are times, for all annotators."""
    whole = {"type": "labels", "to_name": "sound", "value": {"start": 1, "end": 2, "labels": ["NOISE"]}}
    timed = whole | changed | {"value": whole["value"] | changed.get("value", {})}
    people = [{"completed_by": 1, "result": [whole, region(SPANS[0], 0)]}, {"completed_by": 2, "result": [timed]}]
    task = label_studio(data={"sound": "a.wav", "text": TEXT}, annotations=people)
    file = AnnotationOptions().read(write("a.json", json.dumps([task])))
    assert [file.of(name)[0].spans for name in "12"] == [SPANS[:1], []]
    assert file.notes == ("a.json: regions of audio or video left out: 2.",)


def test_rejected_tasks_of_prodigy_and_extractions_without_a_place_are_left_out():
    lines = [prodigy(_annotator_id="ada"), prodigy(answer="reject"), prodigy(_input_hash=8, relations=[{}], spans=None)]
    file = AnnotationOptions().read(write("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [(one.id, one.annotator, len(one.spans), one.line) for one in file.documents] == [
        ("7", "ada", 5, 1),
        ("8", None, 0, 3),
    ]
    assert file.notes == ("a.jsonl: relations left out: 1.", "a.jsonl: tasks with the answer reject left out: 1.")
    nowhere = (None, {"start_pos": None, "end_pos": None})
    lost = [{"extraction_class": "PER", "extraction_text": "Eve", "char_interval": interval} for interval in nowhere]
    document = langextract(extractions=[*lost, *langextract()["extractions"]])
    file = AnnotationOptions().read(write("b.json", json.dumps(document)))
    assert file.documents[0].spans == SPANS
    assert file.notes == ("b.json: extractions without a place in the text left out: 2.",)


def test_a_document_of_langextract_with_null_extractions_has_no_spans():
    file = AnnotationOptions().read(write("a.jsonl", json.dumps(langextract(extractions=None))))
    assert [(one.id, one.spans, one.text) for one in file.documents] == [("7", [], TEXT)]
    assert file.notes == ()


def test_choices_and_labels_of_texts_of_prodigy_are_left_out_and_counted():
    options = [{"id": "x", "text": "x"}, {"id": "y", "text": "y"}]
    lines = [
        prodigy(options=options, accept=["x", "y"]),
        prodigy(_input_hash=8, options=options, accept=[]),
        prodigy(_input_hash=9, label="SPORT", spans=None),
    ]
    file = AnnotationOptions().read(write("a.jsonl", "\n".join(map(json.dumps, lines))))
    assert [len(one.spans) for one in file.documents] == [5, 5, 0]
    assert file.notes == ("a.jsonl: choices left out: 2.", "a.jsonl: labels of texts left out: 1.")


NOT_FROM_TOOLS = [
    ("a.json", '[{"id": 1, "annotations": [{"x": 1}], "data": {}}]'),
    ("a.json", '{"extractions": 3}'),
    ("a.jsonl", '{"id": "a", "spans": []}'),
    ("a.jsonl", '{"text": "_hash\\""}'),
    ("a.json", '{damaged "annotations"'),
    ("a.tsv", "id\tada\n1\tx\n"),
    ("a.xml", "<TEI/>"),
    ("a.conll", "Ada B-PER\n"),
]


@pytest.mark.parametrize(("name", "text"), NOT_FROM_TOOLS)
def test_other_files_are_not_recognised(name, text):
    assert annotation_format(write(name, text)) is None


def test_a_format_can_be_forced_or_turned_off(tmp_path):
    task = {"id": 7, "data": {"text": TEXT}, "predictions": [{"result": [region(SPANS[0], 0)]}]}
    path = write("a.json", json.dumps([task]))
    assert AnnotationOptions().read(path) is None
    forced = AnnotationOptions(annotations="label-studio").read(path)
    assert [(one.annotator, one.spans) for one in forced.of()] == [("predictions", SPANS[:1])]
    assert AnnotationOptions(annotations="documents").read(write(*FILES["label-studio"])) is None
    assert AnnotationOptions().read(tmp_path) is None
    Path("tasks.json.gz").write_bytes(gzip.compress(FILES["label-studio"][1].encode()))
    assert AnnotationOptions().read("tasks.json.gz").of("2")[0].spans == OTHER


def broken(tool, change):
    name, text = FILES[tool]
    return name, change(text)


INVALID = [
    ("a.json", "label-studio", '[{"id": 1}]', "Expected a task with `data`", None, "/0"),
    ("a.json", "label-studio", '[{"data": {}}]', "an `id`", None, "/0"),
    (
        "a.json",
        "label-studio",
        '[{"id": 1, "data": {}, "annotations": [{}]}]',
        "list `result`",
        None,
        "/0/annotations/0",
    ),
    (
        "a.json",
        "label-studio",
        json.dumps([label_studio(annotations=[{"result": [region(SPANS[0], 0, end=99, text=None)]}])]),
        "a span within 27 characters, got 0 to 96",
        None,
        "/0/annotations/0/result/0",
    ),
    (
        "a.json",
        "label-studio",
        json.dumps([label_studio(annotations=[{"result": [region(SPANS[0], 0, end=5, text=None)]}])]),
        "divides a surrogate pair",
        None,
        "/0/annotations/0/result/0",
    ),
    ("a.jsonl", "prodigy", '\n{"spans": []}', "a `text`", 2, None),
    (
        "a.jsonl",
        "prodigy",
        '{"text": "x", "spans": [{"start": 0}], "id": 1}',
        "`start`, `end` and `label`",
        1,
        "/spans/0",
    ),
    ("a.jsonl", "prodigy", '{"text": "x", "spans": [{"start": 0, "end": 2, "label": "a"}]}', "within 1", 1, "/spans/0"),
    ("a.jsonl", "prodigy", '{"text": "x"}', "_input_hash", 1, None),
    ("a.jsonl", "langextract", "{}", "`extractions`", 1, None),
    ("a.jsonl", "langextract", '{"extractions": []}', "`document_id`", 1, None),
    ("a.jsonl", "langextract", '{"extractions": [{"char_interval": {}}]}', "`start_pos`", 1, "/extractions/0"),
    ("a.jsonl", "langextract", '{"extractions": [{"char_interval": [0, 1]}]}', "`start_pos`", 1, "/extractions/0"),
    ("a.jsonl", "prodigy", '{"text": "x", "spans": 5}', "an array, got 5", 1, "/spans"),
    ("a.jsonl", "prodigy", '{"text": "x", "accept": 5}', "an array, got 5", 1, "/accept"),
    ("a.jsonl", "prodigy", '{"text": "x", "answer": "ignore"}', "documents with annotations, got none", None, None),
    ("a.xmi", "xmi", "<a><b></a>", "mismatched tag", 1, None),
    ("a.xmi", "xmi", "<a/>", "the text of the document", None, None),
    ("a.xmi", "xmi", '<!DOCTYPE a [<!ENTITY b "c">]><a/>', "without entity declarations", 1, None),
    (
        "a.xmi",
        "xmi",
        xmi([{"start": 0, "end": 3, "label": "x"}]).replace('end="3" id', 'end="5" id'),
        "surrogate",
        9,
        None,
    ),
    ("a.xmi", "xmi", xmi(SPANS[:1]).replace('begin="0" end="3" id', 'begin="a" end="3" id'), "integers", 9, None),
    ("a.xmi", "xmi", xmi(SPANS[:1]).replace('end="3" id', 'end="99" id'), "within 27 characters", None, None),
    ("a.tsv", "webanno", WEBANNO.replace("1-3\t7-10", "1-3\t7"), "a token such as", 11, None),
    ("a.tsv", "webanno", WEBANNO.replace("met\t_\t_\t_\t_\t_\t_\t_", "met\t_"), "Expected 5 columns, got 4", 11, None),
    ("a.tsv", "webanno", WEBANNO.replace("1-7\t25-29", "1-7\t25-28"), "divides a surrogate pair", 15, None),
]


@pytest.mark.parametrize(("name", "tool", "text", "message", "line", "pointer"), INVALID)
def test_an_error_names_the_file_and_the_place(name, tool, text, message, line, pointer):  # noqa: PLR0917
    with pytest.raises(DataError) as error:
        AnnotationOptions(annotations=tool).read(write(name, text))
    assert message in error.value.message
    assert (error.value.file, error.value.line, error.value.pointer) == (name, line, pointer)


def test_a_document_that_an_annotator_annotated_twice_is_an_error():
    path = write("a.jsonl", "\n".join([json.dumps(prodigy())] * 2))
    with pytest.raises(DataError, match="'7' is annotated twice") as error:
        entities.read(path)
    assert error.value.line == 2


@given(st.text(max_size=30))
def test_every_offset_between_characters_is_converted(text):
    text = text.encode("utf-16", "ignore").decode("utf-16", "ignore")
    offsets = Utf16Offsets.of(text)
    assert [offsets.character(utf16(at, text)) for at in range(len(text) + 1)] == list(range(len(text) + 1))


# The commands.


def as_json(value):
    return json.loads(json.dumps(value))


def run(*given, code=0):
    result = CliRunner().invoke(app, given)
    assert result.exit_code == code, result.output
    return result


def test_gamma_takes_all_annotators_of_a_file():
    path = write(*FILES["label-studio"])
    printed = json.loads(run("gamma", path, "--format", "json").stdout)
    named = run("gamma", f"2={path}", f"ada@example.org={path}", "--format", "json").stdout
    assert printed == json.loads(named) == as_json(agreement.agree_spans(path).to_dict())
    assert printed["annotators"] == ["2", "ada@example.org"]
    assert printed["spans"]["2"]["PER"] == 2
    assert printed["notes"][0] == f"{path}: cancelled annotations left out: 1."


def test_files_of_different_tools_are_joined_by_id():
    sources = {tool: write(*FILES[tool]) for tool in ("prodigy", "langextract", "xmi")}
    found = agreement.agree_spans(sources)
    assert (found.documents, found.annotators) == (1, ("langextract", "prodigy", "xmi"))
    assert found.disorder()["observed"] == 0.0


def test_annotators_with_different_texts_for_a_document_are_refused():
    rows = (prodigy(_annotator_id="ada"), prodigy(_annotator_id="bob", text=TEXT.replace("met", "saw")))
    path = write("a.jsonl", "\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=r"Expected 'met Bob in' at character 6, as in sentence '7' of 'ada'") as error:
        agreement.agree_spans(path)
    assert error.value.line == 2


def test_entities_compares_a_model_with_a_person():
    path = write(*FILES["label-studio"])
    chosen = ("--gold-annotator", "ada@example.org", "--predicted-annotator", "m1")
    result = run("entities", path, path, *chosen, "--format", "json")
    counts = json.loads(result.stdout)["model"]
    assert (counts["correct"], counts["missing"], counts["spurious"]) == (1, 4, 0)
    assert "relations left out: 1." in result.stderr
    assert "Expected one annotator" in run("entities", path, path, code=2).stderr


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("tool", ["label-studio", "prodigy"])
def test_documents_keep_the_order_of_the_file(tool, with_ids):
    """Ids such as 2 and 10 have another order as texts."""
    documents = [
        ("x" * number + "Ada", {"start": number, "end": number + 3, "label": "PER"}, 12 - number)
        for number in range(12)
    ]
    if tool == "prodigy":
        tasks = [prodigy([span], text=text, _input_hash=identity) for text, span, identity in documents]
    else:
        tasks = [
            label_studio(
                id=identity,
                data={"text": text},
                annotations=[{"completed_by": 1, "result": [region(span, 0, **span, text="Ada")]}],
            )
            for text, span, identity in documents
        ]
    gold = write("gold.jsonl", "\n".join(map(json.dumps, tasks)))
    rows = [{"text": text, "spans": [span]} for text, span, _ in documents]
    if with_ids:
        rows = [row | {"id": 12 - number} for number, row in enumerate(rows)][::-1]
    predicted = write("predicted.jsonl", "\n".join(map(json.dumps, rows)))
    for files in ((gold, predicted), (predicted, gold)):
        assert entities.evaluate(*map(entities.read, files)).f1 == 1.0


def test_agree_and_consensus_read_spans_without_a_schema():
    path = write(*FILES["label-studio"])
    printed = json.loads(run("agree", path, "--format", "json").stdout)
    assert printed == as_json(agreement.agree(None, path).to_dict())
    assert printed["annotators"] == ["2", "ada@example.org"]
    assert "relations left out" in printed["notes"][1]
    built = agreement.consensus(None, path, strategy="unanimity")
    run("consensus", path, "--strategy", "unanimity", "--out", "gold.jsonl")
    gold = json.loads(Path("gold.jsonl").read_text(encoding="utf-8"))
    assert built.documents == {"7": {"spans": SPANS[:2]}}
    assert gold == {"id": "7", "spans": SPANS[:2]}
    assert entities.read("gold.jsonl").spans[0] == SPANS[:2]
    assert "relations left out" in built.notes[1]
    alone = agreement.leave_one_out(None, path)
    assert set(alone.annotators) == {"2", "ada@example.org"}


def test_agree_reads_conll_files():
    for name, tag in (("ada", "PER"), ("bob", "LOC")):
        write(f"{name}.conll", f"Ada\tB-PER\nmet\tO\n\nBob\tB-{tag}\n")
    found = agreement.agree(None, {name: f"{name}.conll" for name in ("ada", "bob")})
    assert (found.documents, found.alpha.items) == (1, 1)
    assert found.alpha.observed == 0.5
    forced = {name: write(f"{name}.txt", Path(f"{name}.conll").read_text(encoding="utf-8")) for name in ("ada", "bob")}
    assert agreement.agree(None, forced, annotations="conll").alpha.observed == found.alpha.observed


def test_a_schema_is_still_required_for_documents():
    write("a.json", '[{"id": "a"}]')
    with pytest.raises(ArbitreError, match="`schema` is required"):
        agreement.consensus(None, {"ada": "a.json", "bob": "a.json"})
    assert "schema" in run("consensus", "ada=a.json", "bob=a.json", code=2).stderr
    assert "Expected NAME=PATH" in run("gamma", "a.json", code=2).stderr
    with pytest.raises(DataError, match="names its annotators"):
        agreement.agree_spans(write(*FILES["prodigy"]))


def test_inception_names_a_file_after_the_annotator_in_a_folder_with_the_name_of_the_document():
    for name in ("ada", "bob"):
        Path("annotation/letter.txt").mkdir(parents=True, exist_ok=True)
        write(f"annotation/letter.txt/{name}.tsv", WEBANNO)
    found = agreement.consensus(None, {name: f"annotation/*/{name}.tsv" for name in ("ada", "bob")})
    assert list(found.documents) == ["letter.txt"]


def test_overlapping_spans_are_refused_on_request():
    path = write(*FILES["xmi"])
    assert len(entities.read(path).spans[0]) == 5
    with pytest.raises(DataError, match="do not overlap"):
        entities.read(path, no_overlap=True)
    assert isinstance(arbitre.entities.read(path).spans[0][0]["start"], int)
