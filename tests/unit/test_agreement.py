"""Agreement between annotators: edge cases, errors, gamma and the command."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest
from typer.testing import CliRunner

from arbitre import Comparator, DataError, OptionError, agreement
from arbitre.agreement.categorical import RatingSums
from arbitre.agreement.ratings import Ratings
from arbitre.cli import app

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_shuffles")]

ATOMISED = {"alex": [(0, 2, "A"), (2, 4, "A"), (4, 6, "A"), (8, 9, "A")], "suzan": [(0, 6, "A"), (8, 9, "B")]}
ALIGNED = ATOMISED | {"suzan": [(0, 2, "A"), (2.5, 4, "A"), (5, 7, "A"), (8, 9, "B")]}
"""Two configurations (after Mathet and Widlöcher, 2016, table 3): different units, or the same with one other label."""


def atomised(continuum):
    """The label of each unit of length 1, per annotator; "" between the spans."""
    return [
        [next((label for start, end, label in spans if start <= at < end), "") for at in range(10)]
        for spans in continuum.values()
    ]


def test_kappa_of_atoms_prefers_other_units_but_gamma_does_not():
    wrong, right = (agreement.cohen_kappa(*atomised(continuum)).value for continuum in (ATOMISED, ALIGNED))
    assert wrong > right
    assert wrong == pytest.approx(0.796, abs=5e-4)
    wrong, right = (agreement.gamma(continuum, alpha=3.0).value for continuum in (ATOMISED, ALIGNED))
    assert wrong < 0.3 < right


def test_gamma_of_identical_annotations_is_1_whatever_the_unmatched_dissimilarity():
    pages = {"ada": [(0, 4, "name"), (6, 9, "date")], "bob": [(0, 4, "name"), (6, 9, "date")]}
    assert agreement.gamma(pages).value == 1.0
    assert agreement.gamma(ALIGNED, unmatched=0.5).value == pytest.approx(agreement.gamma(ALIGNED).value)


def test_an_integer_dissimilarity_does_not_round_the_others():
    pages = {"ada": [(0, 4, "name"), (6, 9, "date")], "bob": [(0, 5, "name"), (7, 9, "date")]}
    assert agreement.gamma(pages, unmatched=1).value == agreement.gamma(pages, unmatched=1.0).value


def test_gamma_without_units_is_undefined():
    coefficient = agreement.gamma({"ada": [], "bob": []})
    assert coefficient.value is None
    assert coefficient.reason


@pytest.mark.slow
def test_gamma_is_higher_with_global_chance_if_documents_have_their_own_categories():
    documents = [
        {name: [(at, at + 3, label) for at in (0, 5, 10, 15)] for name in ("ada", "bob")} for label in ("A", "B")
    ]
    documents = [document | {"bob": [(s + 1, e + 1, c) for s, e, c in document["bob"]]} for document in documents]
    local, everywhere = (
        agreement.gamma(documents, expected=expected, precision=0.1) for expected in ("local", "global")
    )
    assert local.observed == everywhere.observed
    assert everywhere.value > local.value


def test_units_before_position_0_have_the_same_gamma():
    there = {"ada": [(0, 3, "A"), (5, 10, "B")], "bob": [(0, 4, "A"), (6, 10, "A")]}
    before = {name: [(start - 10, end - 10, label) for start, end, label in units] for name, units in there.items()}
    assert agreement.gamma(before).expected == pytest.approx(agreement.gamma(there).expected)


def test_the_labels_exchanged_most_often_come_first():
    page = {"ada": [(0, 2, "A"), (4, 6, "B"), (8, 10, "B")], "bob": [(0, 2, "B"), (4, 6, "C"), (8, 10, "C")]}
    assert agreement.gamma(page).exchanged == (("B", "C", 2), ("A", "B", 1))


@pytest.mark.parametrize("option", [{"samples": 0}, {"seed": 1.5}, {"precision": 0.0}, {"unmatched": 0.0}])
def test_an_option_of_gamma_out_of_range_is_refused(option):
    with pytest.raises(OptionError, match=f"Expected `{next(iter(option))}` to be"):
        agreement.gamma(ALIGNED, **option)


@pytest.mark.parametrize("unit", [(3, 3, "A"), (4, 2, "A"), (0, float("nan"), "A"), {"start": 1}, 7])
def test_an_invalid_unit_is_refused(unit):
    with pytest.raises(DataError, match=r"Expected"):
        agreement.gamma({"ada": [unit], "bob": []})


def test_sequences_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="the same number of ratings"):
        agreement.observed("AB", "ABC")


def test_unknown_levels_and_weights_are_refused_with_a_suggestion():
    with pytest.raises(OptionError, match="nominal"):
        agreement.krippendorff_alpha(["AB", "AB"], "nominl")
    with pytest.raises(OptionError, match="linear"):
        agreement.cohen_kappa([1, 2], [2, 1], weights="linaer")


def test_weights_need_ordered_categories():
    with pytest.raises(DataError, match="ordered"):
        agreement.cohen_kappa([1, "a"], [1, "a"], weights="linear")
    assert agreement.cohen_kappa([1, "a"], ["a", 1], weights="linear", categories=[1, "a"]).value == -1.0


def test_true_and_1_are_different_categories():
    assert agreement.observed([True, 1], [1, 1]).value == 0.5


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_disagreement_is_divided_by_the_largest_difference(level):
    """The agreement does not depend on the unit, and alpha is that of differences that are not divided."""
    pooled = [1, 2, 2, 2, 4, 4, 1, 1]  # of the items with two ratings
    ranks = {1: 1.5, 2: 4.5, 4: 7.0}
    difference = {
        "ordinal": lambda a, b: (ranks[a] - ranks[b]) ** 2,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2,
    }[level]
    largest = max(difference(a, b) for a in pooled for b in pooled)
    observed = difference(1, 2) / 4
    expected = sum(difference(a, b) for a, b in permutations(pooled, 2)) / (8 * 7)
    for unit in (1, 1000):
        data = [[value and unit * value for value in row] for row in ([1, 2, 4, 1, 9], [2, 2, 4, 1, None])]
        alpha = agreement.krippendorff_alpha(data, level)
        assert alpha.observed == pytest.approx(1 - observed / largest)
        assert alpha.expected == pytest.approx(1 - expected / largest)
        assert alpha.value == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("distance", [{"absolute": {"scale": 100}}, {"ordinal": {"order": [1, 2, 5, 9]}}])
def test_more_of_the_same_ratings_have_the_same_observed_agreement(distance):
    compare = Comparator({"type": "number", "x-arbitre": {"distance": distance}})
    rows = [(1, 2), (5, 5), (9, 5), (2, 2), (9, 9), (1, 1)]
    found = [
        agreement.structural(
            compare,
            {name: {f"{at:03}": row[side] for at, row in enumerate(rows * times)} for side, name in enumerate("ab")},
            resamples=50,
        ).alpha
        for times in (2, 20)
    ]
    assert found[0].observed == pytest.approx(found[1].observed)
    assert 0.5 < found[0].observed < 1.0
    assert all(0.0 <= each.expected < each.observed for each in found)
    assert all(each.interval.low < each.value < each.interval.high for each in found)


def test_disagreement_within_documents_is_divided_by_the_same_difference():
    compare = Comparator(
        {"additionalProperties": {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 9}}}}}
    )
    ada = {"p": {"x": 100, "y": 300, "z": 500}, "q": {"x": 200, "y": 100}}
    bob = {"p": {"x": 100, "y": 200, "z": 500}, "q": {"x": 200, "y": 100}}
    alpha = agreement.structural(compare, {"ada": ada, "bob": bob}).by_path["/*"]
    assert alpha.observed == pytest.approx(alpha.local.observed) == pytest.approx(1 - 1 / 80)
    assert alpha.local.value == pytest.approx(
        (alpha.local.observed - alpha.local.expected) / (1 - alpha.local.expected)
    )
    assert 0.0 < alpha.local.lowest.expected < alpha.local.expected < alpha.local.highest.expected < 1.0


def test_alpha_takes_any_difference():
    data = [[0, 1, 2, 3], [1, 2, 3, 3]]
    by_function = agreement.krippendorff_alpha(data, lambda a, b: (a - b) ** 2)
    assert by_function.value == pytest.approx(agreement.krippendorff_alpha(data, "interval").value)
    with pytest.raises(DataError, match="symmetric"):
        agreement.krippendorff_alpha(data, lambda a, b: a - b)


SCHEMA = {
    "type": "object",
    "properties": {
        "speakers": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "party": {"enum": ["left", "right"]},
                    "pages": {"type": "array", "items": {"type": "integer"}},
                },
            },
        },
        "year": {"type": "number"},
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def annotations():
    def page(number, party, year):
        speakers = [{"name": f"name {number} {at}", "party": party if at else "left", "pages": [at]} for at in range(3)]
        return {"speakers": speakers, "year": year, "notes": {"hand": f"hand {number}"}}

    return {
        "ada": {str(number): page(number, "right", 1900 + number) for number in range(4)},
        "bob": {str(number): page(number, "right", 1901 + number) for number in range(4)},
        "eve": {str(number): page(number, "left", 1900 + number) for number in range(3)},
    }


def test_each_path_gets_the_coefficient_of_its_kind():
    result = agreement.structural(Comparator(SCHEMA), annotations())
    names = {path: coefficient.name for path, coefficient in result.by_path.items()}
    assert names["/speakers/*/party"] == "alpha_nominal"
    assert names["/speakers/*/name"] == "alpha_d"
    assert names["/year"] == "alpha_interval"
    assert names["/notes/*"] == "alpha_d"
    assert result.alpha is result.by_path[""]
    assert result.gamma["/speakers"].value is not None
    years = [[1900, 1901, 1902, 1903], [1901, 1902, 1903, 1904], [1900, 1901, 1902, None]]
    assert result.by_path["/year"].value == pytest.approx(agreement.krippendorff_alpha(years, "interval").value)
    parties = [["left", "right", "right"] * 4, ["left", "right", "right"] * 4, ["left"] * 9 + [None] * 3]
    party = result.by_path["/speakers/*/party"]
    assert party.value == pytest.approx(agreement.krippendorff_alpha(parties).value)
    assert party.by_category.keys() == {"left", "right"}


def test_the_alpha_of_documents_is_computed_from_all_pairs_of_documents():
    comparator, documents = Comparator(SCHEMA), annotations()
    units = [[documents[name][number] for name in documents if number in documents[name]] for number in "0123"]
    pooled = [document for unit in units for document in unit]

    def distance(first, second):
        return 1.0 - comparator.compare(gold=first, predicted=second).quality

    observed = np.sum(
        [distance(a, b) / (len(unit) - 1) for unit in units for a in unit for b in unit if a is not b]
    ) / len(pooled)
    expected = np.mean([distance(a, b) for a in pooled for b in pooled if a is not b])
    assert agreement.structural(comparator, documents).alpha.value == pytest.approx(1.0 - observed / expected)
    squared = agreement.structural(comparator, documents, difference="d2").alpha
    assert squared.name == "alpha_d2"


def test_an_option_that_agreement_does_not_have_is_refused(tmp_path):
    with pytest.raises(OptionError, match="workers"):
        agreement.agree(SCHEMA, {"ada": tmp_path, "bob": tmp_path}, workers=2)


def test_documents_without_a_second_annotator_are_refused():
    with pytest.raises(DataError, match="two annotators"):
        agreement.structural(Comparator(SCHEMA), {"ada": {"1": {}}, "bob": {"2": {}}})


@pytest.mark.slow
def test_the_command_prints_the_figures_of_the_function(tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    for name, documents in annotations().items():
        lines = [json.dumps({"id": number, **document}) for number, document in documents.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    sources = {name: tmp_path / f"{name}.jsonl" for name in annotations()}
    command = ["agree", "--schema", str(tmp_path / "schema.json")]
    command += [f"{name}={path}" for name, path in sources.items()]
    printed = CliRunner().invoke(app, [*command, "--format", "json"]).stdout
    result = agreement.agree(tmp_path / "schema.json", sources)
    assert json.loads(printed) == json.loads(json.dumps(result.to_dict()))
    text = CliRunner().invoke(app, command).stdout
    assert f"{result.alpha.value:.4f}" in text


def test_a_dominant_category_is_reported_with_the_agreement_on_the_others():
    documents = {
        name: {str(at): {"party": "right" if at in rare else "left"} for at in range(20)}
        for name, rare in {"ada": {1}, "bob": {2}}.items()
    }
    schema = {"type": "object", "properties": {"party": {"enum": ["left", "right"]}}}
    result = agreement.structural(Comparator(schema), documents)
    assert any("95%" in note and "'left'" in note and "0.00" in note for note in result.notes)
    assert any("less often" in note for note in result.notes)


@pytest.mark.parametrize(
    ("tags", "noted"),
    [
        (["B-city", "I-city", "O"], True),
        (["S-person", "O"], True),
        (["O", "A"], False),
        (["O"], False),
        (["B-city", "city"], False),
    ],
    ids=["entity", "single token", "other label", "no entity", "mixed"],
)
@pytest.mark.parametrize("schema", [{"type": "string"}, {"x-arbitre": {"distance": "exact"}}], ids=["text", "exact"])
def test_agreement_on_the_tags_of_tokens_is_noted(schema, tags, noted):
    documents = {name: {"1": {"tags": tags}, "2": {"tags": tags[:1]}} for name in ("ada", "bob")}
    fields = {"type": "object", "properties": {"tags": {"type": "array", "items": schema}}}
    notes = agreement.structural(Comparator(fields), documents).notes
    assert any("/tags/*: the values are tags of tokens" in note and "arbitre gamma" in note for note in notes) == noted


@pytest.mark.parametrize(
    ("schema", "ratings", "noted"),
    [
        (
            {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 10}}}},
            [1, 2, "3,5"],
            "not all values are numbers, so the coefficient is",
        ),
        ({"type": ["number", "string"], "x-arbitre": {"distance": {"absolute": {"scale": 10}}}}, [1, 2, "n.d."], None),
        (
            {"enum": ["low", "high"], "x-arbitre": {"distance": "ordinal"}},
            ["low", "High"],
            "Correct these values: 'High'.",
        ),
    ],
    ids=["number", "declared", "ordinal"],
)
def test_ratings_outside_the_level_of_measurement_are_noted(schema, ratings, noted):
    documents = {name: {str(at): rating for at, rating in enumerate(ratings)} for name in ("ada", "bob")}
    result = agreement.structural(Comparator(schema), documents)
    assert result.alpha.name == "alpha_d"
    notes = [note for note in result.notes if "not all values" in note]
    assert len(notes) == (noted is not None)
    assert all(noted in note for note in notes)


FOUR_RATERS = [
    *([1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
    *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1], [None, None, 3, None]),
]
"""Ratings with missing values (Gwet, 2014); only one annotator rated the last item."""


def test_the_shares_of_categories_are_those_of_all_rated_items():
    data = [list(row) for row in zip(*FOUR_RATERS, strict=True)]
    published = {"ac1": 0.77544, "fleiss_kappa": 0.76117, "conger_kappa": 0.76282, "alpha": 0.74342}
    functions = (
        agreement.gwet_ac2(data, None),
        agreement.fleiss_kappa(data),
        agreement.conger_kappa(data),
        agreement.krippendorff_alpha(data),
    )
    assert [each.value for each in functions] == pytest.approx([*published.values()], abs=5e-6)
    assert [each.items for each in functions] == [11] * 4
    assert functions[0].observed == pytest.approx(0.81818, abs=5e-6)
    rated = {
        f"{name}": {f"{at:02}": value for at, value in enumerate(row) if value is not None}
        for name, row in enumerate(data)
    }
    compared = agreement.structural(Comparator({"x-arbitre": {"distance": "exact"}}), rated).coefficients[""]
    values = [getattr(compared, name) for name in ("ac1", "pi", "kappa", "alpha")]
    assert [each.value for each in values] == pytest.approx([*published.values()], abs=5e-6)
    assert all(each.interval.units == 11 and each.interval.low < each.value < each.interval.high for each in values)


def test_documents_that_count_once_have_the_sums_of_all_ratings():
    ratings = Ratings.of([list(row) for row in zip(*FOUR_RATERS, strict=True)]).with_at_least(1)
    size = len(FOUR_RATERS)
    whole, each = RatingSums.of(ratings), RatingSums.of(ratings, group=np.arange(size), groups=size)
    once = each.weighted(np.ones((1, size)))
    for name in ("items", "rated", "agreed", "shares", "counts", "observed"):
        assert getattr(once, name) == pytest.approx(getattr(whole, name))


def test_the_observed_agreement_of_aickins_alpha_is_the_share_of_equal_ratings():
    for a, b in (("AAAAAB", "ABBBBB"), ("AABB", "BBAA"), ("AAAA", "AAAB")):
        coefficient = agreement.aickin_alpha(a, b)
        assert coefficient.observed == agreement.observed(a, b).value
        assert 0.0 <= coefficient.value <= 1.0
    assert agreement.aickin_alpha("AABB", "BBAA").value == 0.0


def test_aickins_alpha_is_the_share_of_items_that_are_not_rated_by_chance():
    """Half of the items are rated by chance: A with probability 3/4 by the first annotator, 1/2 by the second."""
    pairs = ["AA"] * 9 + ["AB"] * 3 + ["BA"] + ["BB"] * 3
    coefficient = agreement.aickin_alpha(*zip(*pairs, strict=True))
    assert (coefficient.observed, coefficient.expected, coefficient.value) == pytest.approx((0.75, 0.5, 0.5), abs=1e-6)


def test_without_an_item_of_two_annotators_the_observed_agreement_has_a_reason():
    assert agreement.observed("A", [None]).reason == "No item was rated by two annotators."
    assert agreement.observed("A", "A").reason is None


@pytest.mark.parametrize(("weights", "observed"), [("linear", 0.875), ("quadratic", 0.9375)])
def test_weighted_agreement_of_the_first_and_the_last_category_is_0(weights, observed):
    kappa = agreement.cohen_kappa([1, 2, 3, 3], [1, 2, 3, 2], weights=weights)
    assert (kappa.name, kappa.observed) == (f"kappa_{weights}", observed)
    assert agreement.cohen_kappa([1, 2, 3, 3], [1, 2, 3, 1], weights=weights).observed == 0.75
    names = [agreement.gwet_ac2([[1, 2], [1, 2]], chosen).name for chosen in (None, weights)]
    assert names == ["ac1", f"ac2_{weights}"]


def test_gold_key_names_the_column_or_the_key_of_the_documents(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    rows = {"ada": "AABB", "bob": "ABBB"}
    schema = {"properties": {"party": {"enum": ["A", "B"]}}}
    expected = agreement.structural(
        Comparator(schema),
        {name: {f"{at}": {"party": each} for at, each in enumerate(row)} for name, row in rows.items()},
    )
    sources = {"parquet": {}, "gold": {}, "jsonl": {}}
    for name, row in rows.items():
        answers = [{"party": letter} for letter in row]
        ids, wrong = [f"{at}" for at in range(len(row))], [{"party": "B"}] * len(row)
        for kind, columns in (
            ("parquet", {"id": ids, "reference": answers, "predicted": wrong}),
            ("gold", {"id": ids, "gold": answers}),
        ):
            sources[kind][name] = str(tmp_path / f"{name}-{kind}.parquet")
            pyarrow.parquet.write_table(pyarrow.table(columns), sources[kind][name])
        sources["jsonl"][name] = str(tmp_path / f"{name}.jsonl")
        lines = [json.dumps({"id": each, "reference": answer}) for each, answer in zip(ids, answers, strict=True)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for kind, options in (("parquet", {"gold_key": "reference"}), ("gold", {}), ("jsonl", {"gold_key": "reference"})):
        assert agreement.agree(schema, sources[kind], **options).to_dict() == expected.to_dict()
    with pytest.raises(DataError, match="Expected a record with the key 'answer', got the keys 'reference'"):
        agreement.agree(schema, sources["jsonl"], gold_key="answer")


@pytest.mark.slow
def test_records_that_contain_the_document_are_unwrapped(tmp_path):
    schema = {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
    documents = {"a": {"names": ["Ada", "Bo"]}, "b": {"names": ["Cy"]}, "c": {"names": []}}
    found = []
    for key, options in ((None, {}), ("gold", {}), ("predicted", {}), ("answer", {"predicted_key": "answer"})):
        sources = {}
        for name, other in (("one", "Ada"), ("two", "Eve")):
            records = [{"id": at, **(doc if key is None else {key: doc})} for at, doc in documents.items()]
            sources[name] = tmp_path / f"{key}-{name}.jsonl"
            sources[name].write_text("\n".join(map(json.dumps, records)).replace("Ada", other))
        sources["three"] = sources["one"]
        found.append(
            (
                agreement.agree(schema, sources, **options).to_dict(),
                agreement.consensus(schema, sources, **options).to_dict(),
                agreement.leave_one_out(schema, sources, **options).to_dict(),
            )
        )
    assert all(one == found[0] for one in found[1:])


def test_alpha_of_a_single_item_is_undefined():
    one = agreement.krippendorff_alpha([[1], [2]], level="interval")
    assert (one.value, one.observed, one.expected) == (None, one.expected, one.observed)
    assert one.reason == "Only one item was rated by two annotators, so observed and expected agreement are equal."
    assert agreement.krippendorff_alpha([[1, None], [2, 5]], level="interval").reason == one.reason
    assert agreement.krippendorff_alpha([[1, 5], [2, 5]], level="interval").value is not None


def test_annotators_who_lack_a_document_do_not_count_in_the_gamma_of_its_lists():
    schema = {"type": "array", "items": {"type": "string"}}
    documents = {f"d{at}": [f"{word}{at}" for word in ("ash", "birch", "cedar")][: 1 + at % 3] for at in range(12)}
    half = {name: words for at, (name, words) in enumerate(documents.items()) if at % 2}
    assert agreement.agree(schema, {"ada": documents, "bob": documents, "eve": half}).gamma[""].value == 1.0
    other = {name: [*words[:-1], "fir"] for name, words in documents.items()}
    two = agreement.agree(schema, {"ada": documents, "bob": other}).gamma[""]
    three = agreement.agree(schema, {"ada": documents, "bob": other, "eve": {"d99": ["elm"]}}).gamma[""]
    assert (three.value, three.observed, three.items) == (two.value, two.observed, two.items)
