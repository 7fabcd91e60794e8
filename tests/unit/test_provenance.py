"""The provenance of gold: the file beside it, and its headline in the results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.builders import read_records
from typer.testing import CliRunner

import arbitre
from arbitre import agreement, bundled
from arbitre.cli import app
from arbitre.corpus.worker import Worker
from arbitre.errors import DataError
from arbitre.inputs.provenance import DisagreementCounts, MeasuredAgreement, Provenance, ValueOrigin, sidecar
from arbitre.report.build_view import build_subject

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
        undefined = Provenance(("ada", "bob"), agreement=MeasuredAgreement("alpha_d", None, 9))
        assert undefined.to_dict()["agreement"] == {"coefficient": "alpha_d", "value": None, "documents": 9}
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
            ({"agreement": {"coefficient": "alpha_d", "value": 1.5, "documents": 9}}, "/agreement/value"),
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

    @pytest.mark.parametrize("annotators", [(), "ada"], ids=["none", "text"])
    def test_a_provenance_has_annotators(self, annotators):
        with pytest.raises(DataError, match="Expected the names of one or more annotators"):
            Provenance(annotators)

    def test_a_name_that_is_not_unicode_is_an_error(self):
        with pytest.raises(DataError, match="lone surrogate"):
            Provenance(("ada\udc80",)).write("gold")
        assert not sidecar("gold").exists()


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
            (Provenance(("a", "b"), "collegial"), "Gold: collegially revised consensus of 2 annotators (a, b)"),
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


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
UNKNOWN = "Gold: single annotator, provenance unknown"
MAJORITY = "Gold: majority of 3 annotators (ada, bob, cy), alpha_d 0.897 on 9 documents"


@pytest.fixture
def corpus(folder):
    """The gold, with predictions, pairs, a manifest and a schema."""
    Path("predicted.jsonl").write_text('{"id": "a", "name": "Ida"}\n', encoding="utf-8")
    Path("pairs.jsonl").write_text('{"id": "a", "gold": {"name": "Ada"}, "predicted": {}}\n', encoding="utf-8")
    Path("manifest.csv").write_text("id,gold,predicted\na,gold/a.json,gold/a.json\n", encoding="utf-8")
    Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    return folder


def evaluated(**options):
    return arbitre.evaluate(SCHEMA, **({"gold": "gold.jsonl", "predicted": "predicted.jsonl"} | options))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "100"})
    assert result.exit_code == code, result.output
    return result


COMMAND = ("evaluate", "--schema", "schema.json", "--gold", "gold.jsonl", "--predicted", "predicted.jsonl")


@pytest.mark.usefixtures("corpus")
class TestAnEvaluation:
    def test_gold_without_a_sidecar_is_of_unknown_provenance(self):
        assert evaluated().provenance.headline() == UNKNOWN
        assert arbitre.evaluate(SCHEMA, [("a", {}, {})]).provenance.headline() == UNKNOWN

    @pytest.mark.parametrize(
        ("source", "options"),
        [
            ("gold.jsonl", {}),
            ("gold/", {"gold": "gold"}),
            ("gold/a.json", {"gold": "gold/*.json"}),
            ("pairs.jsonl", {"gold": (), "predicted": (), "pairs": "pairs.jsonl"}),
            ("manifest.csv", {"gold": (), "predicted": (), "manifest": "manifest.csv"}),
        ],
        ids=["lines", "folder", "glob", "pairs", "manifest"],
    )
    def test_it_reads_the_sidecar_of_its_gold(self, source, options):
        FULL.write(source)
        provenance = evaluated(**options).provenance
        assert provenance.known == ((Path(source).name, replace(FULL, values={})),)
        assert (provenance.headline(), provenance.unknown) == (MAJORITY, 0)

    def test_every_source_has_its_own_provenance(self):
        Path("more.jsonl").write_text('{"id": "b", "name": "Bo"}\n', encoding="utf-8")
        gold = ["gold.jsonl", "more.jsonl"]
        Provenance(("ada",)).write("gold.jsonl")
        assert evaluated(gold=gold).provenance.headline() == (
            "Gold: single annotator (ada), from gold.jsonl; single annotator, provenance unknown, from 1 other source"
        )
        Provenance(("ada",)).write("more.jsonl")
        assert evaluated(gold=gold).provenance.headline() == "Gold: single annotator (ada)"
        Provenance(("bob",)).write("more.jsonl")
        assert evaluated(gold=gold).provenance.headline() == (
            "Gold: single annotator (ada), from gold.jsonl; single annotator (bob), from more.jsonl"
        )

    def test_an_invalid_sidecar_stops_it(self):
        sidecar("gold.jsonl").write_text("{}", encoding="utf-8")
        with pytest.raises(DataError, match="Invalid provenance"):
            evaluated()
        assert "gold.jsonl.provenance.json: Invalid provenance" in run(*COMMAND, code=2).stderr

    @pytest.mark.parametrize("form", ["provenance", "file"])
    def test_a_given_provenance_replaces_that_of_the_sidecar(self, form):
        Provenance(("bob",)).write("gold.jsonl")
        file = FULL.write("other")
        provenance = FULL if form == "provenance" else file
        for pairs in (None, [("a", {"name": "Ada"}, {})]):
            sources = {"gold": "gold.jsonl", "predicted": "predicted.jsonl"} if pairs is None else {}
            evaluation = arbitre.evaluate(SCHEMA, pairs, provenance=provenance, **sources)
            assert evaluation.provenance.headline() == MAJORITY
        assert MAJORITY in run(*COMMAND, "--provenance", file).stdout

    def test_it_keeps_the_provenance_when_saved_and_loaded(self, tmp_path):
        FULL.write("gold.jsonl")
        evaluation = evaluated(out="out")
        loaded = arbitre.load("out")
        assert loaded.provenance == evaluation.provenance
        evaluation.save(tmp_path / "again")
        assert arbitre.load(tmp_path / "again").provenance == evaluation.provenance
        plain = json.loads(Path("out/evaluation.json").read_text(encoding="utf-8"))
        Draft202012Validator(bundled.schema("evaluation.schema.json")).validate(plain)
        stored = plain["provenance"]
        assert (stored["headline"], stored["unknown"]) == (MAJORITY, 0)
        assert stored["sources"] == [{"source": "gold.jsonl", "provenance": replace(FULL, values={}).to_dict()}]

    def test_the_terminal_shows_the_headline_beside_the_scores(self):
        assert UNKNOWN in run(*COMMAND).stdout
        FULL.write("gold.jsonl")
        lines = run(*COMMAND).stdout.splitlines()
        assert MAJORITY in lines[:6]
        assert json.loads(run(*COMMAND, "--format", "json").stdout)["provenance"]["headline"] == MAJORITY
        assert MAJORITY in evaluated()._repr_html_()

    def test_the_flat_comparison_shows_the_headline_too(self):
        FULL.write("gold.jsonl")
        assert MAJORITY in run(*COMMAND, "--flat").stdout.splitlines()

    def test_the_results_of_entities_have_the_provenance_of_their_gold(self):
        Path("gold.conll").write_text("Ada\tB-person\n", encoding="utf-8")
        gold = arbitre.entities.read("gold.conll")
        assert arbitre.entities.evaluate(gold, gold).provenance.headline() == UNKNOWN
        FULL.write("gold.conll")
        assert arbitre.entities.evaluate(gold, gold).provenance.headline() == MAJORITY

    def test_invisible_characters_of_a_sidecar_are_shown(self):
        Provenance(("ada\u202e",)).write("gold.jsonl")
        assert "single annotator (ada\\u202e)" in run(*COMMAND).stdout

    def test_the_report_shows_the_headline_in_both_languages(self):
        FULL.write("gold.jsonl")
        evaluation = evaluated()
        for language, text in (
            ("en", MAJORITY),
            ("fr", "Référence\xa0: majorité de 3 annotateurs (ada, bob, cy), alpha_d = 0,897 sur 9 documents"),
        ):
            evaluation.report("report.html", language=language)
            page = Path("report.html").read_text(encoding="utf-8")
            assert text in page
            assert ("was not checked" if language == "en" else "n’a pas été vérifiée") not in page

    def test_gold_of_one_annotator_is_a_caveat_of_the_report(self):
        Provenance(("ada",)).write("gold.jsonl")
        evaluated().report("report.html")
        assert "The gold itself was not checked" in Path("report.html").read_text(encoding="utf-8")

    def test_provenance_changes_neither_the_signature_nor_the_scores(self):
        before = evaluated()
        FULL.write("gold.jsonl")
        after = evaluated()
        assert after.signature == before.signature
        assert after.micro == before.micro

    def test_a_resumed_evaluation_keeps_its_work_and_reads_the_changed_sidecar(self, monkeypatch):
        evaluated(out="out", keep_checkpoints=True)
        FULL.write("gold.jsonl")
        monkeypatch.setattr(Worker, "__call__", lambda *_: pytest.fail("a finished work unit is compared again"))
        assert evaluated(out="out", resume=True).provenance.headline() == MAJORITY
        assert MAJORITY in Path("out/report.html").read_text(encoding="utf-8")

    def test_results_without_provenance_still_make_a_report(self):
        evaluated(out="out")
        plain = json.loads(Path("out/evaluation.json").read_text(encoding="utf-8"))
        del plain["provenance"]
        assert build_subject(plain).provenance == [["single annotator, provenance unknown"]]


@pytest.mark.usefixtures("corpus")
def test_a_ranking_shows_the_provenance_of_its_gold():
    FULL.write("gold.jsonl")
    systems = {"a": "predicted.jsonl", "b": "gold.jsonl"}
    ranking = arbitre.rank(systems, schema=SCHEMA, gold="gold.jsonl", out="out")
    assert ranking.provenance.headline() == MAJORITY
    assert arbitre.load("out") == ranking
    plain = json.loads(Path("out/ranking.json").read_text(encoding="utf-8"))
    Draft202012Validator(bundled.schema("ranking.schema.json")).validate(plain)
    assert MAJORITY in Path("out/report.html").read_text(encoding="utf-8")
    command = ("rank", "--schema", "schema.json", "--gold", "gold.jsonl", "a=predicted.jsonl", "b=gold.jsonl")
    assert run(*command).stdout.splitlines()[2] == MAJORITY
    assert UNKNOWN not in run(*command).stdout
    Path(sidecar("gold.jsonl")).unlink()
    assert run(*command).stdout.splitlines()[2] == UNKNOWN


@pytest.mark.usefixtures("corpus")
def test_a_comparison_of_factors_shows_the_provenance_of_its_manifest():
    lines = "id,gold,predicted,run,ocr\na,gold/a.json,gold/a.json,1,x\na,gold/a.json,gold/a.json,2,y\n"
    Path("runs.csv").write_text(lines, encoding="utf-8")
    FULL.write("runs.csv")
    command = ("rank", "--schema", "schema.json", "--manifest", "runs.csv", "--factor", "ocr")
    assert run(*command).stdout.splitlines()[2] == MAJORITY
    plain = json.loads(run(*command, "--format", "json").stdout)
    Draft202012Validator(bundled.schema("factors.schema.json")).validate(plain)
    assert plain["provenance"]["headline"] == MAJORITY


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("gold", ["built.jsonl", "built"])
def test_an_evaluation_reads_the_provenance_of_a_consensus(gold):
    for annotator, name in (("ada", "Ada"), ("bob", "Ada"), ("cy", "Eda")):
        Path(f"{annotator}.jsonl").write_text(f'{{"id": "a", "name": "{name}"}}\n', encoding="utf-8")
    annotators = {name: f"{name}.jsonl" for name in ("ada", "bob", "cy")}
    built = agreement.consensus(SCHEMA, annotators, out=gold)
    evaluation = evaluated(gold=gold)
    assert evaluation.provenance.headline() == built.provenance.headline()
    assert evaluation.provenance.headline().startswith(
        "Gold: minimum-risk consensus of 3 annotators (ada, bob, cy), alpha_d "
    )
    assert Provenance.read(gold) == built.provenance
