"""The consensus of minimum risk: properties of an aggregation, presence, evidence, comparison with annotators.

The properties are those by which Braylan, Marabella, Alonso and Lease (JAIR 2023) test models of aggregation.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations
from math import comb

import pytest

from arbitre import Comparator
from arbitre.agreement import build_consensus
from arbitre.agreement.consensus import risk
from arbitre.agreement.consensus.build import build_gold
from arbitre.agreement.consensus.places import find_places
from arbitre.agreement.consensus.risk import Presence, error_rates, estimate_presence, merits, standing_of
from arbitre.inputs.provenance import ErrorRates

pytestmark = pytest.mark.slow

TOWNS = ["Aachen", "Bremen", "Cottbus", "Dresden", "Erfurt", "Fulda", "Gotha", "Hamburg", "Ilmenau", "Jena"]
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "towns": {
            "type": "array",
            "x-arbitre": {"entries": True},
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "size": {"enum": ["small", "large"]},
                    "pages": {"type": "array", "items": {"type": "integer"}},
                },
            },
        },
    },
}


def town(number):
    return {"name": TOWNS[number], "size": ["small", "large"][number % 2], "pages": [number, number + 20]}


TRUTH = {
    f"p{page}": {"title": f"Page {page}", "towns": [town((page + at) % 10) for at in range(5)]} for page in range(8)
}


def spoiled(seed, error):
    """The truth, with towns left out and fields changed at a rate."""
    rng = random.Random(seed)  # noqa: S311
    found = {}
    for key, page in TRUTH.items():
        towns = [dict(each) for each in page["towns"] if rng.random() >= error]
        for each in towns:
            if rng.random() < error:
                each["size"] = {"small": "large", "large": "small"}[each["size"]]
            if rng.random() < error:
                each["pages"] = [rng.randint(40, 99)]
        found[key] = {"title": page["title"], "towns": towns}
    return found


def spam(seed):
    """Documents that have nothing to do with the truth."""
    rng = random.Random(seed)  # noqa: S311
    return {
        key: {
            "title": "spam",
            "towns": [
                {"name": f"x{rng.random()}", "size": "small", "pages": [rng.randint(100, 999)]} for _ in range(5)
            ],
        }
        for key in TRUTH
    }


def consensus(*annotators):
    return build_gold(Comparator(SCHEMA), dict(zip("abcdefg", annotators, strict=False))).documents


def f1q(documents):
    comparator = Comparator(SCHEMA)
    return comparator.evaluate([(key, gold, documents[key]) for key, gold in TRUTH.items()], no_chance=True).micro.f1q


class TestAggregation:
    @pytest.mark.parametrize("annotators", [2, 3, 5])
    def test_what_all_annotators_have_is_the_consensus(self, annotators):
        assert consensus(*[TRUTH] * annotators) == TRUTH

    @pytest.mark.parametrize("others", [[spoiled(1, 0.4)], [spoiled(1, 0.4), spoiled(2, 0.4)], [spam(1), spam(2)]])
    def test_what_a_majority_has_is_the_consensus(self, others):
        assert consensus(*[TRUTH] * (len(others) + 1), *others) == TRUTH

    def test_documents_of_a_majority_are_not_compared(self, monkeypatch):
        compared = []
        monkeypatch.setattr(
            risk, "merits", lambda plan, candidates: compared.extend(candidates) or merits(plan, candidates)
        )
        other = TRUTH | {"p0": spoiled(1, 0.4)["p0"]}
        found = consensus(TRUTH, other, TRUTH | {"p0": {"title": "Other", "towns": []}})
        assert found == TRUTH | {"p0": found["p0"]}
        assert len({candidate.root.document for candidate in compared}) == 1

    def test_a_spammer_does_not_change_the_consensus(self):
        annotators = [spoiled(seed, 0.1) for seed in range(4)]
        assert consensus(*annotators, spam(9)) == consensus(*annotators)

    @pytest.mark.slow
    def test_the_consensus_is_better_than_each_annotator_and_improves_with_their_number(self):
        annotators = [spoiled(seed, 0.3) for seed in range(7)]
        scores = [f1q(consensus(*annotators[:number])) for number in (3, 5, 7)]
        assert max(map(f1q, annotators)) < scores[0] < scores[1] <= scores[2]

    def test_careful_annotators_count_more_where_they_agree_with_each_other(self):
        """Two careful annotators who agree win over three careless ones whose errors differ."""
        careful, careless = [TRUTH] * 2, [spoiled(seed, 0.5) for seed in range(3)]
        assert f1q(consensus(*careful, *careless)) > max(f1q(consensus(*careless)), *map(f1q, careless))
        assert f1q(consensus(*careful, *careless)) > 0.97

    def test_the_order_and_the_names_of_the_annotators_do_not_matter(self):
        annotators = [spoiled(seed, 0.3) for seed in range(3)]
        expected = consensus(*annotators)
        assert all(consensus(*order) == expected for order in permutations(annotators))

    def test_of_two_annotators_the_document_of_one_is_kept_and_neither_is_favoured(self):
        pair = spoiled(1, 0.4), spoiled(2, 0.4)
        found = consensus(*pair)
        assert all(document in (pair[0][key], pair[1][key]) for key, document in found.items())
        assert {found[key] == pair[0][key] for key in found if pair[0][key] != pair[1][key]} == {True, False}
        assert consensus(*pair[::-1]) == found


class TestIdentity:
    def test_the_field_that_tells_items_apart_counts_more_than_the_others(self):
        """A name differs between towns, a size does not: the quality of different towns of one size is above 1/2."""
        schema = {
            "type": "array",
            "items": {"type": "object", "properties": {key: {"type": "string"} for key in ("name", "size", "kind")}},
        }
        comparator = Comparator(schema)

        def towns(*numbers):
            return [{"name": TOWNS[number], "size": "small", "kind": "town"} for number in numbers]

        annotators = {
            name: {f"{page}": towns(*(number for number in range(10) if (number + page) % 5 != skipped))
                   for page in range(5)}
            for skipped, name in enumerate("abc")
        }  # fmt: skip
        places = find_places(comparator.plan, annotators).every
        items = [place for place in places if place.path == "/*"]
        assert len(items) == 50
        names = [{own["name"] for own in place.values if isinstance(own, dict)} for place in items]
        assert all(len(own) == 1 for own in names)

    @pytest.mark.parametrize("nested", [False, True])
    def test_long_lists_contain_each_item_that_most_annotators_have_once(self, nested):
        """The fields of an item differ in 10% of the copies, and 5% of the items are omitted."""
        rng = random.Random(3)  # noqa: S311

        def page():
            return [rng.randint(1, 99)] if nested else rng.randint(1, 99)

        def copy(item):
            name, kind, pages = item["name"], item["kind"], item["page"]
            return {
                "name": name if rng.random() < 0.9 else f"{name[:-1]}!",
                "kind": kind if rng.random() < 0.9 else rng.choice("abc"),
                "page": pages if rng.random() < 0.9 else page(),
            }

        truth = [
            {"name": "".join(rng.choices("abcdefghijklmnop", k=8)), "kind": rng.choice("abc"), "page": page()}
            for _ in range(200)
        ]
        annotators = {name: {"p": [copy(item) for item in truth if rng.random() < 0.95]} for name in "abcd"}
        votes = Counter(item["name"][:-1] for own in annotators.values() for item in own["p"])
        number = {"type": "integer"}
        pages = {"type": "array", "items": number} if nested else number
        fields = {"name": {"type": "string"}, "kind": {"enum": ["a", "b", "c"]}, "page": pages}
        comparator = Comparator({"type": "array", "items": {"type": "object", "properties": fields}})
        found = build_gold(comparator, annotators, strategy="majority").documents["p"]
        most = [name for name, number in votes.items() if number > 2]
        assert sorted(item["name"][:-1] for item in found) == sorted(most)

    def test_ids_of_documents_and_names_of_annotators_do_not_decide_which_items_are_the_same(self):
        """On each page, all items have one kind. Annotators omit a quarter of the items of 150 short
        pages and of a long one, which contains nearly all pairs of different items."""
        rng = random.Random(5)  # noqa: S311

        def page(length):
            kind = rng.choice("abc")
            return [{"name": "".join(rng.choices("abcdefghijklmnop", k=8)), "kind": kind} for _ in range(length)]

        truth = {f"{at:03}": page(2) for at in range(150)} | {"long": page(350)}
        copies = [{key: [item for item in own if rng.random() < 0.75] for key, own in truth.items()} for _ in "abc"]
        fields = {key: {"type": "string"} for key in ("name", "kind")}
        comparator = Comparator({"type": "array", "items": {"type": "object", "properties": fields}})
        found = []
        for names, long in (("abc", "long"), ("abc", "0 long"), ("cba", "long")):
            renamed = [{long if key == "long" else key: own for key, own in each.items()} for each in copies]
            ids = sorted(renamed[0])
            places = find_places(comparator.plan, dict(zip(names, renamed, strict=True))).every
            items = [place for place in places if place.path == "/*" and ids[place.document] != long]
            same = [{own["name"] for own in place.values if isinstance(own, dict)} for place in items]
            assert all(len(own) == 1 for own in same)
            found.append(sorted((ids[place.document], *own) for place, own in zip(items, same, strict=True)))
        assert found[0] == found[1] == found[2]


class TestPresence:
    @staticmethod
    def counts(annotators, omitted, spurious, size=2_000):
        """Expected number of items with each number of votes, if no annotators share a spurious item."""
        found = {
            (k, annotators): size * comb(annotators, k) * (1 - omitted) ** k * omitted ** (annotators - k)
            for k in range(1, annotators + 1)
        }
        found[1, annotators] += size * annotators * spurious
        return {votes: round(number) for votes, number in found.items()}

    @pytest.mark.parametrize("annotators", [3, 5, 7])
    @pytest.mark.parametrize(("omitted", "spurious"), [(0.1, 0.1), (0.4, 0.04), (0.04, 0.4)])
    def test_the_planted_rates_are_estimated(self, annotators, omitted, spurious):
        own = Presence.estimate(self.counts(annotators, omitted, spurious))
        assert own.omitted == pytest.approx(omitted, abs=0.04)
        present = 1.0 - omitted**annotators
        assert own.real == pytest.approx(present / (present + annotators * spurious), abs=0.12)

    def test_the_more_annotators_have_an_item_the_more_probable_it_is(self):
        own = Presence.estimate(self.counts(5, 0.2, 0.2))
        probabilities = [own.probability((votes, 5)) for votes in range(1, 6)]
        assert probabilities == sorted(probabilities)
        assert probabilities[0] < 0.25
        assert probabilities[-1] > 0.999

    def test_the_threshold_is_half_of_the_greatest_expected_f1(self):
        own = Presence.estimate(self.counts(7, 0.4, 0.04))
        assert own.threshold <= 0.5
        assert own.probability((2, 7)) >= own.threshold  # 2 of 7 votes are enough if annotators omit 40 %
        perfect = Presence.estimate({(3, 3): 500})
        assert perfect.threshold == pytest.approx(0.5, abs=0.01)

    def test_a_list_is_expected_to_have_items_that_all_annotators_omit(self):
        own = Presence.estimate(self.counts(3, 0.4, 0.04))
        assert own.expected((2, 3)) == pytest.approx(own.probability((2, 3)) * (1 + 0.4**3 / (1 - 0.4**3)), abs=0.02)

    def test_two_annotators_say_nothing_about_the_rates(self):
        before = Presence.estimate({})
        assert Presence.estimate({(1, 2): 500, (2, 2): 10}) == before
        assert (before.omitted, before.real) == (0.1, pytest.approx(2 / 3))

    def test_a_single_annotator_is_believed(self):
        assert Presence.estimate({}).probability((1, 1)) == 1.0

    def test_the_errors_of_each_annotator_are_estimated(self):
        """c omits two of five towns on each page, and d adds two."""
        names = {key: [each["name"] for each in page["towns"]] for key, page in TRUTH.items()}
        changed = {"c": lambda own: own[::2], "d": lambda own: [*own, "Extra 1", "Extra 2"]}
        documents = {name: {key: changed.get(name, list)(own) for key, own in names.items()} for name in "abcd"}
        places = find_places(Comparator({"type": "array", "items": {"type": "string"}}).plan, documents)
        found = error_rates(places, estimate_presence(places.every))
        assert list(found) == ["a", "b", "c", "d"]
        assert found["a"].omitted < 0.03
        assert found["a"].spurious < 0.01
        assert found["c"].omitted == pytest.approx(0.4, abs=0.03)
        assert found["d"].spurious == pytest.approx(2 / 7, abs=0.03)

    def test_the_errors_are_in_the_provenance_of_three_annotators_but_not_of_two(self):
        annotators = {name: spoiled(seed, 0.2) for seed, name in enumerate("abc")}
        comparator = Comparator(SCHEMA)
        three = build_gold(comparator, annotators).provenance
        assert all(isinstance(three.errors[name], ErrorRates) for name in "abc")
        assert type(three).from_dict(three.to_dict()).errors == three.errors
        assert not build_gold(comparator, {name: annotators[name] for name in "ab"}).provenance.errors
        assert not build_gold(comparator, annotators, strategy="majority").provenance.errors


class TestStanding:
    """Each annotator is compared with the consensus of the others, their medoid, and each of them."""

    @pytest.mark.slow
    def test_scores_are_those_against_the_annotator_who_is_left_out(self):
        annotators = {"a": TRUTH, "b": TRUTH, "c": TRUTH, "d": spam(1)}
        standing = build_consensus(Comparator(SCHEMA), annotators).standing
        assert standing.documents == 8
        assert standing.best == "a"
        assert standing.annotators["a"] == pytest.approx(2 / 3, abs=0.1)  # 1 with b and c, about 0 with d
        assert standing.annotators["d"] < 0.3
        assert standing.consensus == standing.medoid  # TRUTH for each of them

    @pytest.mark.slow
    def test_a_consensus_of_careless_annotators_agrees_better_than_the_best_of_them(self):
        annotators = {name: spoiled(seed, 0.25) for seed, name in enumerate("abcde")}
        standing = build_consensus(Comparator(SCHEMA), annotators).standing
        assert standing.consensus > max(standing.medoid, standing.annotators[standing.best])

    def test_the_function_gets_only_the_others(self):
        annotators = {name: spoiled(seed, 0.2) for seed, name in enumerate("abc")}
        asked = []

        def first(others):
            asked.append(sorted(others))
            return others[min(others)]

        standing_of(Comparator(SCHEMA).plan, annotators, first)
        assert asked == [["b", "c"], ["a", "c"], ["a", "b"]]

    def test_without_three_annotators_or_shared_documents_there_is_none(self):
        plan = Comparator(SCHEMA).plan
        apart = {"a": {"p": TRUTH["p0"]}, "b": {"p": TRUTH["p0"]}, "c": {"q": TRUTH["p1"]}}
        assert standing_of(plan, {"a": TRUTH, "b": TRUTH}, dict) is None
        assert standing_of(plan, apart, dict) is None
