"""Decisions on gold are applied exactly, or refused and kept."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

import arbitre
from arbitre import bundled
from arbitre.cli import app
from arbitre.comparison.patch import PatchOperation, applied
from arbitre.errors import DataError, OptionError
from arbitre.gold import corrections
from arbitre.gold.decisions import COLUMNS, GoldDecisions
from arbitre.inputs.provenance import MeasuredAgreement, Provenance, ValueOrigin
from arbitre.language import Language, Translator
from arbitre.report import statistics_text
from arbitre.schema.validate import find_violations

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "born": {"type": "string", "format": "date"}},
            },
        },
        "year": {"type": "integer", "minimum": 1800},
    },
}
TEXT = (
    '{"people": [{"name": "Ada", "born": "1815-12-10"},  {"name": "Bo"}, {"name": "Cy"}], "year": 1918, "score": 1.50}'
)
RECORD = f'{{"id": "a", {TEXT[1:]}'
OTHER = '{"id": "b", "people": [], "year": 1919}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("gold.jsonl", f"{RECORD}\n{OTHER}\n")
    return tmp_path


def write(name, text):
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def wrong(pointer, gold=None, value=None, **more):
    """A row: gold is wrong. Values are JSON texts."""
    row = {"document": "a", "decision": "gold is wrong", "by": "Zoé", "pointer": pointer, "gold": gold, "value": value}
    return row | ({} if value else {"absent": "true"}) | more


def table(*rows, name="decisions.csv"):
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return name


def patched(document, *operations, by="Zoé"):
    """A file with the JSON Patch of a document."""
    own = [operation if operation["op"] == "test" else operation | {"by": by} for operation in operations]
    return write("decisions.json", json.dumps({"format": "arbitre-decisions/1", "patches": {document: own}}))


def apply(decisions, gold="gold.jsonl", out="new.jsonl", **options):
    return arbitre.apply_decisions(decisions, gold, out=out, **options)


def read(name="new.jsonl"):
    return Path(name).read_bytes().decode("utf-8")


def reasons(applied):
    return [each.reason for each in applied.refused]


class TestOnlyTheCorrectedValuesChange:
    ROWS = (
        wrong("/people/0/name", "Ada", "Adah"),
        wrong("/people/1", '{"name": "Bo"}'),
        wrong("/people/-", "", '{"name": "Di"}', predicted='{"name": "Di"}'),
        wrong("/place", "", "Bern"),
    )
    AFTER = (
        TEXT.replace("Ada", "Adah")
        .replace('{"name": "Bo"}, ', "")
        .replace('{"name": "Cy"}', '{"name": "Cy"}, {"name": "Di"}')
        .replace("1.50", '1.50, "place": "Bern"')
    )

    def test_in_lines(self):
        done = apply(table(*self.ROWS))
        assert read() == f'{{"id": "a", {self.AFTER[1:]}\n{OTHER}\n'
        assert (done.values, done.documents, done.refused) == (4, 1, ())
        assert done.operations == {"add": 2, "remove": 1, "replace": 1}

    @pytest.mark.parametrize("break_", ["\n", "\r\n"])
    def test_in_a_list_of_records(self, break_):
        write("gold.json", f"[{break_}  {RECORD},{break_}  {OTHER}{break_}]{break_}")
        apply(table(*self.ROWS), "gold.json", "new.json")
        assert read("new.json") == f'[{break_}  {{"id": "a", {self.AFTER[1:]},{break_}  {OTHER}{break_}]{break_}'

    def test_in_a_folder(self):
        write("gold/a.json", TEXT)
        write("gold/b.json", "\ufeff" + OTHER + "\n")
        write("gold/scan.txt", "not a document")
        apply(table(*self.ROWS), "gold", "new")
        assert read("new/a.json") == self.AFTER
        assert read("new/b.json") == read("gold/b.json")
        assert sorted(path.name for path in Path("new").iterdir()) == [".arbitre-output", "a.json", "b.json"]

    def test_in_a_file_with_one_document(self):
        write("a.json", TEXT)
        apply(table(*self.ROWS), "a.json", "new.json")
        assert read("new.json") == self.AFTER

    def test_in_records_that_also_contain_the_prediction(self):
        write("pairs.jsonl", f'{{"id": "a", "gold": {TEXT}, "predicted": {{"people": []}}}}\n')
        apply(table(*self.ROWS), "pairs.jsonl")
        assert read() == f'{{"id": "a", "gold": {self.AFTER}, "predicted": {{"people": []}}}}\n'

    def test_a_record_under_another_key_and_with_another_id_key(self):
        write("pairs.jsonl", f'{{"page": "a", "reference": {TEXT}}}\n')
        apply(table(*self.ROWS), "pairs.jsonl", id_key="page", gold_key="reference")
        assert read() == f'{{"page": "a", "reference": {self.AFTER}}}\n'

    def test_documents_that_cannot_be_read_are_copied(self):
        write("gold.jsonl", f'{RECORD}\n\n{{"id": "b", \n{OTHER}')
        done = apply(table(wrong("/year", "1918", "1920")))
        assert read() == f'{RECORD.replace("1918", "1920")}\n\n{{"id": "b", \n{OTHER}'
        assert done.refused == ()


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("row", "reason"),
        [
            (wrong("/year", "1917", "1920"), "Gold has changed since the decision: it was 1917, and is 1918."),
            (wrong("/year", "1917", "1918"), "Gold already is as decided."),
            (wrong("/place", "Bern", "Basel"), 'Gold has changed since the decision: it was "Bern", and is absent.'),
            (wrong("/year", "", "1920"), "Gold has changed since the decision: it was absent, and is 1918."),
            (wrong("/year", "1918", "1918"), "The correct value is that of gold: there is nothing to change."),
            (wrong("/people/3/name", "Di", "Dee"), "Gold has no value at /people/3/name. It may have changed since the decision."),
            (wrong("/people/7", '{"name": "Di"}'), "Gold has no value at /people/7. It may have changed since the decision."),
            (wrong("/year/name", "", "x"), "Gold has no value at /year/name. It may have changed since the decision."),
            (wrong("/people/-", "", '{"name": "Cy"}'), "The list in gold already has this item."),
            (wrong("/id", "", "c"), "/id is the id of the record, not a value of the document."),
            (wrong("", TEXT, "{}"), "A whole document cannot be left out, or replaced in a record that also has its id."),
            (wrong("unknown", "", "c"), "The place in gold is unknown. Correct the gold by hand."),
            (wrong("/year", "1918", "1920", document="c"), "Gold has no document 'c'."),
            (wrong("/year", "1918", "1920", by=" "), "Expected a name under 'by', got none."),
            (wrong("/year", "1918", "1920", absent="true"), "Expected either a value or 'absent', got both. Write the correct value, or true under absent to leave the value out."),
            (wrong("/year", "1918", "", absent=""), "Expected either a value or 'absent', got neither. Write the correct value, or true under absent to leave the value out."),
            (wrong("year", "1918", "1920"), "Expected 'pointer' to be a JSON Pointer, got 'year'."),
            (wrong("/year", "1918", "[1"), "Expected valid JSON, got truncated text"),
            (wrong("/year", "1918", "1920", decision="gold wrong"), "Expected 'decision' to be 'gold is wrong', 'prediction is wrong', 'unsure', got 'gold wrong'. Did you mean"),
        ],
        ids=lambda each: each["pointer"] + str(each["value"]) if isinstance(each, dict) else "",
    )  # fmt: skip
    def test_the_reason_is_stated_and_the_rest_is_applied(self, row, reason):
        done = apply(table(row, wrong("/people/0/name", "Ada", "Adah")))
        assert reasons(done)[0].startswith(reason)
        assert done.values == 1
        assert "Adah" in read()
        with Path("new.jsonl.refused.csv").open(encoding="utf-8", newline="") as file:
            (kept,) = csv.DictReader(file)
        assert kept.pop("reason") == reasons(done)[0]
        assert kept == {name: row.get(name) or "" for name in COLUMNS}

    def test_decisions_on_one_missing_field_that_differ(self):
        rows = [
            wrong("/place", "", value, predicted=predicted, by=by)
            for by, value, predicted in (("Zoé", '"Bern"', '"bern"'), ("Yan", '"Basel"', '"basel"'))
        ]
        done = apply(table(*rows))
        differ = "The decisions on this place differ: Zoé (gold is wrong), Yan (gold is wrong). Keep one of them."
        assert (done.values, reasons(done)) == (0, [differ] * 2)

    @pytest.mark.parametrize(
        ("row", "keyword"),
        [
            (wrong("/year", "1918", "1700"), "minimum"),
            (wrong("/year", "1918", "MCM"), "type"),
            (wrong("/people/0/born", "1815-12-10", "not a date"), "format"),
            (wrong("/people/1/name", "Bo"), "required"),
            (wrong("/people/-", "", '{"born": "1815-12-10"}'), "required"),
        ],
    )
    def test_what_the_schema_does_not_allow(self, row, keyword):
        done = apply(table(row, wrong("/people/0/name", "Ada", "Adah")), schema=SCHEMA)
        assert done.values == 1
        (reason,) = reasons(done)
        assert reason.startswith("The schema does not allow it: ")
        assert f"({keyword})" in reason

    def test_a_required_value_that_is_left_out_becomes_null_if_the_schema_allows_null(self):
        schema = {"required": ["year", "place"], "properties": {"year": {"type": ["integer", "null"]}}}
        rows = wrong("/year", "1918"), wrong("/place", '"Bern"'), wrong("/people/0/born", "1815-12-10")
        write("gold.jsonl", RECORD.replace("1918", '1918, "place": "Bern"') + "\n")
        schema["properties"]["place"] = {"type": "string"}
        done = apply(table(*rows), schema=schema)
        assert (done.values, done.operations) == (2, {"remove": 1, "replace": 1})
        assert '"year": null' in read()
        (reason,) = reasons(done)
        assert "'place' is a required property" in reason

    def test_a_null_in_gold_is_no_value(self):
        write("gold.jsonl", RECORD.replace("1918", "null") + "\n")
        done = apply(table(wrong("/year", "", "1920")))
        assert (done.values, done.operations) == (1, {"replace": 1})
        assert '"year": 1920' in read()

    def test_a_violation_that_gold_already_has_is_no_reason(self):
        write("gold.jsonl", RECORD.replace("1815-12-10", "in 1815") + "\n")
        assert apply(table(wrong("/people/0/born", "in 1815", "in 1816")), schema=SCHEMA).values == 1

    def test_corrections_that_are_valid_only_together_are_applied(self):
        schema = {"properties": {"year": True, "place": True}, "dependentRequired": {"place": ["country"]}}
        rows = table(wrong("/place", "", "Bern"), wrong("/country", "", "CH"))
        assert apply(rows, schema=schema).values == 2

    def test_corrections_that_are_valid_only_together_are_applied_if_others_are_refused(self):
        both = {"place": ["country"], "country": ["place"]}
        rows = table(wrong("/place", "", "Bern"), wrong("/year", "1918", "MCM"), wrong("/country", "", "CH"))
        assert apply(rows, schema=SCHEMA | {"dependentRequired": both}).values == 2

    @pytest.mark.parametrize("value", ["purple", None])
    def test_the_document_is_not_validated_for_each_value_that_the_schema_does_not_allow(self, value, monkeypatch):
        sizes = []

        def counted(root, document, **options):
            sizes.append(len(json.dumps(document)))
            return find_violations(root, document, **options)

        monkeypatch.setattr(corrections, "find_violations", counted)
        people = [{"name": f"n{at}", "party": "left"} for at in range(100)]
        write("gold.jsonl", json.dumps({"id": "a", "people": people}) + "\n")
        person = {"properties": {"party": {"enum": ["left", "right"]}}, "required": ["party"]}
        rows = [wrong(f"/people/{at}/party", "left", "right" if at % 2 else value) for at in range(100)]
        done = apply(table(*rows), schema={"properties": {"people": {"items": person}}})
        assert (done.values, len(done.refused)) == (50, 50)
        assert len(sizes) <= 3
        what = "'purple' is not one of ['left', 'right'] (enum) at /people/2/party"
        if value is None:
            what = "'party' is a required property (required) at /people/2"
        assert reasons(done)[1] == f"The schema does not allow it: {what}."

    def test_decisions_that_differ_are_refused_both(self):
        done = apply(
            table(
                wrong("/year", "1918", "1920", by="Ada"),
                wrong("/year", "1918", "1921", by="Bo"),
                wrong("/people/0/name", "Ada", "Adah"),
                wrong("/people/0/name", "Ada", "", absent="", decision="prediction is wrong", by="Bo"),
            )
        )
        assert (
            reasons(done)
            == ["The decisions on this place differ: Ada (gold is wrong), Bo (gold is wrong). Keep one of them."] * 2
            + ["The decisions on this place differ: Zoé (gold is wrong), Bo (prediction is wrong). Keep one of them."]
            * 2
        )
        assert read() == Path("gold.jsonl").read_text(encoding="utf-8")
        assert not Path("new.jsonl.provenance.json").exists()

    @pytest.mark.parametrize("token", ["9" * 5000, "1x", "01", "٣"])
    def test_a_pointer_without_a_position_in_a_list_is_refused_and_kept(self, token):
        away = f"/people/{token}/name"
        done = apply(table(wrong("/people/0", '{"name":"Ada","born":"1815-12-10"}', ""), wrong(away, "Bo", "Bi")))
        assert (done.values, len(done.refused)) == (1, 1)
        with Path("new.jsonl.refused.csv").open(encoding="utf-8", newline="") as file:
            assert [row["pointer"] for row in csv.DictReader(file)] == [away]
        end = {"op": "remove", "path": "/people/0"}, {"op": "replace", "path": away, "value": 1}
        assert len(apply(patched("a", *end), out="newer.jsonl").refused) == 2

    def test_booleans_that_a_spreadsheet_has_saved_are_booleans(self):
        write("gold.jsonl", '{"id": "a", "ok": null, "sure": false}')
        done = apply(table(wrong("/ok", "null", "TRUE"), wrong("/sure", "FALSE", '"TRUE"')))
        assert (done.values, done.refused) == (2, ())
        assert json.loads(read()) == {"id": "a", "ok": True, "sure": "TRUE"}

    def test_decisions_that_agree_count_once_and_for_each_person(self):
        done = apply(
            table(
                wrong("/year", "1918", "1920", by="Ada", system="hasty"),
                wrong("/year", "1918", "1920.0", by="Bo", run="run 2"),
                wrong("/people/-", "", '{"name": "Di"}', predicted='{"name": "Di"}'),
                wrong("/people/-", "", '{"name": "Di"}', predicted='{"name": "Dy"}'),
                wrong("/year", "1918", "", absent="", decision="unsure", by="Cy"),
                wrong("/people/2/name", "Cy", "", absent="", decision="prediction is wrong"),
            )
        )
        assert (done.values, dict(done.by), done.refused) == (2, {"Ada": 1, "Bo": 1, "Zoé": 1}, ())
        assert (done.predictions_wrong, done.unsure) == (1, 1)

    def test_a_decision_in_a_value_that_another_one_changes_is_refused_with_it(self):
        done = apply(
            table(
                wrong("/people/0", '{"name": "Ada", "born": "1815-12-10"}'),
                wrong("/people/0/name", "Ada", "Adah"),
                wrong("/people/1/name", "Bo", "Bob"),
            )
        )
        assert reasons(done) == [
            "The decision on /people/0/name changes the same value. Keep one of them.",
            "The decision on /people/0 changes the same value. Keep one of them.",
        ]
        assert done.values == 1

    def test_two_documents_with_one_id_are_not_corrected(self):
        write("gold.jsonl", f"{RECORD}\n{RECORD}\n")
        assert reasons(apply(table(wrong("/year", "1918", "1920")))) == ["Gold has 2 documents with the id 'a'."]

    def test_a_document_is_not_taken_for_the_run_of_another_one(self):
        write("gold.jsonl", '{"id": "a", "year": 1918}\n{"id": "a/1", "year": 1918}\n')
        row = wrong("/year", "1918", "1920")
        cases = [
            (table(row | {"run": "1"}), "a"),
            (table(row | {"document": "a/1"}, name="other.csv"), "a/1"),
            (
                write("hand.csv", "document,pointer,decision,gold,value,by\na/1,/year,gold is wrong,1918,1920,Zoé\n"),
                "a/1",
            ),
        ]
        for number, (path, corrected) in enumerate(cases):
            done = apply(path, out=f"new-{number}.jsonl")
            assert done.refused == ()
            years = {one["id"]: one["year"] for one in map(json.loads, read(f"new-{number}.jsonl").splitlines())}
            assert years == {"a": 1918, "a/1": 1918} | {corrected: 1920}

    def test_a_document_that_gold_lacks_is_not_taken_for_a_run(self):
        done = apply(table(wrong("/year", "1918", "1920", document="a/12")))
        assert (reasons(done), done.values) == (["Gold has no document 'a/12'."], 0)
        rows = "document,pointer,decision,gold,value,by\na/12,/year,gold is wrong,1918,1920,Zoé\n"
        done = apply(write("hand.csv", rows))
        assert reasons(done) == [
            "Gold has no document 'a/12'. If it is a run of 'a', write the id under 'document' and the run under 'run'."
        ]

    @pytest.mark.parametrize("form", ["csv", "json"])
    def test_a_file_without_runs_is_refused_where_the_document_is_unclear(self, form):
        write("gold.jsonl", "".join(f'{{"id": "{name}", "year": 1918}}\n' for name in ("a", "a/1", "b/1")))
        if form == "csv":
            rows = "".join(f"{name},/year,gold is wrong,1918,1920,Zoé,Years · 12\n" for name in ("a", "a/1", "b/1"))
            path = write("decisions.csv", f"document,pointer,decision,gold,value,by,report\n{rows}")
        else:
            patch = [
                {"op": "test", "path": "/year", "value": 1918},
                {"op": "replace", "path": "/year", "value": 1920, "by": "Zoé"},
            ]
            whole = {"format": "arbitre-decisions/1", "report": "Years · 12"}
            path = write("decisions.json", json.dumps(whole | {"patches": dict.fromkeys(("a", "a/1", "b/1"), patch)}))
        done = apply(path)
        (reason,) = reasons(done)
        assert reason.startswith("'a/1' is a document, or a run of another one.")
        assert [json.loads(line)["year"] for line in read().splitlines()] == [1920, 1918, 1920]
        again = apply(write("again.csv", read("new.jsonl.refused.csv")), "new.jsonl", "newer.jsonl")
        assert (again.values, reasons(again)) == (0, [reason])

    def test_the_pointers_of_refused_decisions_are_those_of_the_corrected_gold(self):
        rows = (
            wrong("/people/0", '{"name": "Ada", "born": "1815-12-10"}'),
            wrong("/people/1/name", '"Bo"', "5"),
            wrong("/people/2/name", '"Cy"', '"Di"'),
            wrong("/people/2/name", '"Cy"', '"Do"', by="Bo"),
        )
        arbitre.apply_decisions(table(*rows), "gold.jsonl", out="new.jsonl", schema=SCHEMA)
        with Path("new.jsonl.refused.csv").open(encoding="utf-8", newline="") as file:
            refused = list(csv.DictReader(file))
        assert [row["pointer"] for row in refused] == ["/people/0/name", "/people/1/name", "/people/1/name"]
        kept = write("again.csv", read("new.jsonl.refused.csv").replace(",5,", ',"""Bi""",', 1))
        arbitre.apply_decisions(kept, "new.jsonl", out="newer.jsonl", schema=SCHEMA)
        people = json.loads(read("newer.jsonl").splitlines()[0])["people"]
        assert [one["name"] for one in people] == ["Bi", "Cy"]

    def test_the_refused_decisions_can_be_corrected_and_applied(self):
        apply(table(wrong("/year", "1917", "1920"), wrong("/people/0/name", "Ada", "Adah")))
        kept = write("again.csv", read("new.jsonl.refused.csv").replace(",1917,", ",1918,"))
        done = apply(kept, "new.jsonl", "newer.jsonl")
        assert (done.values, done.refused) == (1, ())
        assert '"year": 1920' in read("newer.jsonl")
        assert Provenance.read("newer.jsonl").headline().endswith("2 values corrected (Zoé)")

    def test_an_earlier_table_is_empty_if_no_decision_is_refused(self):
        apply(table(wrong("/year", "1917", "1920")))
        done = apply(table(wrong("/year", "1918", "1920")))
        assert (done.values, done.refused_file) == (1, None)
        assert len(read("new.jsonl.refused.csv").splitlines()) == 1

    def test_a_row_with_too_many_cells_is_kept_as_it_is(self):
        path = write(table(wrong("/year", "1918", "1920")), read("decisions.csv") + "a,b\n")
        done = apply(path)
        assert reasons(done) == [f"Expected {len(COLUMNS)} cells, got 2"]
        assert read("new.jsonl.refused.csv").splitlines()[1] == f'"Expected {len(COLUMNS)} cells, got 2",a,b'


class TestListsAndObjectsThatGoldLacks:
    ROWS = (
        wrong("/people/1/tags/-", "", "q", creates="array"),
        wrong("/people/1/tags/-", "", "b", creates="array"),
        wrong("/sub/deep/one", "", "1", creates="object object"),
        wrong("/sub/two", "", "2", creates="object"),
        wrong("/people/2", '{"name": "Cy"}'),
    )

    @pytest.mark.parametrize("form", ["csv", "json"])
    def test_they_are_added_once_with_the_values_in_order(self, form):
        if form == "csv":
            path = table(*self.ROWS)
        else:
            path = patched(
                "a",
                {"op": "add", "path": "/people/1/tags", "value": [], "container": True},
                {"op": "add", "path": "/people/1/tags/-", "value": "q", "creates": "array"},
                {"op": "add", "path": "/people/1/tags/-", "value": "b", "creates": "array"},
                {"op": "add", "path": "/sub", "value": {}, "container": True},
                {"op": "add", "path": "/sub/deep", "value": {}, "container": True},
                {"op": "add", "path": "/sub/deep/one", "value": 1, "creates": "object object"},
                {"op": "add", "path": "/sub/two", "value": 2, "creates": "object"},
                {"op": "test", "path": "/people/2", "value": {"name": "Cy"}},
                {"op": "remove", "path": "/people/2"},
            )
        Provenance(("ada",), values={"a": {"/people/0/name": ValueOrigin(("ada",), "majority")}}).write("gold.jsonl")
        done = apply(path)
        assert (done.values, done.refused) == (5, ())
        after = TEXT.replace('{"name": "Bo"}, {"name": "Cy"}', '{"name": "Bo", "tags": ["q", "b"]}')
        assert read().splitlines()[0] == f'{{"id": "a", {after[1:-1]}, "sub": {{"deep": {{"one": 1}}, "two": 2}}}}'
        origins = Provenance.read("new.jsonl").values["a"]
        assert {"/people/1/tags/0", "/people/1/tags/1", "/sub/deep/one", "/sub/two"} <= origins.keys()

    def test_the_key_of_an_object_may_be_a_hyphen_or_a_number(self):
        rows = wrong("/sub/-", "", "1", creates="object"), wrong("/sub/7", "", "2", creates="object")
        assert apply(table(*rows)).values == 2
        assert json.loads(read().splitlines()[0])["sub"] == {"-": 1, "7": 2}

    @pytest.mark.parametrize(
        ("rows", "reason"),
        [
            ([wrong("/tags/-", "", "q")], "Gold has no value at /tags/-."),
            ([wrong("/year/-", "", "q", creates="array")], "Gold has changed since the decision: /year was absent, and is 1918."),
            ([wrong("/people/7/tags/-", "", "q", creates="array")], "Gold has no value at /people/7/tags/-."),
            ([wrong("/none/tags/-", "", "q", creates="array")], "Gold has no value at /none/tags/-."),
            ([wrong("/tags/0", "", "q", creates="array")], "Expected 'creates' to be object for each object"),
            ([wrong("/tags/-/x", "", "q", creates="array object")], "Expected 'creates' to be object for each object"),
            ([wrong("/tags/-", "", "q", creates="list")], "Expected 'creates' to be object for each object"),
            ([wrong("/tags", "", "q", creates="object")], "Expected 'creates' to be object for each object"),
            ([wrong("/tags/-", "", "q", creates="array"), wrong("/tags/x", "", "q", creates="object")], "The decision on /tags/x changes the same value."),
            ([wrong("/tags/-", "", "q", creates="array"), wrong("/tags", "", '["z"]')], "The decision on /tags changes the same value."),
            ([wrong("/people/0/tags/-", "", "q", creates="array"), wrong("/people/0", '{"name": "Ada", "born": "1815-12-10"}')], "The decision on /people/0 changes the same value."),
        ],
    )  # fmt: skip
    def test_gold_is_not_changed_where_it_is_unclear(self, rows, reason):
        done = apply(table(*rows))
        assert done.values == 0
        assert any(each.startswith(reason) for each in reasons(done))
        assert read() == Path("gold.jsonl").read_text(encoding="utf-8")

    def test_a_refused_value_can_be_added_to_the_list_of_the_copy(self):
        schema = {"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
        rows = wrong("/tags/-", "", "5", creates="array"), wrong("/tags/-", "", "q", creates="array")
        assert apply(table(*rows), schema=schema).values == 1
        kept = write("again.csv", read("new.jsonl.refused.csv").replace(",5,", ",five,"))
        done = apply(kept, "new.jsonl", "newer.jsonl", schema=schema)
        assert (done.values, done.refused) == (1, ())
        assert json.loads(read("newer.jsonl").splitlines()[0])["tags"] == ["q", "five"]


class TestJsonPatches:
    def test_a_patch_gives_the_same_document_as_other_implementations(self):
        operations = [
            {"op": "test", "path": "/people/0/name", "value": "Ada"},
            {"op": "replace", "path": "/people/0/name", "value": "Adah"},
            {"op": "add", "path": "/people/-", "value": {"name": "Di"}},
            {"op": "add", "path": "/place", "value": "Bern"},
            {"op": "test", "path": "/people/2", "value": {"name": "Cy"}},
            {"op": "remove", "path": "/people/2"},
            {"op": "test", "path": "/people/1", "value": {"name": "Bo"}},
            {"op": "remove", "path": "/people/1"},
        ]
        done = apply(patched("a", *operations))
        assert (done.values, done.refused) == (5, ())
        by_patch = applied(
            json.loads(TEXT),
            [
                PatchOperation(each["op"], each["path"], each.get("value"))
                for each in operations
                if each["op"] != "test"
            ],
        )
        assert json.loads(read().splitlines()[0]) == {"id": "a"} | by_patch

    @pytest.mark.parametrize(
        ("operations", "reason"),
        [
            ([{"op": "replace", "path": "/year", "value": 1}], "Expected a test of the gold value before the operation 'replace'"),
            ([{"op": "test", "path": "/year", "value": 1}, {"op": "add", "path": "/year", "value": 2}], "Expected no test of a value that is added"),
            ([{"op": "test", "path": "/year", "value": 1917}, {"op": "remove", "path": "/year"}], "Gold has changed since the decision: it was 1917, and is 1918."),
        ],
    )  # fmt: skip
    def test_operations_without_a_valid_test_are_refused(self, operations, reason):
        done = apply(patched("a", *operations))
        assert reasons(done) == [reason]
        with Path("new.jsonl.refused.csv").open(encoding="utf-8", newline="") as file:
            (kept,) = csv.DictReader(file)
        assert (kept["document"], kept["pointer"], kept["reason"]) == ("a", "/year", reason)

    def test_an_operation_after_a_removal_before_it_in_the_list_is_refused(self):
        removals = [
            operation
            for at, name in ((0, "Bo"), (0, "Cy"))
            for operation in (
                {"op": "test", "path": f"/people/{at + 1}", "value": {"name": name}},
                {"op": "remove", "path": f"/people/{at + 1}"},
            )
        ]
        done = apply(patched("a", *removals))
        assert reasons(done) == ["Expected items of a list to be removed last, from its end"]
        assert done.values == 1

    def test_decisions_that_change_nothing_are_counted(self):
        others = [
            {"document": "a", "pointer": "/year", "decision": "prediction is wrong", "by": "Zoé", "gold": 1918},
            {"document": "a", "pointer": None, "decision": "unsure", "by": "Zoé"},
        ]
        write("decisions.json", json.dumps({"format": "arbitre-decisions/1", "patches": {}, "others": others}))
        done = apply("decisions.json")
        assert (done.predictions_wrong, done.unsure, done.refused, done.values) == (1, 1, (), 0)

    def test_a_run_of_the_prediction_is_no_part_of_the_id(self):
        change = {"op": "replace", "path": "/year", "value": 1920, "run": "1"}
        path = patched("a", {"op": "test", "path": "/year", "value": 1918}, change)
        assert apply(path).values == 1
        plain = json.loads(path.read_text(encoding="utf-8"))
        other = {"document": "a", "pointer": "/year", "decision": "unsure", "by": "Zoé"}
        for run in ({"run": None}, {"run": "2"}):
            write("decisions.json", json.dumps(plain | {"others": [other | run]}))
            assert apply(path).unsure == 1
        write("decisions.json", json.dumps(plain | {"others": [other]}))
        with pytest.raises(DataError, match="Expected 'run' in each decision, or in none"):
            apply(path)

    def test_a_file_of_another_format_is_an_error_that_names_file_and_pointer(self):
        write("decisions.json", '{"format": "arbitre-decisions/1", "patches": {"a": [{"op": "move", "path": "/a"}]}}')
        with pytest.raises(DataError, match="Invalid decisions: ") as caught:
            apply("decisions.json")
        assert (caught.value.file, caught.value.pointer) == ("decisions.json", "/patches/a/0/op")
        assert not Path("new.jsonl").exists()


class TestProvenance:
    def test_it_states_who_corrected_how_many_values_and_where(self):
        done = apply(
            table(
                wrong("/year", "1918", "1920", note="see p. 3", report="Speakers · 12ab"),
                wrong("/people/0/name", "Ada", "Adah", by="Ada"),
            )
        )
        provenance = Provenance.read("new.jsonl")
        Draft202012Validator(bundled.schema("provenance.schema.json")).validate(provenance.to_dict())
        (correction,) = provenance.corrections
        assert (correction.decisions, correction.report, correction.by) == (
            "decisions.csv",
            "Speakers · 12ab",
            {"Ada": 1, "Zoé": 1},
        )
        assert (correction.values, correction.documents) == (done.values, done.documents) == (2, 1)
        assert len(correction.sha256) == 64
        assert provenance.values["a"]["/year"] == ValueOrigin((), "Zoé", "see p. 3")
        assert provenance.headline() == "Gold: single annotator, provenance unknown, 2 values corrected (Ada, Zoé)"
        french = "Référence\u00a0: un seul annotateur, provenance inconnue, 2 valeurs corrigées (Ada, Zoé)"
        assert statistics_text.provenance([provenance.parts()], Translator(Language.FR)) == french
        assert Translator(Language.FR).text(provenance.headline()) == french

    def test_several_reports_are_sorted(self):
        fields = "abcdef"
        apply(table(*(wrong(f"/{name}", "", "1", report=f"Report {name}") for name in reversed(fields))))
        (correction,) = Provenance.read("new.jsonl").corrections
        assert correction.report == ", ".join(f"Report {name}" for name in fields)

    def test_that_of_the_gold_is_kept_and_follows_the_values(self):
        before = Provenance(
            ("ada", "bob"),
            "majority",
            MeasuredAgreement("alpha_d", 0.9, 2),
            values={
                "a": {
                    "/people/0/name": ValueOrigin(("ada",), "majority"),
                    "/people/1": ValueOrigin(("ada",), "majority"),
                    "/people/2/name": ValueOrigin(("bob",), "majority"),
                },
                "b": {"/year": ValueOrigin(("bob",), "majority")},
            },
        )
        before.write("gold.jsonl")
        apply(
            table(
                wrong("/people/0/name", "Ada", "Adah"),
                wrong("/people/1", '{"name": "Bo"}'),
                wrong("/people/-", "", '{"name": "Di"}'),
                wrong("/people/-", "", '{"name": "Ed"}'),
            )
        )
        after = Provenance.read("new.jsonl")
        assert (after.annotators, after.strategy, after.agreement) == (
            before.annotators,
            before.strategy,
            before.agreement,
        )
        assert after.values["b"] == before.values["b"]
        assert after.values["a"] == {
            "/people/0/name": ValueOrigin((), "Zoé"),
            "/people/1/name": ValueOrigin(("bob",), "majority"),
            "/people/2": ValueOrigin((), "Zoé"),
            "/people/3": ValueOrigin((), "Zoé"),
        }
        names = [person["name"] for person in json.loads(read().splitlines()[0])["people"]]
        assert names == ["Adah", "Cy", "Di", "Ed"]


class TestFiles:
    def test_nothing_is_overwritten(self):
        path = table(wrong("/year", "1918", "1920"))
        write("new.jsonl", "mine")
        with pytest.raises(DataError, match="arbitre did not write it"):
            apply(path)
        with pytest.warns(UserWarning, match="Writing new-2.jsonl instead"):
            done = apply(path, force=True)
        assert done.out == Path("new-2.jsonl")
        assert read() == "mine"
        with pytest.raises(DataError, match="The output file is an input"):
            apply(path, out="gold.jsonl")

    @pytest.mark.parametrize(
        ("gold", "out"), [("gold.jsonl", "new.json"), ("gold.jsonl", "new"), ("a.json", "new.jsonl")]
    )
    def test_the_copy_has_the_form_of_the_gold(self, gold, out):
        write("a.json", TEXT)
        with pytest.raises(OptionError, match="Expected `out` to be a "):
            apply(table(wrong("/year", "1918", "1920")), gold, out)

    @pytest.mark.parametrize("gold", ["gold.csv", "gold.jsonl.gz", "none.jsonl"])
    def test_gold_of_another_form_or_none_is_an_error(self, gold):
        if gold != "none.jsonl":
            write(gold, "id,name\na,Ada\n")
        with pytest.raises(DataError):
            apply(table(wrong("/year", "1918", "1920")), gold)

    def test_decisions_of_another_form_or_without_a_column_are_an_error(self):
        with pytest.raises(DataError, match="Expected decisions that were exported from a report"):
            apply(write("decisions.txt", ""))
        with pytest.raises(DataError, match="Expected one column 'gold', got none"):
            apply(write("decisions.csv", "document,pointer,decision,value,by\n"))

    def test_a_spreadsheet_in_french_is_read(self):
        text = "\ufeffdocument;pointer;decision;gold;value;by\na;/year;gold is wrong;1918;1920;Zoé\n"
        assert apply(write("decisions.csv", text)).values == 1

    def test_rows_without_a_decision_are_skipped(self):
        assert GoldDecisions.read(table(wrong("/year", "1918", "1920", decision=" "))).decisions == []


class TestTheCommand:
    def run(self, *options):
        return CliRunner().invoke(
            app, ["gold", "apply", "decisions.csv", "--gold", "gold.jsonl", "--out", "new.jsonl", *options]
        )

    def test_it_writes_the_same_files_as_python(self):
        write("schema.json", json.dumps(SCHEMA))
        table(wrong("/year", "1918", "1920"), wrong("/people/0/born", "1815-12-10", "x"))
        done = self.run("--schema", "schema.json")
        assert done.exit_code == 1
        assert "1 value corrected in 1 document: 1 replaced" in done.stdout
        assert "error: decisions.csv:3: The schema does not allow it: 'x' is not a 'date' (format)" in done.stderr
        assert "1 decision refused; all others were applied. It is in new.jsonl.refused.csv" in done.stderr
        names = ("new.jsonl", "new.jsonl.provenance.json", "new.jsonl.refused.csv")
        files = {name: read(name) for name in names}
        apply("decisions.csv", schema="schema.json")
        assert {name: read(name) for name in names} == files

    def test_without_refused_decisions_the_exit_code_is_0(self):
        table(wrong("/year", "1918", "1920"))
        done = self.run("--format", "json")
        assert done.exit_code == 0
        assert json.loads(done.stdout)["operations"] == {"replace": 1}
        assert not Path("new.jsonl.refused.csv").exists()

    def test_the_corrected_gold_is_evaluated_with_its_provenance(self):
        table(wrong("/year", "1918", "1920"))
        self.run()
        evaluation = arbitre.evaluate(SCHEMA, gold="new.jsonl", predicted="gold.jsonl")
        assert evaluation.provenance.headline() == "Gold: single annotator, provenance unknown, 1 value corrected (Zoé)"


def test_many_decisions_on_one_document_take_linear_time():
    many = 1000
    gold = [{"name": f"n{at}"} for at in range(many)]
    operations = []
    for at in range(many):
        operations.append({"op": "test", "path": f"/{at}/name", "value": f"n{at}"})
        operations.append({"op": "replace", "path": f"/{at}/name", "value": "x" if at else 1, "by": "Zoé"})
    operations += ({"op": "add", "path": "/-", "value": {"name": f"new {at}"}, "by": "Zoé"} for at in range(many))
    write("gold/many.json", json.dumps(gold))
    write("decisions.json", json.dumps({"format": "arbitre-decisions/1", "patches": {"many": operations}}))
    schema = {"items": {"properties": {"name": {"type": "string"}}}}
    began = time.process_time()
    done = arbitre.apply_decisions("decisions.json", "gold", out="out", schema=schema)
    assert time.process_time() - began < 15
    assert (done.values, len(done.refused)) == (2 * many - 1, 1)
    expected = [{"name": "x" if at else "n0"} for at in range(many)] + [{"name": f"new {at}"} for at in range(many)]
    assert json.loads(Path("out/many.json").read_text(encoding="utf-8")) == expected
