"""Published figures of agreement reproduced by `arbitre agree` and `arbitre gamma`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from arbitre import DataError, OptionError, agreement, bundled
from arbitre.agreement import by_document
from arbitre.cli import app
from arbitre.statistics.intervals import draws

pytestmark = pytest.mark.usefixtures("few_shuffles")

TABLES = Path(__file__).resolve().parents[3] / "shared" / "oracles" / "agreement.json"

HUMANS = {"human 1": "ABCAAB", "human 2": "ABCBBB", "human 3": "ABCABA"}
SYSTEMS = {"none": {}, "first": {"system 1": "ABCAAC"}, "second": {"system 2": "ABCBBA"}}
"""Three annotators, and each of two systems (Mathet and Widlöcher, 2016, table 6)."""


@pytest.fixture(scope="module")
def tables():
    if not TABLES.exists():
        pytest.skip("the published tables are not here")
    return json.loads(TABLES.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """Intervals of 20 resamples: no test here looks at them, but those of the command are those of Python."""
    monkeypatch.setattr(by_document, "draws", lambda units, _, *others: draws(units, 20, *others))


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [*arguments, "--format", "json"])
    assert result.exit_code == code, result.output
    if code:
        return " ".join(result.stderr.split())
    printed = json.loads(result.stdout)
    jsonschema.validate(printed, bundled.schema("agreement.schema.json"))
    return printed


def table(ratings, name="ratings.csv"):
    """A table of ratings; returns the name of the file."""
    rows = [["item", *ratings], *([number, *row] for number, row in enumerate(zip(*ratings.values(), strict=True)))]
    Path(name).write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    return name


def agree(ratings, schema=None):
    """What `arbitre agree` prints for a table of ratings; checks that Python returns the same."""
    options = []
    if schema is not None:
        Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
        options = ["--schema", "schema.json"]
    printed = run("agree", table(ratings), "--id-key", "item", *options)
    result = agreement.agree(schema, "ratings.csv", id_key="item")
    assert printed == json.loads(json.dumps(result.to_dict()))
    return printed


def coefficients(ratings, schema=None):
    """All coefficients of a table of ratings, by name."""
    return agree(ratings, schema)["coefficients"][""]


def test_the_coefficients_of_small_examples_are_the_published_ones(tables):
    for example in tables["table1"]["examples"]:
        ratings = {"a": example["a"], "b": example["b"]}
        printed = coefficients(ratings, {"enum": list("ABCD")})
        computed = {name: printed[name]["value"] for name in ("kappa", "pi", "alpha")}
        computed |= {"S_K4": printed["s"]["value"], "observed": printed["kappa"]["observed"]}
        assert computed == pytest.approx({name: example[name] for name in computed}, abs=1e-9)
        if "S_K2" in example:
            assert coefficients(ratings, {"enum": ["A", "B"]})["s"]["value"] == pytest.approx(example["S_K2"], abs=1e-9)


def test_a_rare_category_lowers_kappa_but_not_s_and_ac1(tables):
    published = tables["table2"]
    cells = [
        (a, b, count)
        for a, row in zip("+-", published["contingency"], strict=True)
        for b, count in zip("+-", row, strict=True)
    ]
    printed = coefficients(
        {
            "a": "".join(a * count for a, _, count in cells),
            "b": "".join(b * count for _, b, count in cells),
        }
    )
    for name, key in {"kappa": "kappa", "pi": "pi", "alpha": "alpha", "s": "S_K2", "ac1": "AC1"}.items():
        assert printed[name]["value"] == pytest.approx(published[key], abs=1e-6)
    assert printed["kappa"]["observed"] == pytest.approx(published["observed"], abs=1e-12)
    assert printed["alpha"]["by_category"]["+"] == pytest.approx(published["specific_agreement_positive"], abs=1e-12)


def test_a_constant_shift_lowers_nominal_alpha_but_not_interval_alpha(tables):
    interval = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 10}}}}
    for scale in tables["table4"]["scales"]:
        ratings = {"a": scale["a"], "b": scale["b"]}
        for level, schema in (("nominal", None), ("interval", interval)):
            alpha = agree(ratings, schema)["alpha"]
            assert alpha["name"] == f"alpha_{level}"
            assert alpha["value"] == pytest.approx(scale[f"alpha_{level}"], abs=5e-5)


def test_the_baseline_of_a_system_depends_on_the_system(tables):
    published = tables["table5"]
    for system in ("system1", "system2"):
        kappa = coefficients({"reference": published["reference"], system: published[system]})["kappa"]
        assert (kappa["observed"], kappa["expected"]) == (published[f"{system}_score"], published[f"{system}_expected"])
        assert kappa["value"] == pytest.approx(published[f"{system}_kappa"], abs=1e-6)
    itself = coefficients({"reference": published["reference"], "copy": published["reference"]})["kappa"]
    assert itself["expected"] == published["reference_self_expected"]


def test_homogeneous_pages_with_the_same_agreement_differ_after_correction(tables):
    published = tables["homogeneity"]
    for share, expected, corrected in zip(
        published["proportions"], published["expected"], published["corrected"], strict=True
    ):
        swapped, size = 5, 100  # each annotator alone gives 5 % of the items the category A
        both = round(share * size) - swapped
        rest = size - both - 2 * swapped
        pi = coefficients(
            {
                "a": "A" * (both + swapped) + "B" * (swapped + rest),
                "b": "A" * both + "B" * swapped + "A" * swapped + "B" * rest,
            }
        )["pi"]
        assert (pi["observed"], pi["expected"]) == (pytest.approx(0.9), pytest.approx(expected))
        assert pi["value"] == pytest.approx(corrected, abs=5e-4)


def test_pages_with_their_own_distributions_have_another_local_than_global_agreement(tables):
    published = tables["homogeneity"]
    for name, first in (("ada", True), ("bob", False)):
        lines = []
        for page, share in enumerate(published["proportions"][:2]):
            swapped, both = 5, round(share * 100) - 5
            mine = "A" * swapped + "B" * swapped if first else "B" * swapped + "A" * swapped
            row = "A" * both + mine + "B" * (100 - both - 2 * swapped)
            lines.append(json.dumps({"id": f"page {page}", **{f"item {at}": value for at, value in enumerate(row)}}))
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    schema = {"type": "object", "additionalProperties": {"enum": ["A", "B"]}}
    Path("schema.json").write_text(json.dumps(schema), encoding="utf-8")
    pi = run("agree", "ada=ada.jsonl", "bob=bob.jsonl", "--schema", "schema.json")["coefficients"]["/*"]["pi"]
    pages, whole = zip(published["expected"], published["corrected"], strict=True), ("expected", "value")
    low, high, both = (
        {key: pytest.approx(value, abs=5e-4) for key, value in zip(whole, page, strict=True)} for page in pages
    )
    assert {key: pi[key] for key in whole} == both
    assert {key: pi["local"]["lowest"][key] for key in whole} == low
    assert {key: pi["local"]["highest"][key] for key in whole} == high
    assert pi["local"]["expected"] == pytest.approx((published["expected"][0] + published["expected"][1]) / 2)
    text = CliRunner().invoke(app, ["agree", "ada=ada.jsonl", "bob=bob.jsonl", "--schema", "schema.json"]).stdout
    assert "0.58" in text
    assert "0.66" in text


@pytest.mark.parametrize(
    ("a", "b", "used", "available"),
    [
        ("AAAAAB", "ABBBBB", -1 / 3, 0.2),
        ("ABABAB", "AABABB", -1 / 3, 0.2),
        ("ACCCCB", "ADDDDB", 0.1220, 0.1220),
        ("ACCDDB", "ADDCCB", 0.1220, 0.1220),
    ],
)
def test_ac1_depends_on_the_available_categories(a, b, used, available):
    ratings = {"a": a, "b": b}
    assert coefficients(ratings)["ac1"]["value"] == pytest.approx(used, abs=5e-5)
    assert coefficients(ratings, {"enum": list("ABCD")})["ac1"]["value"] == pytest.approx(available, abs=5e-5)


@pytest.mark.parametrize(
    ("system", "alpha", "fleiss"), [("none", 0.4950, 0.4653), ("first", 0.5027, 0.4811), ("second", 0.5289, 0.5084)]
)
def test_a_system_added_to_the_annotators_raises_alpha(system, alpha, fleiss):
    ratings = HUMANS | SYSTEMS[system]
    assert coefficients(ratings)["alpha"]["value"] == pytest.approx(alpha, abs=5e-5)
    assert coefficients(ratings)["pi"]["value"] == pytest.approx(fleiss, abs=5e-5)
    sources = []
    for name, row in ratings.items():
        records = [json.dumps({"id": at, "rating": value}) for at, value in enumerate(row)]
        Path(f"{name}.jsonl").write_text("\n".join(records), encoding="utf-8")
        sources.append(f"{name}={name}.jsonl")
    Path("schema.json").write_text(json.dumps({"properties": {"rating": {"enum": ["A", "B", "C"]}}}), encoding="utf-8")
    printed = run("agree", *sources, "--schema", "schema.json")
    assert printed["by_path"]["/rating"]["value"] == pytest.approx(alpha, abs=5e-5)


def test_kappa_of_atoms_prefers_other_units_but_gamma_does_not():
    alex = [(0, 4, "A"), (4, 8, "A"), (8, 12, "A"), (16, 18, "A")]  # positions are doubled, to be integers
    wrong, right = [(0, 12, "A"), (16, 18, "B")], [(0, 4, "A"), (5, 8, "A"), (10, 14, "A"), (16, 18, "B")]
    kappas, gammas = [], []
    for suzan in (wrong, right):
        annotators = {"alex": alex, "suzan": suzan}
        atoms = {
            name: ["".join(label for s, e, label in spans if s <= at < e) or "none" for at in range(0, 20, 2)]
            for name, spans in annotators.items()
        }
        kappas.append(coefficients(atoms)["kappa"]["value"])
        for name, spans in annotators.items():
            record = {"id": "1", "spans": [{"start": s, "end": e, "label": label} for s, e, label in spans]}
            Path(f"{name}.jsonl").write_text(json.dumps(record), encoding="utf-8")
        printed = run("gamma", "alex=alex.jsonl", "suzan=suzan.jsonl", "--alpha", "3")
        gammas.append(printed["gamma"]["local"]["value"])
    assert kappas[0] > kappas[1]
    assert kappas[0] == pytest.approx(0.796, abs=5e-4)
    assert gammas[0] < 0.3 < gammas[1]


def test_missing_ratings_and_numbers_are_read_from_the_table():
    Path("ratings.tsv").write_text("a\tb\tc\n1\t1\t\n2\t\t2\n1.5\t2\t1\n", encoding="utf-8")
    schema = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 10}}}}
    computed = agreement.agree(schema, "ratings.tsv").alpha
    data = [[1, 2, 1.5], [1, None, 2], [None, 2, 1]]
    assert computed.value == pytest.approx(agreement.krippendorff_alpha(data, "interval").value)
    nominal = agreement.agree(None, "ratings.tsv").alpha
    assert nominal.value == pytest.approx(agreement.krippendorff_alpha(data).value)


@pytest.mark.parametrize(
    ("a", "b", "schema", "categories"),
    [
        (["1.0", "2.0", "", "2.5"], ["1", "2", "1", "2.5"], None, ["1", "2", "2.5"]),
        (["1.0", "2.0", "1.0", "?"], ["1", "2", "1", "?"], None, ["1.0", "2.0", "?", "1", "2"]),
        (["007", "2.0"], ["7", "2"], None, ["007", "2.0", "7", "2"]),
        (["1.10", "2"], ["1.1", "2"], None, ["1.10", "2", "1.1"]),
        (["1.0", "2.0"], ["1", "2"], {"enum": ["1", "1.0", "2", "2.0"]}, ["1", "1.0", "2", "2.0"]),
    ],
    ids=["numbers", "texts too", "leading zeros", "final zero", "schema"],
)
def test_equal_numbers_are_one_category_if_all_ratings_are_numbers(a, b, schema, categories):
    printed = agree({"a": a, "b": b}, schema)["alpha"]
    assert sorted(printed["margins"]) == sorted(categories)
    assert (printed["value"] == 1.0) == (categories[:2] == ["1", "2"])


def test_suggested_distances_between_numbers_apply_to_the_table():
    ratings = {"a": ["1.0", "1.0", "2.0", "2.0", "3.0", "3.0"] * 8, "b": [1, 2, 1, 2, 3, 3] * 8}
    table(ratings)
    suggested = agreement.suggest_category_distances(None, "ratings.csv", id_key="item")
    assert [each.values for each in suggested.suggestions] == [(1, 2)]
    alpha = agreement.agree(None, "ratings.csv", id_key="item", overlay=suggested.overlay).alpha
    assert alpha.value == pytest.approx(suggested.alpha[""]["with"])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "id,a,b\n1,A,A\n1,B,B\n", "a.csv:3: The item '1' occurs twice"),
        ("a.csv", "id,a,b\n1,A\n", "a.csv:2: Expected 3 cells, got 2"),
        ("a.csv", "id,a\n1,A\n", "Expected at least two annotators, got 1"),
        ("a.jsonl", "{}", "Expected NAME=PATH"),
    ],
    ids=["item twice", "short row", "one annotator", "no table"],
)
def test_tables_that_cannot_be_used_are_refused(name, text, message):
    Path(name).write_text(text, encoding="utf-8")
    assert message in run("agree", name, code=2)
    with pytest.raises(DataError) as caught:
        agreement.agree(None, name)
    assert message in str(caught.value)


def test_documents_need_a_schema():
    table({"a": "A", "b": "A"}, "a.csv")
    assert "--schema is required, except for a table of ratings" in run("agree", "a=a.csv", "b=a.csv", code=2)
    with pytest.raises(OptionError, match="`schema` is required"):
        agreement.agree(None, {"a": "a.csv", "b": "a.csv"})


def test_files_of_tagged_tokens_are_refused_as_documents_with_the_commands_that_read_them():
    Path("a.conll").write_text("x B-city\n", encoding="utf-8")
    Path("schema.json").write_text("{}", encoding="utf-8")
    result = CliRunner().invoke(
        app, ["evaluate", "--gold", "a.conll", "--predicted", "a.conll", "--schema", "schema.json"]
    )
    assert result.exit_code == 2
    assert "CoNLL files are read by `arbitre entities`" in result.output


def test_suggested_distances_have_valid_json():
    ratings = {"a": "AABBCC" * 8, "b": "ABABCC" * 8}
    printed = run("agree", table(ratings), "--id-key", "item", "--suggest-category-distances")
    assert [suggestion["values"] for suggestion in printed["suggestions"]] == [["A", "B"]]
    suggested = agreement.suggest_category_distances(None, "ratings.csv", id_key="item")
    assert printed == json.loads(json.dumps(suggested.to_dict()))
