"""What helps to read coefficients of agreement: other coefficients, intervals, local chance, category distances."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from arbitre import Comparator, agreement

PARTIES = {"type": "object", "properties": {"party": {"enum": ["A", "B", "C", "D"]}}}
"""Each document has one value, so that the items of a coefficient are the documents."""


def documents(field="party", **annotators):
    """Documents with one field; a None in a sequence is a document that the annotator lacks."""
    return {
        name: {f"{at:04}": {field: value} for at, value in enumerate(values) if value is not None}
        for name, values in annotators.items()
    }


def command(folder, schema, annotations, *options):
    """Output of `arbitre agree` for annotations in files."""
    (folder / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    sources = []
    for name, of_name in annotations.items():
        lines = [json.dumps({"id": each, **document}) for each, document in of_name.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        sources.append(f"{name}={folder / name}.jsonl")
    arguments = [sys.executable, "-m", "arbitre", "agree", "--schema", str(folder / "schema.json"), *sources, *options]
    return subprocess.run(arguments, check=True, capture_output=True, text=True)


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

    def test_the_command_prints_the_coefficients_side_by_side(self, tmp_path):
        annotations = documents(ada="AAAAAB", bob="ABBBBB")
        printed = command(tmp_path, PARTIES, annotations, "--format", "json").stdout
        compared = agreement.structural(Comparator(PARTIES), annotations).coefficients["/party"]
        assert json.loads(printed)["coefficients"]["/party"] == json.loads(json.dumps(compared.to_dict()))
        text = command(tmp_path, PARTIES, annotations).stdout
        row = next(line for line in text.partition("Coefficients of categories")[2].splitlines() if "/party" in line)
        assert row.split()[1:6] == ["-0.2222", "-0.3333", "0.0769", "0.4103", "0.1111"]
        assert ["A", "83%", "17%", "0.3333"] in [line.split() for line in text.splitlines()]
