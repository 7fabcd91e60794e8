"""Uncertainty of an evaluation: clusters, intervals, chance scores, and schema paths that gold never contains."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from arbitre import Comparator, DataError, OptionError
from arbitre.cli import app
from arbitre.cli.output.result_tables import intervals
from arbitre.corpus import chance
from arbitre.corpus.chance import BATCH, MAX_DOCUMENTS, MIN_COMPARISONS, Reservoir, estimate_chance, sample_pairs
from arbitre.engine import compare_batch, pair_qualities
from arbitre.inputs.join import JoinedCorpus
from arbitre.inputs.records import Pair
from arbitre.statistics.sample import cluster_labels

pytestmark = pytest.mark.slow

LETTERS = Comparator({"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "exact"}}})
SCHEMA = {
    "type": "object",
    "properties": {
        "page": {"type": "string"},
        "names": {"type": "array", "items": {"type": "string"}, "x-arbitre": {"entries": True}},
        "seal": {"type": "object", "properties": {"colour": {"type": "string"}}},
    },
}


def triples(size=12):
    """Two runs of every page: the same gold twice."""
    for number in range(size):
        for _ in range(2):
            gold = [f"{number}-{letter}" for letter in "abcd"]
            yield f"page_{number}", gold, gold[: 1 + number % 4]


class TestClusters:
    def test_a_cluster_pattern_uses_its_group_or_the_whole_match(self):
        assert cluster_labels(["a1", "b22"], r"\d+") == ["1", "22"]
        assert cluster_labels(["a1", "b22"], r"(\w)\d+") == ["a", "b"]

    def test_cluster_labels_are_given_by_id_or_in_order(self):
        assert cluster_labels(["a", "b", "a"], {"a": "x", "b": "y"}) == ["x", "y", "x"]
        assert cluster_labels(["a", "b"], ["u", "v"]) == ["u", "v"]
        assert cluster_labels(["a"], None) is None

    @pytest.mark.parametrize(
        ("cluster", "message"),
        [
            (r"\d+", r"Expected the id to match the cluster pattern '\\\\d\+', got 'a'"),
            ("(", "Expected the cluster pattern to be a regular expression"),
            ({}, "Expected a cluster for every id, got no cluster for 'a'"),
            (["x", "y"], r"Expected one cluster per document \(1\), got 2"),
        ],
    )
    def test_cluster_labels_that_omit_a_document_are_refused(self, cluster, message):
        with pytest.raises(OptionError if cluster == "(" else DataError, match=message):
            cluster_labels(["a"], cluster)

    def test_clustered_documents_have_wider_intervals(self):
        evaluation = LETTERS.evaluate(triples())
        apart = [str(number) for number in range(24)]
        alone, together = (evaluation.interval("irq", cluster=cluster) for cluster in (apart, r"page_\d+"))
        assert (alone.clusters, together.clusters) == (24, 12)
        assert alone.estimate == together.estimate == evaluation.macro.irq
        assert together.high - together.low > 1.2 * (alone.high - alone.low)
        assert evaluation.interval("irq") == replace(together, runs=True)  # two runs of a page are one cluster

    def test_runs_of_a_document_are_one_cluster_everywhere(self):
        evaluation = LETTERS.evaluate(triples(4))
        found = evaluation.trust["intervals"]
        assert (found["documents"], found["clusters"], found["units"], found["runs"]) == (8, 4, 4, True)
        console = Console(width=100, file=io.StringIO())
        console.print(intervals(evaluation.trust, 120))
        assert "over 8 documents in 4 clusters (runs of one document)" in " ".join(console.file.getvalue().split())
        once = LETTERS.evaluate(list(triples(4))[::2]).trust["intervals"]
        assert (once["documents"], once["clusters"], once["units"], once["runs"]) == (4, None, 4, False)

    def test_each_path_has_its_own_interval(self):
        evaluation = LETTERS.evaluate(triples())
        assert evaluation.interval("irq", aggregate="micro", path="/*").estimate == evaluation.by_path["/*"].irq
        with pytest.raises(DataError, match="Expected a path of this evaluation"):
            evaluation.interval("irq", path="/name")


class TestChance:
    def test_the_chance_score_compares_predictions_with_other_gold(self):
        evaluation = LETTERS.evaluate(triples(3))
        assert evaluation.chance_floor.irq == 0.0
        assert evaluation.chance.comparisons == 6 * 4  # the other run of the same page is no other document
        assert not evaluation.chance.sampled
        assert evaluation.gold_self_agreement == 0.0

    def test_values_shared_by_all_documents_raise_the_chance_score(self):
        pairs = [(name, ["same", f"own {name}"], ["same", f"own {name}"]) for name in "abc"]
        assert LETTERS.evaluate(pairs).chance_floor.f1q == 0.5

    def test_a_single_document_has_no_chance_score(self):
        evaluation = LETTERS.evaluate([("a", ["x", "y"], ["x"])])
        assert (evaluation.chance_floor, evaluation.gold_self_agreement) == (None, 0.0)
        assert LETTERS.evaluate([("a", [], [])]).gold_self_agreement is None

    def test_entries_of_gold_are_compared_with_other_entries_only_and_pooled_by_pairs(self):
        evaluation = LETTERS.evaluate([("a", ["x", "x", "y"], []), ("b", ["z", "z"], []), ("c", ["w"], [])])
        assert evaluation.gold_self_agreement == pytest.approx((2 + 2) / (6 + 2))

    def test_the_agreement_of_gold_is_the_mean_quality_of_its_pairs_of_entries(self):
        number = {"type": "number", "x-arbitre": {"distance": {"absolute": {"scale": 10}}}}
        numbers = Comparator({"type": "array", "items": number})
        runs = [("a", [0, 5, 10], []), ("a", [0, 5, 10], [0]), ("b", [1, 2], []), ("c", [3], []), ("d", [], [])]
        evaluation = numbers.evaluate(runs)
        # a, counted once for both runs: 0.5, 0 and 0.5 in both directions; b: 0.9 in both; c and d have no pairs
        assert evaluation.gold_self_agreement == pytest.approx((2 * (0.5 + 0.0 + 0.5) + 2 * 0.9) / (6 + 2))
        assert evaluation.trust["chance"]["self_agreement"] == evaluation.gold_self_agreement

    def test_a_sampled_list_weighs_as_much_as_the_whole_list(self, monkeypatch):
        pairs = [("a", ["x"] * 6, []), ("b", ["y", "z"], [])]
        assert LETTERS.evaluate(pairs).gold_self_agreement == pytest.approx(30 / 32)
        monkeypatch.setattr(chance, "MAX_ENTRIES", 3)
        assert LETTERS.evaluate(pairs).gold_self_agreement == pytest.approx(30 / 32)

    def test_a_document_that_is_its_own_entry_has_no_other_entry(self):
        whole = Comparator({"type": "object", "properties": {"name": {"type": "string"}}})
        pairs = [(name, {"name": name}, {"name": name}) for name in "ab"]
        assert whole.evaluate(pairs).gold_self_agreement is None

    def test_a_large_corpus_is_sampled_reproducibly(self):
        many = [(f"d{number}", [str(number % 7)], [str(number % 5)]) for number in range(3 * MAX_DOCUMENTS)]
        first, second = (LETTERS.evaluate(many).chance for _ in range(2))
        assert first == second
        assert first.sampled
        assert first.comparisons == MIN_COMPARISONS
        assert 0.005 < first.standard_error < 0.2

    def test_comparisons_stop_when_the_standard_error_is_small_enough(self):
        pairs = [(f"d{number}", ["same", f"own {number}"], ["same", f"own {number}"]) for number in range(6000)]
        chance = LETTERS.evaluate(pairs).chance
        assert (chance.chance_score.f1q, chance.standard_error) == (0.5, 0.0)
        assert (chance.comparisons, chance.sampled) == (1 + 2 * BATCH, True)  # of at most 40

    def test_comparisons_are_at_most_a_150th_of_the_documents(self):
        for count in (6000, 7500):
            many = [(f"d{number}", [str(number % 7)], [str(number % 5)]) for number in range(count)]
            assert LETTERS.evaluate(many).chance.comparisons == count // 150

    @pytest.mark.parametrize(
        ("documents", "length", "most"), [(100, 20, 3072), (1200, 20, 3200), (2400, 20, 6400), (250, 60, 6000)]
    )
    def test_chance_scores_take_at_most_a_150th_of_the_pairs_of_entries_compared(
        self, monkeypatch, documents, length, most
    ):
        cells = []

        def compare(plan, gold, predicted):
            cells.extend(len(one) * len(other) for one, other in zip(gold, predicted, strict=True))
            return compare_batch(plan, gold, predicted)

        def qualities(column, left, right):
            cells.append(len(left))
            return pair_qualities(column, left, right)

        monkeypatch.setattr(chance, "compare_batch", compare)
        monkeypatch.setattr(chance, "pair_qualities", qualities)
        corpus = [
            (f"d{number}", *([f"{number * at % 17} {at}" for at in range(length)] for _ in "gp"))
            for number in range(documents)
        ]
        evaluation = LETTERS.evaluate(corpus)
        assert evaluation.gold_self_agreement is not None
        assert evaluation.chance.comparisons == len(cells) - 1
        assert 0.6 * most < sum(cells) <= most

    def test_a_comparison_is_made_however_long_the_documents_are(self):
        length = 300
        long = [
            (f"d{number}", [f"{number} {at}" for at in range(length)], [str(number)] * length) for number in range(9)
        ]
        assert LETTERS.evaluate(long).chance.comparisons == 1  # each has 90,000 pairs of entries

    def test_gold_that_cannot_be_compared_is_left_out_of_its_agreement(self):
        pairs = [("a", ["x", "x"], []), ("b", ["y", float("nan")], []), ("c", "text", [])]
        assert LETTERS.evaluate(pairs).gold_self_agreement == 1.0

    def test_lists_of_entries_of_different_types_are_compared_within_their_documents(self):
        types = [{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "number"}}]
        either = Comparator(
            {"type": "object", "properties": {"list": {"anyOf": types, "x-arbitre": {"entries": True}}}}
        )
        pairs = [("a", {"list": ["x", "x"]}, {}), ("b", {"list": [1, 1]}, {})]
        assert either.evaluate(pairs).gold_self_agreement == 1.0

    def test_all_pairs_of_a_small_corpus_have_no_standard_error(self):
        assert LETTERS.evaluate(triples(3)).chance.standard_error == 0.0

    @pytest.mark.slow
    def test_the_standard_error_is_that_of_repeated_samples(self):
        rng = np.random.default_rng(0)
        lists = [
            ["same"] * int(same) + [f"{at} {n}" for n in range(10 - same)]
            for at, same in enumerate(rng.integers(0, 9, 400))
        ]
        pairs = [Pair(str(at), None, items, items) for at, items in enumerate(lists)]
        drawn = [estimate_chance(LETTERS.plan, sample_pairs(pairs, seed), 400, 10**6, seed) for seed in range(200)]
        spread = np.std([chance.chance_score.f1q for chance in drawn])
        stated = np.sqrt(np.mean([chance.standard_error**2 for chance in drawn]))
        assert {chance.comparisons for chance in drawn} == {MIN_COMPARISONS}
        assert stated == pytest.approx(spread, rel=0.25)

    def test_chance_scores_can_be_switched_off(self):
        evaluation = LETTERS.evaluate(triples(3), no_chance=True)
        assert (evaluation.chance, evaluation.chance_floor, evaluation.gold_self_agreement) == (None, None, None)
        assert evaluation.trust["chance"] is None

    def test_every_document_is_equally_likely_to_be_drawn(self):
        pairs = [Pair(str(number), None, [], []) for number in range(4 * MAX_DOCUMENTS)]
        counts = np.zeros(len(pairs))
        for seed in range(400):
            drawn = Reservoir(seed)
            for pair in pairs:
                drawn.add(pair)
            for found in (drawn(), sample_pairs(JoinedCorpus(tuple(pairs)).pairs, seed)):
                assert len({pair.id for pair in found}) == MAX_DOCUMENTS
                counts[[int(pair.id) for pair in found]] += 1
        assert np.abs(counts / 800 - 1 / 4).max() < 0.08


def test_paths_that_gold_never_uses_are_named():
    comparator = Comparator(SCHEMA)
    evaluation = comparator.evaluate([("a", {"page": "1", "names": ["x"]}, {"seal": {"colour": "red"}})])
    assert evaluation.coverage.never == ("/seal", "/seal/colour")
    assert evaluation.coverage.exercised == ("", "/page", "/names", "/names/*")
    assert evaluation.coverage.share == 4 / 6


class TestCommand:
    @pytest.fixture(autouse=True)
    def corpus(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
        gold = [{"id": f"d{n}", "page": str(n // 2), "names": [f"{n}{letter}" for letter in "abc"]} for n in range(8)]
        predicted = [one | {"names": one["names"][: n % 4]} for n, one in enumerate(gold)]
        for name, records in (("gold", gold), ("predicted", predicted)):
            Path(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
            for record in records:
                Path(name).mkdir(exist_ok=True)
                Path(name, f"{record['id']}.json").write_text(json.dumps(record), encoding="utf-8")

    @staticmethod
    def run(*arguments, code=0):
        sources = ("--gold", "gold.jsonl", "--predicted", "predicted.jsonl") if "--manifest" not in arguments else ()
        result = CliRunner().invoke(app, ["evaluate", "--schema", "schema.json", *sources, *arguments])
        assert result.exit_code == code, result.output
        return result.output

    def trust(self, *arguments):
        return json.loads(self.run("--format", "json", *arguments))["trust"]

    def test_documents_are_the_units_by_default(self):
        assert (self.trust()["intervals"]["units"], self.trust()["intervals"]["clusters"]) == (8, None)

    @pytest.mark.parametrize("cluster", ["/page", r"d([02468]|.)"])
    def test_clusters_can_be_a_value_of_gold_or_part_of_the_id(self, cluster):
        assert self.trust("--cluster-by", cluster)["intervals"]["clusters"] == (4 if cluster == "/page" else 8)

    def test_clusters_can_be_a_column_of_the_manifest(self):
        with Path("corpus.csv").open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "gold", "predicted", "volume"])
            rows.writerows([f"d{n}", f"gold/d{n}.json", f"predicted/d{n}.json", f"v{n // 4}"] for n in range(8))
        assert self.trust("--manifest", "corpus.csv", "--cluster-by", "volume")["intervals"]["clusters"] == 2

    def test_a_cluster_pointer_without_a_value_is_refused(self):
        assert "Gold document 'd0' has no value to cluster by" in self.run("--cluster-by", "/volume", code=2)

    def test_workers_and_resuming_give_the_same_files(self):
        self.run("--out", "one", "--workers", "1")
        self.run("--out", "two", "--workers", "2")
        before = {path.name: path.read_bytes() for path in Path("one").rglob("*") if path.is_file()}
        assert {path.name: path.read_bytes() for path in Path("two").rglob("*") if path.is_file()} == before
        self.run("--out", "one", "--resume")
        assert {path.name: path.read_bytes() for path in Path("one").rglob("*") if path.is_file()} == before

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--resume"], "--resume requires --out"),
            (["--engine", "dask"], "Expected --engine dask and --scheduler together"),
            (["--scheduler", "tcp://127.0.0.1:1"], "Expected --engine dask and --scheduler together"),
        ],
    )
    def test_options_that_require_others_are_refused_alone(self, arguments, message):
        assert message in " ".join(self.run(*arguments, code=2).split())
