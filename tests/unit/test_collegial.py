"""Collegial revision: the queue of disagreements, and gold built from decisions."""

from __future__ import annotations

import csv
import json
from copy import deepcopy

import pytest

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.agreement.consensus.build import consensus
from arbitre.agreement.consensus.decisions import Decision, Decisions, fingerprint
from arbitre.agreement.consensus.revision import Revision
from arbitre.errors import DataError, OptionError
from arbitre.inputs.csv_table import cell_value
from arbitre.inputs.provenance import DisagreementCounts, Provenance, ValueOrigin
from arbitre.values import ABSENT

pytestmark = pytest.mark.slow

SPEAKER = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "party": {"enum": ["left", "right", "centre"]},
        "pages": {"type": "array", "items": {"type": "integer"}},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"year": {"type": "integer"}, "speakers": {"type": "array", "items": SPEAKER, "maxItems": 3}},
}
ASTOR = {"name": "Astor", "party": "left", "pages": [1, 2]}
BERG = {"name": "Bergstrom", "party": "left", "pages": [7]}
COHEN = {"name": "Cohen", "party": "right", "pages": [400, 402]}
ANNOTATIONS = {
    "ada": {"p": {"year": 1931, "speakers": [ASTOR, BERG | {"name": "Bergström"}]}},
    "bob": {"p": {"year": 1932, "speakers": [BERG, ASTOR | {"pages": [2]}, COHEN]}},
    "cy": {"p": {"year": 1931, "speakers": [ASTOR, BERG | {"party": "right"}]}},
}


def built(*decisions, annotations=ANNOTATIONS, schema=SCHEMA):
    """The consensus with decisions (id, value) of Zoé; without any, nothing is decided."""
    comparator = Comparator(schema)
    if not decisions:
        return build_consensus(comparator, annotations, strategy="collegial")
    made = {name: Decision(name, value, "Zoé", line=line) for line, (name, value) in enumerate(decisions, 1)}
    return build_consensus(comparator, annotations, strategy="collegial", decisions=Decisions("d.jsonl", made))


def gold(*decisions, **options):
    return built(*decisions, **options).documents["p"]


def ids(result):
    return {disagreement.id: disagreement for disagreement in result.disagreements}


def test_without_decisions_the_gold_is_the_majority_and_everything_is_undecided():
    result, majority = built(), build_consensus(Comparator(SCHEMA), ANNOTATIONS)
    assert result.documents == majority.documents
    assert result.disagreements == majority.disagreements
    assert sorted(ids(result)) == [
        "p#/speakers/0/pages/0",
        "p#/speakers/1/name",
        "p#/speakers/1/party",
        "p#/speakers/2",
        "p#/year",
    ]
    assert result.provenance.strategy == "collegial"
    assert result.provenance.disagreements.decided == 0
    assert "5 of 5 disagreements are undecided" in result.notes[-1]
    assert result.provenance.headline().endswith(", 5 of 5 disagreements undecided")
    assert result.provenance.values["p"]["/year"] == ValueOrigin(("ada", "cy"), "undecided")


def test_a_decision_replaces_the_proposal_and_is_named_in_the_provenance():
    result = built(("p#/year", 1932), ("p#/speakers/1/name", "Berg"))
    assert result.documents["p"]["year"] == 1932
    assert result.documents["p"]["speakers"][1] == BERG | {"name": "Berg"}
    origins = result.provenance.values["p"]
    assert origins["/year"] == ValueOrigin(("bob",), "Zoé")
    assert origins["/speakers/1/name"] == ValueOrigin((), "Zoé")
    assert origins["/speakers/1/party"] == ValueOrigin(("ada", "bob"), "undecided")
    assert result.provenance.disagreements == DisagreementCounts(5, 0, 2)
    assert "3 of 5 disagreements are undecided" in result.notes[-1]
    assert set(result.undecided) == ids(result).keys() - {"p#/year", "p#/speakers/1/name"}
    assert result.to_dict()["undecided"] == list(result.undecided)


def test_the_gold_is_complete_when_everything_is_decided():
    result = built(*((name, each.proposal) for name, each in ids(built()).items()))
    assert result.documents == built().documents
    assert result.provenance.disagreements.decided == 5
    assert not any("undecided" in note for note in (*result.notes, result.provenance.headline()))
    assert {origin.by for origin in result.provenance.values["p"].values()} == {"Zoé"}


def test_a_value_can_be_left_out_and_put_back():
    without_year = {"speakers": gold()["speakers"]}
    assert gold(("p#/year", ABSENT)) == without_year
    annotations = deepcopy(ANNOTATIONS)
    del annotations["ada"]["p"]["year"], annotations["cy"]["p"]["year"]
    assert gold(annotations=annotations) == without_year
    assert gold(("p#/year", 1932), annotations=annotations) == gold(("p#/year", 1932))


def test_an_item_can_be_left_out_kept_or_corrected():
    assert gold()["speakers"] == [ASTOR, BERG]
    three = built(("p#/speakers/2", COHEN))
    assert three.documents["p"]["speakers"] == [ASTOR, BERG, COHEN]
    assert three.provenance.values["p"]["/speakers/2"] == ValueOrigin(("bob",), "Zoé")
    assert gold(("p#/speakers/2", COHEN | {"party": "left"}))["speakers"][2]["party"] == "left"
    assert gold(("p#/speakers/2", ABSENT)) == gold()


def test_items_that_are_left_out_move_the_others_up():
    annotations = deepcopy(ANNOTATIONS)
    annotations["cy"]["p"]["speakers"].pop(0)
    names = ids(built(annotations=annotations))
    assert {"p#/speakers/0", "p#/speakers/1/name"} <= names.keys()
    result = built(("p#/speakers/0", ABSENT), ("p#/speakers/1/name", "Berg"), annotations=annotations)
    assert result.documents["p"]["speakers"] == [BERG | {"name": "Berg"}]
    assert result.provenance.values["p"]["/speakers/0/name"].by == "Zoé"


class TestDecisionsInsideADecidedItem:
    @pytest.fixture
    def annotations(self):
        """Two of three have a speaker, and they disagree on the party and on the pages."""
        first, second = COHEN, COHEN | {"party": "left", "pages": [400]}
        return {
            "ada": {"p": {"speakers": [first]}},
            "bob": {"p": {"speakers": [second]}},
            "cy": {"p": {"speakers": []}},
        }

    def test_a_field_of_a_kept_item_is_undecided(self, annotations):
        item, party, page = "p#/speakers/0", "p#/speakers/0/party", "p#/speakers/0/pages/1"
        assert {item, party} <= ids(built(annotations=annotations)).keys()
        proposal = ids(built(annotations=annotations))[item].proposal
        kept = built((item, proposal), annotations=annotations)
        assert kept.provenance.disagreements.decided == 1
        result = built((item, proposal), (party, "left"), annotations=annotations)
        assert result.documents["p"]["speakers"] == [proposal | {"party": "left"}]
        assert page in ids(result)

    def test_a_corrected_item_settles_its_fields(self, annotations):
        corrected = {"name": "Kohn", "pages": [3]}
        result = built(("p#/speakers/0", corrected), annotations=annotations)
        assert result.documents["p"]["speakers"] == [corrected]
        assert result.provenance.disagreements.decided == len(result.disagreements)
        assert list(result.provenance.values["p"]) == ["/speakers/0"]

    def test_a_field_is_decided_after_its_item(self, annotations):
        decisions = [("p#/speakers/0/party", "left"), ("p#/speakers/0", {"name": "Kohn", "party": "right"})]
        for order in (decisions, decisions[::-1]):
            result = built(*order, annotations=annotations)
            assert result.documents["p"]["speakers"] == [{"name": "Kohn", "party": "left"}]
            assert result.provenance.values["p"]["/speakers/0/party"].by == "Zoé"
            assert not any("without effect" in note for note in result.notes)

    @pytest.mark.parametrize("value", [ABSENT, {"name": "Kohn", "pages": [9, 10]}], ids=["left out", "corrected"])
    def test_a_decision_without_effect_is_reported(self, annotations, value):
        inner = "p#/speakers/0/party" if value is ABSENT else "p#/speakers/0/pages/1"
        assert inner in ids(built(annotations=annotations))
        result = built(
            ("p#/speakers/0", value), (inner, "left" if value is ABSENT else ABSENT), annotations=annotations
        )
        assert result.documents["p"]["speakers"] == ([] if value is ABSENT else [value])
        assert any("without effect" in note and inner in note for note in result.notes)


class TestValuesThatTheSchemaDoesNotAllow:
    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("p#/year", "1931", "not of type 'integer'"),
            ("p#/speakers/1/party", "green", "'green' is not one of"),
            ("p#/speakers/2", {"party": "left"}, "'name' is a required property"),
            ("p#/speakers/2", COHEN | {"pages": ["x"]}, "not of type 'integer'"),
            ("p#/speakers/1/name", ABSENT, "'name' is a required property"),
        ],
        ids=["type", "enum", "item", "inside an item", "required"],
    )
    def test_they_are_refused_with_their_line(self, name, value, message):
        result = built(("p#/speakers/0/pages/0", 2), (name, value))
        (refused,) = result.refused
        assert message in refused.problem.message
        assert (refused.problem.file, refused.problem.line, refused.id) == ("d.jsonl", 2, name)
        assert result.documents == built(("p#/speakers/0/pages/0", 2)).documents
        assert name in result.undecided

    @pytest.mark.parametrize("value", ["8,75", "87,5"], ids=["not the proposal", "the proposal"])
    def test_a_value_of_an_annotator_is_allowed(self, value):
        amount = {"type": "number", "x-arbitre": {"normalize": [{"number": {"decimal": ","}}]}}
        schema = {"type": "object", "properties": {"amount": amount}}
        annotations = {name: {"p": {"amount": own}} for name, own in zip("abc", ("8,75", "87,5", "87,5"), strict=True)}
        assert gold(("p#/amount", value), annotations=annotations, schema=schema) == {"amount": value}
        with pytest.raises(DataError, match="'9,5' is not of type 'number'"):
            built(("p#/amount", "9,5"), annotations=annotations, schema=schema)

    def test_an_item_of_an_annotator_is_allowed_but_not_what_others_change_in_it(self):
        item, year, party = "p#/speakers/2", "p#/speakers/2/pages/1", "p#/speakers/2/party"
        annotations = deepcopy(ANNOTATIONS)
        annotations["ada"]["p"]["speakers"].append(COHEN | {"pages": ["400", 402]})
        annotations["bob"]["p"]["speakers"][2] = COHEN | {"party": "left", "pages": ["400"]}
        names = ids(built(annotations=annotations))
        assert {item, year, party} <= names.keys()
        kept = COHEN | {"pages": ["400", 402]}
        result = built((item, kept), annotations=annotations)
        assert not result.refused
        assert kept in result.documents["p"]["speakers"]
        result = built((item, kept), (party, "green"), annotations=annotations)
        assert [each.id for each in result.refused] == [party]

    def test_if_all_are_refused_nothing_is_built(self):
        with pytest.raises(DataError, match="not of type 'integer'") as refused:
            built(("p#/year", "1931"), ("p#/speakers/1/party", "green"))
        assert [problem.line for problem in refused.value.problems] == [1, 2]

    def test_a_decision_in_a_refused_item_applies_to_the_proposal(self):
        decisions = [("p#/speakers/1/party", "centre"), ("p#/speakers/1/name", ABSENT), ("p#/year", 1932)]
        result = built(*decisions)
        assert [each.id for each in result.refused] == ["p#/speakers/1/name"]
        assert result.documents == built(decisions[0], decisions[2]).documents

    def test_a_violation_that_the_annotators_share_is_not_an_error(self):
        annotations = {name: {"p": document["p"] | {"other": 1}} for name, document in ANNOTATIONS.items()}
        closed = SCHEMA | {"additionalProperties": False}
        assert gold(("p#/year", 1932), annotations=annotations, schema=closed)["year"] == 1932

    def test_items_that_are_too_many_together_are_refused(self):
        annotations = deepcopy(ANNOTATIONS)
        annotations["bob"]["p"]["speakers"].append({"name": "Dahl", "party": "centre", "pages": [77]})
        left_out = [name for name, each in ids(built(annotations=annotations)).items() if each.proposal is ABSENT]
        assert len(left_out) == 2
        result = built(("p#/year", 1932), *((name, COHEN) for name in left_out), annotations=annotations)
        assert [each.problem.line for each in result.refused] == [2, 3]
        assert all("too long" in each.problem.message for each in result.refused)
        assert result.documents == built(("p#/year", 1932), annotations=annotations).documents

    def test_the_decisions_are_not_searched_again_for_each_violation(self, monkeypatch):
        calls, changes = [], Revision.changes
        monkeypatch.setattr(Revision, "changes", lambda *own: calls.append(1) or changes(*own))
        parties = {"ada": "left", "bob": "left", "cy": "right"}
        annotations = {
            name: {"p": {"year": 1931, "speakers": [{"name": f"{at}" * 9, "party": party} for at in range(50)]}}
            for name, party in parties.items()
        }
        schema = deepcopy(SCHEMA)
        schema["properties"]["speakers"] = {"type": "array", "items": SPEAKER | {"required": ["name", "party"]}}
        decisions = [(f"p#/speakers/{at}/party", ABSENT if at else "right") for at in range(50)]
        result = built(*decisions, annotations=annotations, schema=schema)
        assert [each.id for each in result.refused] == [name for name, _ in decisions[1:]]
        assert all("'party' is a required property" in each.problem.message for each in result.refused)
        assert len(calls) < 10 * len(decisions)

    def test_an_item_before_others_is_not_left_out_if_null_is_not_allowed_there(self):
        schema = {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": ["integer", "null"]}], "items": True}
        annotations = {"ada": {"p": [True, 1, "b"]}, "bob": {"p": [False, 2, "b"]}}
        result = built(("p#/0", ABSENT), ("p#/1", ABSENT), annotations=annotations, schema=schema)
        assert [(each.id, each.problem.line) for each in result.refused] == [("p#/0", 1)]
        assert "None is not of type 'boolean'" in result.refused[0].problem.message
        assert result.documents["p"] == [False, None, "b"]
        assert result.provenance.values["p"]["/1"].by == "Zoé"

    def test_an_item_is_not_put_after_one_that_is_left_out_if_null_is_not_allowed_there(self):
        schema = {"type": "array", "prefixItems": [{"type": "boolean"}], "items": {"type": "string"}}
        annotations = {"ada": {"p": []}, "bob": {"p": []}, "cy": {"p": [True, "b"]}}
        options = {"annotations": annotations, "schema": schema}
        assert gold(("p#/0", True), ("p#/1", "b"), **options) == [True, "b"]
        with pytest.raises(DataError, match="None is not of type 'boolean'"):
            built(("p#/1", "b"), **options)


@pytest.fixture
def sources(tmp_path):
    """The sources of the annotators."""
    for name, documents in ANNOTATIONS.items():
        lines = (json.dumps({"id": key, **document}) for key, document in documents.items())
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return {name: tmp_path / f"{name}.jsonl" for name in ANNOTATIONS}


class TestTheQueue:
    def test_a_folder_gets_all_three_files(self, sources, tmp_path):
        consensus(SCHEMA, sources, strategy="collegial", queue=tmp_path / "queue")
        assert sorted(file.name for file in (tmp_path / "queue").iterdir()) == [
            ".arbitre-output",
            "queue.csv",
            "queue.html",
            "queue.jsonl",
        ]

    @pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".html"])
    def test_the_suffix_of_a_file_selects_its_format(self, sources, tmp_path, suffix):
        consensus(SCHEMA, sources, queue=tmp_path / f"q{suffix}")
        consensus(SCHEMA, sources, queue=tmp_path / "queue")
        assert (tmp_path / f"q{suffix}").read_bytes() == (tmp_path / "queue" / f"queue{suffix}").read_bytes()

    def test_another_suffix_is_refused_before_anything_is_read(self, tmp_path):
        with pytest.raises(OptionError, match=r"a folder or a file that ends in .jsonl, .csv, .html, got 'q.txt'"):
            consensus(SCHEMA, {"ada": tmp_path / "none"}, queue=tmp_path / "q.txt")

    def test_the_lines_contain_the_disagreements_in_order_of_weight(self, sources, tmp_path):
        result = consensus(SCHEMA, sources, queue=tmp_path / "q.jsonl")
        records = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text(encoding="utf-8").splitlines()]
        assert records == [each.to_dict() | {"fingerprint": fingerprint(each)} for each in result.disagreements]
        weights = [record["weight"] for record in records]
        assert weights == sorted(weights, reverse=True)
        party = next(record for record in records if record["pointer"] == "/speakers/1/party")
        assert party["readings"] == [
            {"annotator": "ada", "pointer": "/speakers/1/party", "value": "left"},
            {"annotator": "bob", "pointer": "/speakers/0/party", "value": "left"},
            {"annotator": "cy", "pointer": "/speakers/1/party", "value": "right"},
        ]
        assert (party["entry"], party["context"]) == ("/speakers/1", BERG)

    def test_the_table_has_a_row_for_each_disagreement(self, sources, tmp_path):
        result = consensus(SCHEMA, sources, queue=tmp_path / "q.csv")
        with (tmp_path / "q.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["id"] for row in rows] == [each.id for each in result.disagreements]
        for row, each in zip(rows, result.disagreements, strict=True):
            assert cell_value(row["proposal"]) == each.proposal
            for reading in each.readings:
                assert cell_value(row[f"{reading.annotator}: value"]) == reading.value
                assert row[f"{reading.annotator}: pointer"] == (reading.pointer or "")
            assert (row["value"], row["absent"], row["by"]) == ("", "", "")

    @pytest.mark.parametrize("name", ["ada", "bob", "cy"])
    def test_a_table_filled_in_with_one_annotator_gives_the_gold_of_that_annotator(self, sources, tmp_path, name):
        result = consensus(SCHEMA, sources, strategy="collegial", queue=tmp_path / "q.csv")
        with (tmp_path / "q.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        column = header.index
        for row in rows:
            row[column("value")] = row[column(f"{name}: value")]
            row[column("absent")] = "" if row[column("value")] else "true"
            row[column("by")] = "Zoé"
        with (tmp_path / "filled.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows([header, *rows])
        out = tmp_path / "gold.jsonl"
        final = consensus(SCHEMA, sources, strategy="collegial", decisions=tmp_path / "filled.csv", out=out)
        assert Comparator(SCHEMA).compare(gold=ANNOTATIONS[name]["p"], predicted=final.documents["p"]).quality == 1.0
        assert json.loads(out.read_text(encoding="utf-8")) == {"id": "p", **final.documents["p"]}
        provenance = Provenance.read(out)
        assert provenance.disagreements.decided == provenance.disagreements.total == len(result.disagreements)
        assert provenance.headline().startswith("Gold: collegially revised consensus of 3 annotators (ada, bob, cy)")

    def test_earlier_decisions_are_in_the_table(self, sources, tmp_path):
        path = tmp_path / "decisions.jsonl"
        path.write_text('{"id": "p#/year", "value": 1932, "by": "Zoé", "note": "sic"}\n', encoding="utf-8")
        consensus(SCHEMA, sources, strategy="collegial", decisions=path, queue=tmp_path / "q.csv")
        assert Decisions.read(tmp_path / "q.csv").by_id.keys() == {"p#/year"}
        decision = Decisions.read(tmp_path / "q.csv").by_id["p#/year"]
        assert (decision.value, decision.by, decision.note) == (1932, "Zoé", "sic")

    def test_a_note_is_in_the_sidecar(self, sources, tmp_path):
        path = tmp_path / "decisions.jsonl"
        path.write_text('{"id": "p#/year", "value": 1932, "by": "Zoé", "note": "sic"}\n', encoding="utf-8")
        consensus(SCHEMA, sources, strategy="collegial", decisions=path, out=tmp_path / "gold.jsonl")
        origin = Provenance.read(tmp_path / "gold.jsonl").values["p"]["/year"]
        assert origin == ValueOrigin(("bob",), "Zoé", "sic")


def test_a_decision_on_annotations_that_have_changed_is_refused_and_kept_in_a_file(sources, tmp_path):
    result = consensus(SCHEMA, sources, queue=tmp_path / "q.jsonl")
    path = tmp_path / "decisions.jsonl"
    records = [
        {"id": each.id, "by": "Zoé", "fingerprint": fingerprint(each)}
        | ({"absent": True} if each.proposal is ABSENT else {"value": each.proposal})
        for each in result.disagreements
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    changed = json.loads(sources["cy"].read_text(encoding="utf-8"))
    changed["year"] = 1933
    sources["cy"].write_text(json.dumps(changed), encoding="utf-8")
    out = tmp_path / "gold.jsonl"
    final = consensus(SCHEMA, sources, strategy="collegial", decisions=path, out=out, queue=tmp_path / "new.csv")
    at = [each.id for each in result.disagreements].index("p#/year")
    (refused,) = final.refused
    assert "have changed since the decision" in refused.problem.message
    assert (refused.problem.line, refused.id) == (at + 1, "p#/year")
    assert final.refused_file == tmp_path / "gold.jsonl.refused.jsonl"
    assert final.refused_file.read_text(encoding="utf-8") == json.dumps(records[at]) + "\n"
    assert Provenance.read(out).disagreements.decided == len(records) - 1
    assert Decisions.read(tmp_path / "new.csv").by_id.keys() == {record["id"] for record in records} - {"p#/year"}


def decisions_on(result, path):
    """A file with a decision for the proposal on each disagreement."""
    values = (
        {"absent": True} if each.proposal is ABSENT else {"value": each.proposal} for each in result.disagreements
    )
    records = [
        {"id": each.id, "by": "Zoé", "fingerprint": fingerprint(each)} | value
        for each, value in zip(result.disagreements, values, strict=True)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return Decisions.read(path)


def applied(annotations, decisions):
    return build_consensus(Comparator(SCHEMA), annotations, strategy="collegial", decisions=decisions)


def test_decisions_are_refused_if_another_entry_is_at_their_position(tmp_path):
    def by(*speakers):
        shared = [{"name": name, "party": "left"} for name in speakers]
        other = [{"name": name, "party": "right"} for name in speakers]
        years = zip(("ada", "bob", "cy"), (1931, 1932, 1931), (shared, other, shared), strict=True)
        return {name: {"p": {"year": year, "speakers": own}} for name, year, own in years}

    decisions = decisions_on(built(annotations=by("Astor", "Bergstrom")), tmp_path / "decisions.jsonl")
    assert applied(by("Astor", "Bergstrom"), decisions).undecided == ()
    final = applied(by("Zimmermann", "Astor", "Bergstrom"), decisions)
    assert {each.id for each in final.refused} == {"p#/speakers/0/party", "p#/speakers/1/party"}
    assert final.undecided == tuple(f"p#/speakers/{at}/party" for at in range(3))


def test_a_decision_does_not_depend_on_other_decisions_and_entries(tmp_path):
    result = built()
    decisions = decisions_on(result, tmp_path / "decisions.jsonl")
    party = Decision("p#/speakers/1/party", "right", "Zoé")
    decided = applied(ANNOTATIONS, Decisions("d.jsonl", {party.id: party}))
    assert [*map(fingerprint, decided.disagreements)] == [*map(fingerprint, result.disagreements)]
    changed = [ASTOR, BERG | {"party": "centre"}]
    final = applied(ANNOTATIONS | {"cy": {"p": {"year": 1931, "speakers": changed}}}, decisions)
    assert {each.id for each in final.refused} == {"p#/speakers/1/name", "p#/speakers/1/party"}


def test_decisions_require_the_strategy_collegial(sources, tmp_path):
    (tmp_path / "decisions.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(OptionError, match="`decisions` requires `strategy` collegial"):
        consensus(SCHEMA, sources, decisions=tmp_path / "decisions.jsonl")
