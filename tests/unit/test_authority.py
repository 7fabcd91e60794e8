"""The normaliser `authority` replaces variants of a name with the name, from an authority file or the schema."""

import json
import pickle

import pytest
from typer.testing import CliRunner

from arbitre import Comparator, SchemaError
from arbitre.causes.changes import with_normalizers
from arbitre.cli import app
from arbitre.schema.describe import authorities_of

PERSONS = [
    {"name": "Larcher, Gérard", "also": ["Gérard Larcher", "G. Larcher", "Larcher"]},
    {"name": "Larcher, Anne", "also": ["Larcher", "A. Larcher"]},
    {"name": "Retailleau, Bruno", "also": "B. Retailleau"},
    {"name": "Boyer, Valérie"},
]
JSON = {"file": "persons.json", "variants": "also"}


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "persons.json", json.dumps(PERSONS))
    write(tmp_path / "persons.jsonl", "\n".join(map(json.dumps, PERSONS)))
    write(
        tmp_path / "persons.csv",
        '\ufeffname,also\n"Larcher, Gérard",Gérard Larcher | G. Larcher|Larcher\n"Larcher, Anne",Larcher | A. Larcher\n'
        '"Retailleau, Bruno",B. Retailleau\n"Boyer, Valérie",\n',
    )
    write(
        tmp_path / "rows.csv",
        "also;name\nGérard Larcher;Larcher, Gérard\nG. Larcher;Larcher, Gérard\nLarcher;Larcher, Gérard\n"
        "Larcher;Larcher, Anne\nA. Larcher;Larcher, Anne\nB. Retailleau;Retailleau, Bruno\n;Boyer, Valérie\n",
    )
    write(tmp_path / "given.csv", (tmp_path / "rows.csv").read_text(encoding="utf-8"))
    write(tmp_path / "rows.tsv", (tmp_path / "rows.csv").read_text(encoding="utf-8").replace(";", "\t"))
    return tmp_path


def write(path, text):
    path.write_text(text, encoding="utf-8")


def schema_of(*normalizers):
    return {"type": "string", "x-arbitre": {"normalize": list(normalizers), "distance": "exact"}}


def comparator(folder, *before, **options):
    write(folder / "schema.json", json.dumps(schema_of(*before, {"authority": options})))
    return Comparator(folder / "schema.json")


@pytest.mark.parametrize(
    "options",
    [
        JSON,
        {"file": "persons.jsonl", "variants": "also"},
        {"file": "persons.csv", "variants": "also", "separator": "|"},
        {"file": "rows.csv", "variants": "also"},
        {"file": "given.csv", "variants": "also", "delimiter": ";"},
        {"file": "rows.tsv", "variants": "also"},
    ],
    ids=lambda options: options["file"],
)
def test_variants_become_names_whatever_the_format(folder, options):
    made = comparator(folder, **options)
    for gold, predicted, quality in (
        ("G. Larcher", "Gérard Larcher", 1.0),
        ("Larcher, Gérard", "Gérard Larcher", 1.0),
        ("A. Larcher", "G. Larcher", 0.0),
        ("Larcher", "Larcher", 1.0),
        ("Larcher", "Larcher, Gérard", 0.0),  # ambiguous: unchanged
        ("unknown", "unknown", 1.0),
        ("unknown", "G. Larcher", 0.0),
        ("g. larcher", "G. Larcher", 0.0),
    ):
        assert made.compare(gold=gold, predicted=predicted).quality == quality
    (used,) = made.authorities
    assert used.to_dict() == {
        "path": "",
        "file": options["file"],
        "names": 4,
        "variants": 5,
        "ambiguous": {"Larcher": ["Larcher, Gérard", "Larcher, Anne"]},
    }


def test_names_and_variants_are_normalised_like_the_values_before_them(folder):
    made = comparator(folder, "casefold", "unaccent", **JSON)
    assert made.compare(gold="GERARD LARCHER", predicted="g. larcher").quality == 1.0
    assert made.compare(gold="larcher, gerard", predicted="G. LARCHER").quality == 1.0


def test_normalisation_can_make_variants_ambiguous_or_names_equal(folder):
    write(folder / "p.json", json.dumps([{"name": "A", "also": ["x"]}, {"name": "B", "also": ["X"]}]))
    assert comparator(folder, file="p.json", variants="also").authorities[0].authority.ambiguous == {}
    folded = comparator(folder, "casefold", file="p.json", variants="also")
    assert folded.authorities[0].authority.ambiguous == {"x": ("a", "b")}
    write(folder / "q.json", json.dumps([{"name": "A", "also": ["x"]}, {"name": "a", "also": ["x"]}]))
    assert comparator(folder, "casefold", file="q.json", variants="also", ambiguous="error").authorities


def test_a_name_that_is_a_variant_of_another_name_is_ambiguous(folder):
    write(folder / "p.json", json.dumps([{"name": "Ada"}, {"name": "Ada Lovelace", "also": ["Ada"]}]))
    made = comparator(folder, file="p.json", variants="also")
    assert made.authorities[0].authority.ambiguous == {"Ada": ("Ada", "Ada Lovelace")}
    assert made.compare(gold="Ada", predicted="Ada Lovelace").quality == 0.0


def test_ambiguous_variants_can_be_refused(folder):
    with pytest.raises(SchemaError, match='"Larcher": "Larcher, Gérard", "Larcher, Anne"') as caught:
        comparator(folder, **JSON, ambiguous="error")
    assert caught.value.pointer == "/x-arbitre/normalize/0/authority/ambiguous"
    assert caught.value.file == str(folder / "schema.json")


def test_the_path_is_relative_to_the_schema_or_the_overlay(folder, monkeypatch):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert comparator(folder, **JSON).authorities
    write(folder / "overlay.json", json.dumps({"": {"normalize": {"authority": JSON}}}))
    assert Comparator({"type": "string"}, overlay=folder / "overlay.json").authorities
    with pytest.raises(SchemaError, match=r"Cannot read the authority file persons\.json"):
        Comparator(schema_of({"authority": JSON}))
    monkeypatch.chdir(folder)
    assert Comparator(schema_of({"authority": JSON})).authorities


def test_the_signature_changes_with_the_content_of_the_file_and_not_with_its_place(folder):
    before = comparator(folder, **JSON).signature
    assert str(folder) not in before.long
    (folder / "other").mkdir()
    write(folder / "other/persons.json", json.dumps(PERSONS))
    assert comparator(folder / "other", **JSON).signature == before
    write(folder / "persons.json", json.dumps(PERSONS[:-1]))
    assert comparator(folder, **JSON).signature.short != before.short


@pytest.mark.parametrize("distance", ["yujian-bo", "token-sort"])
def test_an_authority_file_keeps_a_pseudo_metric(folder, distance):
    schema = schema_of("casefold", {"authority": JSON})
    schema["x-arbitre"]["distance"] = distance
    write(folder / "schema.json", json.dumps(schema))
    certificate = Comparator(folder / "schema.json").certificate
    assert certificate.verdict == ("metric" if distance == "yujian-bo" else "pseudo-metric")
    assert ("authority", "a name and its variants in persons.json") in [
        (one.by, one.values) for one in certificate.identifies
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", "", "Expected an authority file with a suffix of .json"),
        ("a.json", "{", "Not valid JSON"),
        ("a.json", "{}", "Expected an array of objects"),
        ("a.json", '[{"name": "A"}, {"nom": "B"}]', "as record 2"),
        (
            "a.json",
            '[{"name": "A", "variants": [3]}]',
            "Expected variants to be a text or a list of texts, got \\[3\\]",
        ),
        ("a.csv", "nom,variants\n", 'Expected one column "name", got none'),
        ("a.csv", "name,variants\nA\n", "Expected 2 cells, got 1 in line 2"),
        ("a.csv", "name,variants\n,B\n", "Expected a name, got an empty cell in line 2"),
        ("a.csv", 'name,variants\n"A,B\n', "Not valid CSV"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error(tmp_path, name, content, message):
    write(tmp_path / name, content)
    with pytest.raises(SchemaError, match=message) as caught:
        comparator(tmp_path, file=name)
    assert caught.value.pointer == "/x-arbitre/normalize/0/authority/file"


def test_a_plan_with_an_authority_file_travels_between_processes(folder):
    plan = comparator(folder, **JSON).plan
    copied = pickle.loads(pickle.dumps(plan))  # noqa: S301
    assert copied.signature == plan.signature


def test_schema_check_lists_the_authority_files(folder):
    comparator(folder, **JSON)
    result = CliRunner().invoke(app, ["schema", "check", str(folder / "schema.json")])
    assert result.exit_code == 0
    assert "(whole document): authority file persons.json, 4 names, 5 variants" in result.output
    assert "1 variant of several names, not replaced:\n    Larcher: Larcher, Gérard; Larcher, Anne" in result.output
    result = CliRunner().invoke(app, ["schema", "check", "--format", "json", str(folder / "schema.json")])
    assert json.loads(result.output)["authorities"][0]["names"] == 4


def test_schema_check_says_nothing_of_authority_files_without_one(folder):
    write(folder / "schema.json", json.dumps({"type": "string"}))
    result = CliRunner().invoke(app, ["schema", "check", "--format", "json", str(folder / "schema.json")])
    assert "authorities" not in json.loads(result.output)


KINDS = {"journal-article": ["article-journal", "Article"], "book": ["livre", "Article"], "": ["none"]}


def test_names_in_the_schema_are_those_of_a_file(folder):
    made = Comparator(schema_of({"authority": {"names": KINDS}}))
    for gold, predicted, quality in (
        ("journal-article", "article-journal", 1.0),
        ("livre", "book", 1.0),
        ("", "none", 1.0),
        ("book", "Article", 0.0),  # ambiguous: unchanged
        ("book", "journal-article", 0.0),
    ):
        assert made.compare(gold=gold, predicted=predicted).quality == quality
    (used,) = made.authorities
    ambiguous = {"Article": ["journal-article", "book"]}
    assert used.to_dict() == {"path": "", "file": None, "names": 3, "variants": 4, "ambiguous": ambiguous}
    assert ("authority", "a name and its variants") in [(one.by, one.values) for one in made.certificate.identifies]
    assert not made.plan.inputs
    write(folder / "schema.json", json.dumps(schema_of({"authority": {"names": KINDS}})))
    result = CliRunner().invoke(app, ["schema", "check", str(folder / "schema.json")])
    assert "(whole document): names in the schema, 3 names, 4 variants\n  1 variant of several names" in result.output


def test_the_signature_changes_with_the_names_in_the_schema_and_not_with_their_order():
    def signature(names):
        return Comparator(schema_of({"authority": {"names": names}})).signature

    turned = dict(reversed(KINDS.items()))
    assert signature(turned) == signature(KINDS)
    assert signature(KINDS | {"book": ["livre"]}).short != signature(KINDS).short


@pytest.mark.parametrize(
    ("options", "message", "pointer"),
    [
        ({}, "Expected `authority` to have either `file` or `names`, got neither", ""),
        ({"file": "persons.json", "names": KINDS}, "either `file` or `names`, got both", ""),
        ({"names": KINDS, "variants": "also"}, "`variants` of `authority` applies to a `file`", "/variants"),
        ({"names": {"book": "livre"}}, 'Expected `names` to be of type array, got "livre"', "/names/book"),
        ({"names": KINDS, "ambiguous": "error"}, 'several names \\(names in the schema\\): "Article"', "/ambiguous"),
    ],
)
def test_names_and_files_are_alternatives(folder, options, message, pointer):
    with pytest.raises(SchemaError, match=message) as caught:
        comparator(folder, **options)
    assert caught.value.pointer == f"/x-arbitre/normalize/0/authority{pointer}"


def test_names_are_added_to_the_authority_file_of_a_path(folder):
    made = comparator(folder, "casefold", **JSON)
    settings = with_normalizers(made.plan, "", [{"authority": {"names": {"larcher, gérard": ["president"]}}}])
    changed = made.plan.with_overlay({"": settings})
    assert [one.authority.names for one in authorities_of(changed.sites)] == [4, 1]
