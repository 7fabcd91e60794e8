"""Aids for reading agreement: other coefficients, intervals, local chance and category distances."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from arbitre import Comparator, OptionError, agreement
from arbitre.cli import app
from arbitre.distances import catalogue

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_shuffles")]

TABLES = Path(__file__).resolve().parents[3] / "shared" / "oracles" / "agreement.json"

PARTIES = {"type": "object", "properties": {"party": {"enum": ["A", "B", "C", "D"]}}}
"""Each document has one value, so that the items of a coefficient are the documents."""


def documents(field="party", **annotators):
    """Documents with one field; a None in a sequence is a document that the annotator lacks."""
    return {
        name: {f"{at:04}": {field: value} for at, value in enumerate(values) if value is not None}
        for name, values in annotators.items()
    }


def stored(folder, schema, annotations):
    """The files of a schema and of the annotations of each annotator."""
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    for name, of_name in annotations.items():
        lines = [json.dumps({"id": each, **document}) for each, document in of_name.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder / "schema.json", {name: folder / f"{name}.jsonl" for name in annotations}


def command(folder, schema, annotations, *options, width=80):
    """Output of `arbitre agree` for annotations in files."""
    schema, files = stored(folder, schema, annotations)
    sources = [f"{name}={file}" for name, file in files.items()]
    arguments = ["agree", "--schema", str(schema), *sources, *options]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": str(width)})
    assert result.exit_code == 0
    return result


class TestSideBySide:
    def test_a_path_with_categories_gets_all_coefficients_of_the_published_table(self):
        a, b = "AAAAAB", "ABBBBB"
        result = agreement.structural(Comparator(PARTIES), documents(ada=a, bob=b))
        compared = result.coefficients["/party"]
        values = {name: getattr(compared, name).value for name in ("alpha", "pi", "kappa", "s")}
        assert values == pytest.approx({"alpha": -2 / 9, "pi": -1 / 3, "kappa": 1 / 13, "s": 1 / 9})
        assert compared.ac1.value == pytest.approx(agreement.gwet_ac1(a, b, categories="ABCD").value)
        assert compared.kappa_minus_pi == pytest.approx(1 / 13 + 1 / 3)
        assert compared.alpha is result.by_path["/party"]

    def test_s_counts_the_categories_that_the_schema_lists_after_normalisation(self):
        listed = {"enum": ["A", "a", "B", None], "x-arbitre": {"normalize": ["casefold"]}}
        for party, size in ((listed, 2), ({"enum": ["A", "B"]}, 2), ({"enum": ["A", "B", "C"]}, 3)):
            schema = {"type": "object", "properties": {"party": party}}
            result = agreement.structural(Comparator(schema), documents(ada="AABB", bob="ABBB"))
            assert result.coefficients["/party"].s.expected == pytest.approx(1 / size)

    def test_s_counts_the_categories_that_occur_if_the_schema_lists_none(self):
        schema = {"type": "object", "properties": {"party": {"type": "string", "x-arbitre": {"distance": "exact"}}}}
        result = agreement.structural(Comparator(schema), documents(ada="AABB", bob="ABBB"))
        assert result.coefficients["/party"].s.expected == 0.5

    def test_s_counts_the_categories_of_the_path_not_of_other_fields(self):
        schema = {
            "type": "object",
            "properties": {"kind": {"enum": ["X", "Y", "Z"]}},
            "additionalProperties": {"enum": ["A", "B"]},
        }
        annotated = {
            name: {"page": {"kind": "X"} | {f"{at}": letter for at, letter in enumerate(row)}}
            for name, row in {"ada": "AABB", "bob": "ABBB"}.items()
        }
        assert agreement.structural(Comparator(schema), annotated).coefficients["/*"].s.expected == 0.5

    def test_booleans_are_categories(self):
        schema = {"type": "object", "properties": {"party": {"type": "boolean"}}}
        result = agreement.structural(Comparator(schema), documents(ada=[True] * 4, bob=[True, True, True, False]))
        assert result.coefficients["/party"].s.expected == 0.5

    @pytest.mark.parametrize("distance", ["exact", "levenshtein"])
    def test_texts_that_do_not_repeat_and_graded_values_are_no_categories(self, distance):
        schema = {"type": "object", "properties": {"party": {"type": "string", "x-arbitre": {"distance": distance}}}}
        annotated = {"exact": ("ABCD", "ABCE"), "levenshtein": ("AABB", "ABBB")}[distance]
        result = agreement.structural(Comparator(schema), documents(ada=annotated[0], bob=annotated[1]))
        assert result.coefficients == {}

    def test_ordinal_coefficients_weight_by_the_squared_distance_of_the_positions(self):
        order = ["low", "medium", "high"]
        schema = {"type": "object", "properties": {"party": {"enum": order, "x-arbitre": {"distance": "ordinal"}}}}
        a, b = [order[at] for at in (0, 1, 2, 2, 0, 1)], [order[at] for at in (0, 2, 2, 1, 0, 1)]
        compared = agreement.structural(Comparator(schema), documents(ada=a, bob=b)).coefficients["/party"]
        assert compared.alpha.name == "alpha_ordinal"
        assert compared.kappa.value == pytest.approx(
            agreement.cohen_kappa(a, b, weights="quadratic", categories=order).value
        )
        assert compared.ac1.value == pytest.approx(agreement.gwet_ac2([a, b], "quadratic", categories=order).value)
        agreed = [[1 - (i - j) ** 2 / 4 for j in range(3)] for i in range(3)]
        assert compared.s.expected == pytest.approx(np.mean(agreed))
        pooled = np.array([4, 4, 4]) / 12
        assert compared.pi.expected == pytest.approx(pooled @ agreed @ pooled)
        assert [compared.pi.name, compared.kappa.name, compared.ac1.name] == [
            "pi_quadratic",
            "kappa_quadratic",
            "ac2_quadratic",
        ]

    def test_a_value_outside_the_given_order_is_compared_with_the_distance(self):
        schema = {"type": "object", "properties": {"party": {"enum": ["A", "B"], "x-arbitre": {"distance": "ordinal"}}}}
        result = agreement.structural(Comparator(schema), documents(ada="AAB", bob="ABZ"))
        assert result.by_path["/party"].name == "alpha_d"

    def test_kappa_of_several_annotators_is_the_one_of_conger(self):
        data = {"ada": "AABBCC", "bob": "ABBBCC", "eve": ["A", "A", "A", "B", None, "C"]}
        compared = agreement.structural(Comparator(PARTIES), documents(**data)).coefficients["/party"]
        margins = [[list(row).count(name) / len([v for v in row if v]) for name in "ABC"] for row in data.values()]
        expected = np.mean([np.dot(first, second) for first, second in combinations(margins, 2)])
        assert compared.kappa.expected == pytest.approx(expected)
        assert compared.kappa.name == "conger_kappa"
        assert compared.pi.value == pytest.approx(agreement.fleiss_kappa(list(data.values())).value)
        assert compared.kappa.value == pytest.approx(agreement.conger_kappa(list(data.values())).value)

    def test_an_annotator_without_ratings_has_no_margins(self):
        data = documents(ada="AAB", bob="ABB") | {"eve": {"0000": {}}}
        compared = agreement.structural(Comparator(PARTIES), data).coefficients["/party"]
        assert compared.kappa.margins["A"] == (2 / 3, 1 / 3, None)
        assert compared.kappa.value == pytest.approx(agreement.cohen_kappa("AAB", "ABB").value)
        json.dumps(compared.to_dict(), allow_nan=False)

    def test_a_note_warns_if_kappa_gains_from_different_preferences(self):
        diverging = agreement.structural(Comparator(PARTIES), documents(ada="AAAAAB", bob="ABBBBB"))
        (note,) = (note for note in diverging.notes if "kappa" in note)
        assert note.startswith("/party: kappa (0.08) is 0.41 higher than pi (-0.33)")
        assert "'A' makes up 17% to 83%" in note
        same = agreement.structural(Comparator(PARTIES), documents(ada="ABABAB", bob="AABABB"))
        assert not any("kappa" in note for note in same.notes)

    @pytest.mark.slow
    def test_the_command_prints_the_coefficients_side_by_side(self, tmp_path):
        annotations = documents(ada="AAAAAB", bob="ABBBBB")
        printed = command(tmp_path, PARTIES, annotations, "--format", "json").stdout
        compared = agreement.structural(Comparator(PARTIES), annotations).coefficients["/party"]
        assert json.loads(printed)["coefficients"]["/party"] == json.loads(json.dumps(compared.to_dict()))
        text = command(tmp_path, PARTIES, annotations).stdout
        row = next(line for line in text.partition("Coefficients for categories")[2].splitlines() if "/party" in line)
        assert row.split()[1:6] == ["-0.2222", "-0.3333", "0.0769", "0.4103", "0.1111"]
        assert ["A", "83%", "17%", "0.3333"] in [line.split() for line in text.splitlines()]

    def test_a_narrow_terminal_names_the_columns_that_it_leaves_out(self, tmp_path):
        text = command(tmp_path, PARTIES, documents(ada="AAAAAB", bob="ABBBBB"), width=50).stdout
        assert "Left out at this width: S, AC1." in text
        assert max(map(len, text.splitlines())) <= 50


def scipy_interval(statistic, units, resamples=200):
    """The bca interval of SciPy, which draws the same resamples; rounding makes equal values equal."""
    result = scipy.stats.bootstrap(
        (np.arange(units),),
        lambda drawn: round(statistic(drawn), 10),
        vectorized=False,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(0),
    )
    return [result.confidence_interval.low, result.confidence_interval.high]


LETTERS = {"ada": "AABBCCABCABBCABCAACB", "bob": "AABBCCABBABCCABCABCB", "eve": "ABBBCCABCABBAABAAACB"}
SPEAKERS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "x-arbitre": {"distance": "levenshtein"}},
            "party": {"enum": ["A", "B", "C"]},
            "rank": {"enum": ["A", "B", "C"], "x-arbitre": {"distance": "ordinal"}},
        },
    },
}
"""Documents with several entries, matched by their names."""
IN_ORDER = SPEAKERS | {"x-arbitre": {"match": "ordered"}}
"""The same, matched by position, so that no value decides which entries are compared."""
NAMES = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": SPEAKERS["items"]["properties"]["name"]}},
    "x-arbitre": {"match": "ordered"},
}
"""The same without the categories."""


def pages(letters, size=2):
    """One entry for each letter, `size` in a document; the names are the positions and the letters."""
    return {
        name: {
            f"{at:02}": [
                {"name": f"{place * 1111}{row[place]}", "party": row[place], "rank": row[place]}
                for place in range(at, at + size)
            ]
            for at in range(0, len(row), size)
        }
        for name, row in letters.items()
    }


@pytest.fixture(scope="module")
def speakers():
    """The agreement on the entries, with intervals of 200 resamples."""
    return agreement.structural(Comparator(SPEAKERS), pages(LETTERS), resamples=200)


FUNCTIONS = {
    "alpha": agreement.krippendorff_alpha,
    "pi": agreement.fleiss_kappa,
    "kappa": agreement.conger_kappa,
    "ac1": lambda data: agreement.gwet_ac2(data, None, categories="ABC"),
}


class TestIntervals:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["alpha", "pi", "kappa", "ac1"])
    def test_documents_are_resampled_as_by_scipy(self, name, speakers):
        interval = getattr(speakers.coefficients["/*/party"], name).interval

        def statistic(documents):
            items = [2 * document + at for document in documents for at in (0, 1)]
            return FUNCTIONS[name]([[row[at] for at in items] for row in LETTERS.values()]).value

        assert [interval.low, interval.high] == pytest.approx(scipy_interval(statistic, 10))
        assert (interval.units, interval.method, interval.level) == (10, "bca", 0.95)

    @pytest.mark.slow
    def test_ordinal_alpha_is_resampled_with_the_positions_of_each_resample(self, speakers):
        interval = speakers.by_path["/*/rank"].interval

        def statistic(documents):
            items = [2 * document + at for document in documents for at in (0, 1)]
            data = [[row[at] for at in items] for row in LETTERS.values()]
            return agreement.krippendorff_alpha(data, "ordinal", categories="ABC").value

        assert [interval.low, interval.high] == pytest.approx(scipy_interval(statistic, 10))

    @pytest.mark.slow
    @pytest.mark.usefixtures("without_gamma")
    def test_alpha_of_a_distance_is_resampled_as_by_scipy(self):
        comparator = Comparator(NAMES)
        annotated = {
            name: {page: [{"name": entry["name"]} for entry in entries] for page, entries in by_id.items()}
            for name, by_id in pages(LETTERS).items()
        }
        found = agreement.structural(comparator, annotated, resamples=15)

        @cache
        def by_path(*documents):
            copies = {
                name: {f"{number:02}": by_id[f"{2 * document:02}"] for number, document in enumerate(documents)}
                for name, by_id in annotated.items()
            }
            return agreement.structural(comparator, copies, resamples=1).by_path

        for path in ("", "/*/name"):
            expected = scipy_interval(lambda documents, path=path: by_path(*documents)[path].value, 10, 15)
            interval = found.by_path[path].interval
            assert [interval.low, interval.high] == pytest.approx(expected)

    @pytest.mark.slow
    def test_a_sampled_expected_disagreement_has_a_similar_interval(self, monkeypatch):
        letters = {name: row * 4 for name, row in LETTERS.items()}
        exact = agreement.structural(Comparator(IN_ORDER), pages(letters), resamples=200).by_path["/*"].interval
        monkeypatch.setattr(sys.modules["arbitre.agreement.agree"], "MAX_PAIRS", 1500)
        sampled = agreement.structural(Comparator(IN_ORDER), pages(letters), resamples=200).by_path["/*"]
        assert sampled.standard_error > 0.0
        assert [sampled.interval.low, sampled.interval.high] == pytest.approx([exact.low, exact.high], abs=0.03)

    def test_the_interval_of_gamma_contains_gamma_and_resamples_documents(self, speakers):
        result = speakers.gamma[""]
        assert result.interval.low < result.value < result.interval.high
        assert result.interval.units == 10

    def test_fewer_than_ten_documents_have_no_interval_but_a_reason(self):
        data = documents(ada="AABBABABA", bob="ABBBABABB")
        result = agreement.structural(Comparator(PARTIES), data)
        interval = result.by_path["/party"].interval
        assert (interval.low, interval.high) == (None, None)
        assert interval.reason == "An interval needs at least 10 documents with two annotators; got 9."
        assert "No intervals. An interval needs at least 10 documents with two annotators; got 9." in result.notes

    def test_documents_of_one_annotator_are_not_resampled(self):
        data = documents(ada="AABBAB", bob="ABBBAB")
        data["ada"] |= {"x1": {"party": "A"}, "x2": {"party": "B"}}
        assert agreement.structural(Comparator(PARTIES), data).by_path["/party"].interval.units == 6

    def test_an_undefined_coefficient_has_no_interval(self):
        interval = agreement.structural(Comparator(PARTIES), documents(ada="A" * 10, bob="A" * 10)).alpha.interval
        assert interval.low is None
        assert interval.reason == "The coefficient is undefined."

    def test_few_documents_are_noted(self):
        result = agreement.structural(Comparator(PARTIES), documents(ada="AABBAB" * 2, bob="ABBBAB" * 2))
        assert "Fewer than 30 documents (12): the intervals are probably too narrow." in result.notes

    @pytest.mark.slow
    @pytest.mark.usefixtures("without_gamma")
    def test_a_higher_level_gives_a_wider_interval(self):
        low, high = (
            agreement.structural(Comparator(SPEAKERS), pages(LETTERS), level=level, resamples=100).alpha.interval
            for level in (0.8, 0.99)
        )
        assert high.low < low.low < low.high < high.high
        with pytest.raises(OptionError, match="between 0 and 1"):
            agreement.structural(Comparator(SPEAKERS), pages(LETTERS), level=95)

    def test_items_are_resampled_as_by_scipy(self):
        interval = agreement.interval(
            lambda data: agreement.cohen_kappa(*data), [LETTERS["ada"], LETTERS["bob"]], resamples=200
        )

        def statistic(items):
            return agreement.cohen_kappa(*([LETTERS[name][at] for at in items] for name in ("ada", "bob"))).value

        assert [interval.low, interval.high] == pytest.approx(scipy_interval(statistic, 20))
        few = agreement.interval(agreement.krippendorff_alpha, ["AAB", "ABB"])
        assert few.reason == "An interval needs at least 10 items; got 3."

    @pytest.mark.slow
    def test_the_command_prints_intervals_at_the_level(self, tmp_path):
        annotated = documents(ada="AABBABABAA", bob="ABBBABABAB")
        printed = json.loads(command(tmp_path, PARTIES, annotated, "--level", "0.9", "--format", "json").stdout)
        interval = agreement.structural(Comparator(PARTIES), annotated, level=0.9).by_path["/party"].interval
        assert printed["by_path"]["/party"]["interval"] == json.loads(json.dumps(asdict(interval)))
        text = command(tmp_path, PARTIES, annotated, "--level", "0.9").stdout
        assert "90% interval" in text
        assert f"{interval.low:.2f} to {interval.high:.2f}" in text


def two_pages(shares=(0.5, 0.1), size=100, agreed=0.9):
    """Two documents with categories A and B; annotators have the same margins and agree on a share of the items."""
    annotated = {"ada": {}, "bob": {}}
    for page, share in enumerate(shares):
        ada = ["A"] * round(share * size) + ["B"] * (size - round(share * size))
        bob = list(ada)
        for at in range(round((1.0 - agreed) * size / 2)):
            bob[at], bob[-1 - at] = "B", "A"
        for name, row in (("ada", ada), ("bob", bob)):
            annotated[name][f"page {page + 1}"] = {f"{number:03}": letter for number, letter in enumerate(row)}
    return annotated


LETTER_MAP = {"type": "object", "additionalProperties": {"enum": ["A", "B"]}}


class TestLocalChance:
    def test_local_and_global_expected_agreement_are_those_of_the_published_example(self):
        if not TABLES.exists():
            pytest.skip("the published tables are not here")
        table = json.loads(TABLES.read_text(encoding="utf-8"))["homogeneity"]
        pi = agreement.structural(Comparator(LETTER_MAP), two_pages()).coefficients["/*"].pi
        first, second = pi.local.lowest, pi.local.highest
        assert [first.document, second.document] == ["page 1", "page 2"]
        assert [first.expected, second.expected, pi.expected] == pytest.approx(table["expected"], abs=1e-9)
        assert [first.value, second.value, pi.value] == pytest.approx(table["corrected"], abs=5e-4)
        assert pi.local.expected == pytest.approx(np.mean(table["expected"][:2]))
        assert pi.local.value == pytest.approx((0.9 - 0.66) / (1 - 0.66))

    def test_alpha_within_a_document_is_the_alpha_of_this_document(self):
        annotated = two_pages(size=20)
        local = agreement.structural(Comparator(LETTER_MAP), annotated).by_path["/*"].local
        for page in (local.lowest, local.highest):
            data = [list(annotated[name][page.document].values()) for name in ("ada", "bob")]
            alpha = agreement.krippendorff_alpha(data)
            assert [page.value, page.observed, page.expected] == pytest.approx(
                [alpha.value, alpha.observed, alpha.expected]
            )

    def test_texts_have_a_local_expected_agreement_too(self):
        annotated = {
            name: {
                f"{at}": {f"{place}": f"{place % 3 * 11}{row[place]}" for place in range(at, at + 7)} for at in (0, 7)
            }
            for name, row in LETTERS.items()
        }
        text = {"type": "string", "x-arbitre": {"distance": "levenshtein"}}
        schema = {"type": "object", "additionalProperties": text}
        local = agreement.structural(Comparator(schema), annotated).by_path["/*"].local
        distance = catalogue.build("levenshtein")
        for page in (local.lowest, local.highest):
            alpha = agreement.krippendorff_alpha(
                [[*row[page.document].values()] for row in annotated.values()], distance
            )
            assert [page.value, page.expected] == pytest.approx([alpha.value, alpha.expected])

    def test_many_pairs_within_documents_are_sampled(self, monkeypatch):
        annotated = pages({name: row * 3 for name, row in LETTERS.items()}, size=15)
        exact = agreement.structural(Comparator(IN_ORDER), annotated).by_path["/*/name"].local
        monkeypatch.setattr(sys.modules["arbitre.agreement.agree"], "MAX_VALUE_PAIRS", 2000)
        sampled = agreement.structural(Comparator(IN_ORDER), annotated).by_path["/*/name"].local
        assert sampled.expected != exact.expected
        assert sampled.expected == pytest.approx(exact.expected, abs=0.02)

    def test_a_path_with_one_value_in_a_document_has_no_local_agreement(self):
        assert agreement.structural(Comparator(PARTIES), documents(ada="AAB", bob="ABB")).alpha.local is None

    def test_documents_with_their_own_categories_are_reported_with_both_values(self):
        notes = agreement.structural(Comparator(LETTER_MAP), two_pages()).notes
        (note,) = (note for note in notes if "equally frequent" in note)
        assert note.startswith("/*: ")
        for figure in ("0.58 over all documents", "0.66 on average", "0.50 in page 1", "0.82 in page 2", "is 0.76"):
            assert figure in note

    def test_documents_with_the_same_categories_are_not_reported(self):
        random = np.random.default_rng(0)
        reported = 0
        for _ in range(8):
            ada = random.choice(["A", "B"], 60)
            bob = np.where(random.random(60) < 0.8, ada, "B")
            letters = {"ada": ada.tolist(), "bob": bob.tolist()}
            annotated = {
                name: {f"{at}": dict(enumerate_letters(each[at : at + 6])) for at in range(0, 60, 6)}
                for name, each in letters.items()
            }
            notes = agreement.structural(Comparator(LETTER_MAP), annotated, resamples=1).notes
            reported += any("equally frequent" in note for note in notes)
        assert reported <= 2

    @pytest.mark.slow
    def test_the_command_prints_local_beside_global(self, tmp_path):
        text = command(tmp_path, LETTER_MAP, two_pages()).stdout
        row = next(line for line in text.partition("expected agreement")[2].splitlines() if line.startswith("/*"))
        alpha = agreement.structural(Comparator(LETTER_MAP), two_pages()).by_path["/*"]
        numbers = [alpha.observed, alpha.expected, alpha.local.expected, alpha.local.value]
        assert row.split()[1:] == [*(f"{number:.4f}" for number in numbers), "2"]


def enumerate_letters(row):
    return ((f"{number:03}", letter) for number, letter in enumerate(row))


class TestNotes:
    def test_a_negative_value_names_the_categories_that_were_exchanged_most_often(self):
        result = agreement.structural(Comparator(PARTIES), documents(ada="AAAABBBBCD", bob="BBBBAAAACC"))
        (note,) = (note for note in result.notes if note.startswith("/party: alpha_nominal is negative ("))
        assert "'A' and 'B' (8), 'C' and 'D' (1)." in note
        reason = agreement.cohen_kappa("AAAABBBBCD", "BBBBAAAACC").reason
        assert "less often than the chance model expects" in reason
        assert "'A' and 'B' (8)" in reason

    def test_prevalence_is_explained_with_the_figures_of_each_category(self):
        ada, bob = "+" * 2 + "-" * 38, "-" + "+" * 2 + "-" * 37
        schema = {"type": "object", "properties": {"party": {"enum": ["+", "-"]}}}
        result = agreement.structural(Comparator(schema), documents(ada=ada, bob=bob))
        alpha = result.by_path["/party"]
        (note,) = (note for note in result.notes if "chance alone" in note)
        for figure in (
            "95% of the values are '-'",
            f"{alpha.expected:.0%} by chance",
            "observed agreement of 95%",
            "'+' 0.50",
        ):
            assert figure in note
        assert f"'-' {alpha.by_category['-']:.2f}" in note

    def test_low_agreement_weakens_its_own_chance_model(self):
        result = agreement.structural(Comparator(PARTIES), documents(ada="AABBABAB", bob="ABBBABAA"))
        assert any(note.startswith("/party: low agreement (0.5") and "less reliable" in note for note in result.notes)


NOUNS = {"type": "object", "properties": {"party": {"enum": ["common noun", "proper noun", "verb", "adverb"]}}}


def nouns(exchanged=12):
    """Annotators who exchange common and proper nouns often, and everything else once."""
    common, proper, verb, adverb = NOUNS["properties"]["party"]["enum"]
    ada = [common] * (20 + exchanged) + [proper] * 20 + [verb] * 30 + [adverb] * 30 + [common, verb, adverb]
    bob = [common] * 20 + [proper] * (20 + exchanged) + [verb] * 30 + [adverb] * 30 + [verb, adverb, proper]
    return documents(ada=ada, bob=bob)


@pytest.mark.slow
class TestCategoryDistances:
    def test_categories_that_are_exchanged_more_often_than_by_chance_become_closer(self, tmp_path):
        suggested = agreement.suggest_category_distances(*stored(tmp_path, NOUNS, nouns()))
        (pair,) = suggested.suggestions
        assert set(pair.values) == {"common noun", "proper noun"}
        assert pair.items == 12
        totals = {"common noun": 53, "proper noun": 53, "verb": 62, "adverb": 62}
        products = {two: totals[two[0]] * totals[two[1]] for two in combinations(totals, 2)}
        expected = 15 * products["common noun", "proper noun"] / sum(products.values())
        assert pair.expected == pytest.approx(expected)
        assert pair.distance == round(0.5 + 0.5 * expected / 12, 2)
        assert suggested.overlay == {
            "/party": {
                "distance": {
                    "table": {
                        "values": ["common noun", "proper noun"],
                        "costs": [[0, pair.distance], [pair.distance, 0]],
                    }
                }
            }
        }

    def test_the_coefficient_is_given_with_and_without(self, tmp_path):
        schema, sources = stored(tmp_path, NOUNS, nouns())
        suggested = agreement.suggest_category_distances(schema, sources)
        without = agreement.agree(schema, sources)
        accepted = agreement.agree(schema, sources, overlay=suggested.overlay)
        for path in ("", "/party"):
            assert suggested.alpha[path] == {
                "without": without.by_path[path].value,
                "with": accepted.by_path[path].value,
            }
        assert suggested.alpha["/party"]["with"] > suggested.alpha["/party"]["without"]

    def test_nothing_is_applied(self, tmp_path):
        schema, sources = stored(tmp_path, NOUNS, nouns())
        before = schema.read_bytes()
        agreement.suggest_category_distances(schema, sources)
        assert schema.read_bytes() == before
        assert agreement.agree(schema, sources).by_path["/party"].name == "alpha_nominal"

    @pytest.mark.parametrize("exchanged", [4, 1])
    def test_too_few_exchanges_are_no_evidence(self, tmp_path, exchanged):
        suggested = agreement.suggest_category_distances(*stored(tmp_path, NOUNS, nouns(exchanged)))
        assert (suggested.suggestions, suggested.overlay, suggested.adjusted) == ((), {}, None)

    def test_two_categories_are_never_closer(self, tmp_path):
        annotated = documents(ada="A" * 40 + "B" * 40, bob="A" * 20 + "B" * 40 + "A" * 20)
        assert agreement.suggest_category_distances(*stored(tmp_path, PARTIES, annotated)).suggestions == ()

    def test_the_overlay_extends_the_one_that_is_used(self, tmp_path):
        overlay = tmp_path / "overlay.json"
        settings = {"/party": {"normalize": ["casefold"]}, "": {"undeclared": "ignore"}}
        overlay.write_text(json.dumps(settings), encoding="utf-8")
        schema, sources = stored(tmp_path, NOUNS, nouns())
        suggested = agreement.suggest_category_distances(schema, sources, overlay=overlay)
        assert suggested.overlay == settings | {"/party": {"normalize": ["casefold"], **suggested.overlay["/party"]}}
        assert suggested.overlay["/party"].keys() == {"normalize", "distance"}
        assert suggested.adjusted.by_path["/party"].value > suggested.without.by_path["/party"].value

    def test_real_confusions_give_a_metric(self, tmp_path):
        images, labels = load_digits(return_X_y=True)
        models = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=6, random_state=0)}
        predicted = {
            name: model.fit(images[:900], labels[:900]).predict(images[900:]) for name, model in models.items()
        }
        schema = {"type": "object", "additionalProperties": {"enum": [f"digit {number}" for number in range(10)]}}
        annotated = {
            name: {
                f"sheet {at:03}": {f"{place}": f"digit {row[place]}" for place in range(at, min(at + 20, len(row)))}
                for at in range(0, len(row), 20)
            }
            for name, row in predicted.items()
        }
        out = tmp_path / "distances.json"
        suggested = agreement.suggest_category_distances(*stored(tmp_path, schema, annotated), out=out)
        assert 1 <= len(suggested.suggestions) <= 20
        assert all(0.5 <= pair.distance < 1.0 and pair.items > pair.expected for pair in suggested.suggestions)
        comparator = Comparator(schema, overlay=out)
        assert comparator.certificate.verdict == "metric"
        assert json.loads(out.read_text(encoding="utf-8")) == suggested.overlay

    def test_the_command_prints_the_overlay_and_its_evidence(self, tmp_path):
        schema, sources = stored(tmp_path, NOUNS, nouns())
        suggested = agreement.suggest_category_distances(schema, sources)
        result = command(tmp_path, NOUNS, nouns(), "--suggest-category-distances")
        assert json.loads(result.stdout) == suggested.overlay
        assert "The overlay has no effect" in result.stderr
        assert "exchanged in 12 items" in result.stderr
        values = suggested.alpha["/party"]
        assert f"{values['without']:.4f} without, {values['with']:.4f} with" in result.stderr
        printed = command(tmp_path, NOUNS, nouns(), "--suggest-category-distances", "--format", "json").stdout
        assert json.loads(printed) == json.loads(json.dumps(suggested.to_dict()))


def test_a_single_document_has_no_coefficient_as_a_whole_and_a_caveat_says_why():
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "year": {"type": "integer"}}}
    annotators = {"a": {"d": {"name": "Ada", "year": 1}}, "b": {"d": {"name": "Adam", "year": 1}}}
    result = agreement.structural(Comparator(schema), annotators)
    assert result.by_path[""].value is None
    assert any(
        note.startswith("(whole document), /name: no coefficient. Only one item was rated") for note in result.notes
    )
    assert any(note.startswith("/year: no coefficient. All ratings are equal") for note in result.notes)
    assert not any("low agreement" in note for note in result.notes)
