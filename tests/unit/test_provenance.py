"""The provenance of gold: its sidecar and its headline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import arbitre
from arbitre import bundled
from arbitre.corpus.joining.provenance import (
    DisagreementCounts,
    MeasuredAgreement,
    Provenance,
    ValueOrigin,
    sidecar,
)
from arbitre.corpus.reading.options import read_records
from arbitre.errors import DataError

LEAST = {"format": "arbitre-provenance", "version": 1, "annotators": ["ada"]}
FULL = Provenance(
    ("ada", "bob", "cy"),
    "majority",
    MeasuredAgreement("alpha_d", 0.8971, 9),
    9,
    DisagreementCounts(12, 3, 0),
    {"page 1": {"/speakers/0/name": ValueOrigin(("ada", "bob"), "majority")}},
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory: one gold document as a file, as a folder and as lines."""
    monkeypatch.chdir(tmp_path)
    Path("gold").mkdir()
    Path("gold/a.json").write_text('{"name": "Ada"}', encoding="utf-8")
    Path("gold.jsonl").write_text('{"id": "a", "name": "Ada"}\n', encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
class TestTheSidecar:
    @pytest.mark.parametrize(
        ("source", "name"),
        [
            ("gold.jsonl", "gold.jsonl.provenance.json"),
            ("gold", "gold.provenance.json"),
            ("gold/", "gold.provenance.json"),
            ("gold/a.json", "gold/a.json.provenance.json"),
            ("gold.jsonl.gz", "gold.jsonl.gz.provenance.json"),
        ],
    )
    def test_it_is_beside_its_source(self, source, name):
        assert sidecar(source).as_posix() == name

    def test_that_of_the_working_directory_is_beside_the_directory(self, folder, monkeypatch):
        monkeypatch.chdir("gold")
        assert sidecar(".") == folder / "gold.provenance.json"
        assert sidecar("..") == folder.parent / f"{folder.name}.provenance.json"

    @pytest.mark.parametrize("source", ["gold.jsonl", "gold", "gold/"])
    @pytest.mark.parametrize("provenance", [FULL, Provenance(("ada",))], ids=["full", "least"])
    def test_it_reads_back_as_written(self, source, provenance):
        assert Provenance.read(source) is None
        assert provenance.write(source) == sidecar(source)
        assert Provenance.read(source) == provenance

    @pytest.mark.parametrize("provenance", [FULL, Provenance(("ada",))], ids=["full", "least"])
    def test_it_is_valid_against_its_schema(self, provenance):
        schema = bundled.schema("provenance.schema.json")
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(provenance.to_dict())
        assert Provenance.from_dict(provenance.to_dict()) == provenance

    def test_a_value_of_the_coefficient_that_is_undefined_is_kept_as_null(self):
        undefined = Provenance(("ada", "bob"), agreement=MeasuredAgreement("alpha_d", None))
        assert undefined.to_dict()["agreement"] == {"coefficient": "alpha_d", "value": None}
        assert Provenance.from_dict(undefined.to_dict()) == undefined

    def test_standard_input_has_none(self):
        sidecar("-").write_text(json.dumps(LEAST), encoding="utf-8")
        assert Provenance.read("-") is None

    @pytest.mark.parametrize(
        ("change", "pointer"),
        [
            ({"annotators": []}, "/annotators"),
            ({"annotators": "ada"}, "/annotators"),
            ({"annotators": ["ada", "ada"]}, "/annotators"),
            ({"version": 2}, "/version"),
            ({"agreement": {"coefficient": "alpha_d", "value": 1.5}}, "/agreement/value"),
            ({"agreement": {"coefficient": "alpha_d"}}, "/agreement"),
            ({"stratgy": "majority"}, ""),
            ({"values": {"a": {"/name": {"from": ["ada"]}}}}, "/values/a/~1name"),
        ],
        ids=["nobody", "text", "twice", "version", "too-high", "no-value", "misspelt", "no-by"],
    )
    def test_an_invalid_sidecar_is_an_error_that_names_file_and_pointer(self, change, pointer):
        sidecar("gold").write_text(json.dumps(LEAST | change), encoding="utf-8")
        with pytest.raises(DataError, match="Invalid provenance: ") as caught:
            Provenance.read("gold")
        assert (caught.value.file, caught.value.pointer) == ("gold.provenance.json", pointer)

    def test_invalid_json_is_an_error_that_names_the_file(self):
        sidecar("gold").write_text("{", encoding="utf-8")
        with pytest.raises(DataError) as caught:
            Provenance.read("gold")
        assert caught.value.file == "gold.provenance.json"

    def test_a_provenance_has_annotators(self):
        with pytest.raises(DataError, match="at least one annotator"):
            Provenance(())


@pytest.mark.usefixtures("folder")
class TestDocumentsBesideASidecar:
    @pytest.mark.parametrize("source", ["gold", "gold/*.json"])
    def test_a_sidecar_is_not_a_document(self, source):
        FULL.write("gold/a.json")
        assert [record.id for record in read_records(source, "gold")] == ["a"]

    def test_schema_infer_skips_a_sidecar(self):
        FULL.write("gold/a.json")
        inferred = arbitre.infer_schema("gold")
        assert (inferred.documents, list(inferred.schema["properties"])) == (1, ["name"])
        assert inferred.skipped == (f"{sidecar('gold/a.json')}: a sidecar",)


class TestTheHeadline:
    @pytest.mark.parametrize(
        ("provenance", "headline"),
        [
            (FULL, "Gold: majority of 3 annotators (ada, bob, cy), alpha_d 0.897 on 9 documents"),
            (Provenance(("ada",)), "Gold: single annotator (ada)"),
            (Provenance(("ada",), "majority"), "Gold: single annotator (ada)"),
            (Provenance(("ada",), "corrected OCR"), "Gold: single annotator (ada), corrected OCR"),
            (Provenance(("ada", "bob")), "Gold: 2 annotators (ada, bob)"),
            (Provenance(("a", "b"), "expert chose"), "Gold: 2 annotators (a, b), expert chose"),
            (Provenance(("a", "b"), "unanimity"), "Gold: unanimity of 2 annotators (a, b)"),
            (Provenance(("a", "b"), "collegial"), "Gold: collegial revision of 2 annotators (a, b)"),
            (Provenance(("a", "b"), "dawid-skene"), "Gold: Dawid-Skene consensus of 2 annotators (a, b)"),
            (
                Provenance(("a", "b"), agreement=MeasuredAgreement("pi", None, 1)),
                "Gold: 2 annotators (a, b), pi undefined on 1 document",
            ),
            (Provenance(tuple("abcdefghij")), "Gold: 10 annotators (a, b, c, d, e, f, g, h, …)"),
        ],
        ids=["full", "one", "one-majority", "one-text", "two", "text", "unanimity", "collegial", "ds", "pi", "many"],
    )
    def test_it_names_the_annotators_the_strategy_and_the_agreement(self, provenance, headline):
        assert provenance.headline() == headline
