"""The option `floor` of a distance, and scores of other tools that it reproduces."""

import json
import random
from itertools import permutations

import pytest
from rapidfuzz.distance import Levenshtein

from arbitre import Comparator, Facts, SchemaError
from arbitre.distances import catalogue

HALF = {"distance": "levenshtein", "floor": 0.5}
STEPS = [("abcdefghij"[:kept].ljust(10, "#"), kept / 10) for kept in range(11)]


def comparator(options, **schema):
    return Comparator({"type": "string", "x-arbitre": options} | schema)


@pytest.mark.parametrize("floor", [0.1, 0.3, 0.5, 0.7, 0.92, 1])
@pytest.mark.parametrize(("predicted", "quality"), STEPS)
def test_a_quality_below_the_floor_counts_0_and_one_equal_to_it_counts_as_it_is(floor, predicted, quality):
    made = comparator({"distance": "levenshtein", "floor": floor})
    expected = quality if quality >= floor else 0.0
    assert made.compare(gold="abcdefghij", predicted=predicted).quality == pytest.approx(expected, abs=1e-15)


def test_a_floor_applies_to_the_default_distance_and_after_normalisation():
    assert comparator({"floor": 0.8}).compare(gold="abcd", predicted="abcx").quality == 0.0
    assert comparator({"floor": 0.7, "normalize": "lower"}).compare(gold="abcd", predicted="ABCD").quality == 1.0
    number = comparator({"floor": 0.9, "normalize": "number"})
    assert number.compare(gold="100", predicted="91").quality == 0.91
    assert number.compare(gold="100", predicted="89").quality == 0.0


def test_a_floor_is_part_of_the_signature_and_of_explain():
    made = comparator(HALF)
    assert made.explain()[0].distance == "levenshtein(floor=0.5)"
    assert made.signature != comparator({"distance": "levenshtein"}).signature != comparator(HALF | {"floor": 0.6})


def test_an_override_of_the_distance_keeps_the_floor():
    schema = {"type": "string", "x-arbitre": HALF}
    for name in ("indel", "jaro"):
        made = Comparator(schema, distance=name)
        assert made.explain()[0].distance == f"{name}(floor=0.5)"
        assert made.compare(gold="abcd", predicted="zzzz").quality == 0.0
    assert Comparator(schema, distance="levenshtein").compare(gold="abcd", predicted="abcx").quality == 0.75


def test_branches_of_a_union_have_their_own_floor():
    made = Comparator(
        {"anyOf": [{"type": "string", "x-arbitre": HALF}, {"type": "number", "x-arbitre": {"floor": 0.9}}]}
    )
    assert made.compare(gold="ab", predicted="ax").quality == 0.5
    assert made.compare(gold=100, predicted=80).quality == 0.0


@pytest.mark.parametrize(
    ("options", "reason", "remedy"),
    [
        ({"floor": 0.5}, "yujian-bo with floor 0.5 violates the triangle inequality", "yujian-bo without a floor"),
        ({"floor": 0.92}, "yujian-bo with floor 0.92 violates the triangle inequality", "yujian-bo without a floor"),
        (HALF, "levenshtein with floor 0.5 violates the triangle inequality", "yujian-bo without a floor"),
    ],
)
def test_the_certificate_says_that_it_is_not_a_metric_and_shows_why(options, reason, remedy):
    made = comparator(options)
    assert made.certificate.verdict == "not a metric"
    (broken,) = made.certificate.breaks
    assert (broken.reason, broken.remedy) == (reason, remedy)
    x, y, z = broken.witness
    far, one, other = (1 - made.compare(gold=a, predicted=b).quality for a, b in ((x, z), (x, y), (y, z)))
    assert far > one + other + 1e-9


def test_a_floor_on_numbers_has_a_witness_too():
    (broken,) = Comparator({"type": "number", "x-arbitre": {"floor": 0.92}}).certificate.breaks
    assert broken.witness is not None


def test_a_floor_that_changes_nothing_or_leaves_only_equality_keeps_the_metric():
    assert comparator({"floor": 1}).certificate.verdict == "metric"
    assert comparator({"distance": "exact", "floor": 0.5}).certificate.verdict == "metric"
    assert Comparator({"type": "boolean", "x-arbitre": {"floor": 0.5}}).certificate.verdict == "metric"
    rounded = {"distance": {"rounded": {"grid": 10}}, "floor": 0.5}
    assert Comparator({"type": "number", "x-arbitre": rounded}).certificate.verdict == "pseudo-metric"


@pytest.mark.parametrize("floor", [0, -0.5, 1.5, "0.5", True, None])
def test_a_floor_is_a_number_above_0_and_at_most_1(floor):
    with pytest.raises(SchemaError, match="Expected `floor` to be a number above 0 and at most 1"):
        comparator({"floor": floor})


def test_a_floor_on_an_object_or_a_list_is_refused():
    for schema in ({"type": "object"}, {"type": "array", "items": {"type": "string"}}):
        with pytest.raises(SchemaError, match="`floor` applies to single values, but none is declared here"):
            Comparator(schema | {"x-arbitre": {"floor": 0.5}})
    whole = {"type": "array", "items": {"type": "string"}, "x-arbitre": {"distance": "jaccard", "floor": 0.6}}
    assert Comparator(whole).compare(gold=["a", "b"], predicted=["a"]).quality == 0.0


def test_a_custom_distance_with_a_floor_is_called_as_rarely_and_within_its_budget():
    asked = []

    def judge(gold, predicted):
        asked.append((gold, predicted))
        return Levenshtein.normalized_distance(gold, predicted)

    own = catalogue.with_distance("judge", judge, Facts(triangle=False, witness=("ab", "aba", "ba")))
    texts = {"type": "array", "items": {"type": "string", "x-arbitre": {"distance": "judge", "floor": 0.5}}}
    made = Comparator(texts, distances=own, max_calls=4)
    assert made.most_calls(gold=["abcd", "xyz"], predicted=["abxx", "xaa"]) == {"/*": 4}
    assert made.compare(gold=["abcd", "xyz"], predicted=["abxx", "xaa"]).quality == 0.25
    assert len(asked) == len(set(asked)) <= 4
    assert made.certificate.breaks[0].witness is None  # never asked for a witness


TEXT = {"type": "string", "x-arbitre": HALF | {"normalize": ["squash-space", "lower"]}}


def nls(gold, predicted):
    """The normalised Levenshtein similarity of ANLS (Biten et al., 2019), in the form of ANLS* (Peer et al., 2024)."""
    gold, predicted = (" ".join(text.lower().split()) for text in (gold, predicted))
    similarity = 1 - Levenshtein.distance(gold, predicted) / max(len(gold), len(predicted), 1)
    return similarity if similarity >= 0.5 else 0.0


def words(rng, count):
    return ["".join(rng.choices("abC ", k=rng.randint(1, 6))).strip() or "a" for _ in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_a_floor_reproduces_anls_star_of_flat_records(seed):
    """Mean similarity over all keys of either side."""
    rng = random.Random(seed)  # noqa: S311
    schema = {"type": "object", "properties": dict.fromkeys("vwxyz", TEXT)}
    gold, predicted = (
        {key: text for key, text in zip("vwxyz", words(rng, 5), strict=True) if rng.random() < 0.8} for _ in range(2)
    )
    keys = gold.keys() | predicted.keys()
    scores = [nls(gold[key], predicted[key]) for key in gold.keys() & predicted.keys()]
    quality = Comparator(schema).compare(gold=gold, predicted=predicted).quality
    assert quality == pytest.approx(sum(scores) / len(keys) if keys else 1.0)


@pytest.mark.parametrize("seed", range(30))
def test_a_floor_reproduces_anls_star_of_lists(seed):
    """Best one-to-one matching, over the longer list."""
    rng = random.Random(seed)  # noqa: S311
    gold, predicted = words(rng, rng.randint(1, 5)), words(rng, rng.randint(1, 5))
    short, long = sorted((gold, predicted), key=len)
    best = max(sum(map(nls, short, some)) for some in permutations(long, len(short)))
    quality = Comparator({"type": "array", "items": TEXT}).compare(gold=gold, predicted=predicted).quality
    assert quality == pytest.approx(best / len(long))


def test_floors_and_weights_reproduce_clipped_thresholds():
    """Each field has a threshold and a weight: a similarity below the threshold is clipped to 0 in the weighted mean."""
    fields = {  # threshold, weight, and similarities of the pair below
        "vendor": (0.85, 2.0, 1 - 1 / 9),
        "city": (0.8, 1.0, 1 - 2 / 6),
        "total": (0.95, 3.0, 0.98),
        "date": (1.0, 1.0, 0.0),
    }
    schema = {
        "type": "object",
        "properties": {
            name: {
                "type": "number" if name == "total" else "string",
                "x-arbitre": {"floor": floor, "weight": weight}
                | ({} if name == "total" else {"distance": "levenshtein"}),
            }
            for name, (floor, weight, _) in fields.items()
        },
    }
    gold = {"vendor": "Acme Corp", "city": "London", "total": 100, "date": "2024-01-31"}
    predicted = {"vendor": "Acme Cor.", "city": "Lomdom", "total": 98, "date": "2024-01-30"}
    clipped = sum(weight * (score if score >= floor else 0.0) for floor, weight, score in fields.values())
    quality = Comparator(schema).compare(gold=gold, predicted=predicted).quality
    assert quality == pytest.approx(clipped / sum(weight for _, weight, _ in fields.values()))
    assert json.dumps(Comparator(schema).signature.to_dict())  # options are plain JSON
