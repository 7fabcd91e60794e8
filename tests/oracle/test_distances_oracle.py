"""Distances compared with textbook implementations: difflib, dynamic programming, fractions and counts."""

import difflib
import itertools
import math
import random
from collections import Counter
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from tests.builders import crossed

from arbitre.distances import catalogue


def edits(x, y, substitution):
    """Fewest edits from x to y, by the recurrence of Wagner and Fischer (1974)."""
    row = list(range(len(y) + 1))
    for i, a in enumerate(x, 1):
        above, row = row, [i]
        for j, b in enumerate(y, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (0 if a == b else substitution)))
    return row[-1]


def text(generator, alphabet, length):
    return "".join(generator.choices(alphabet, k=length))


LENGTHS = (0, 1, 2, 7, 63, 64, 65, 130)
ALPHABETS = ("ab", "abcdé ", "a\U0001f600\U00010384b", "a\ud800\udc00")


def texts(alphabet):
    generator = random.Random(len(alphabet))  # noqa: S311
    return [text(generator, alphabet, length) for length in LENGTHS for _ in range(2)]


def table(name, values):
    everything = np.arange(len(values))
    return crossed(catalogue.build(name).pool(values), everything, everything)


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
@pytest.mark.parametrize(
    ("name", "substitution", "formula"),
    [
        ("levenshtein", 1, lambda edits, a, b: edits / max(a, b)),
        ("yujian-bo", 1, lambda edits, a, b: 2 * edits / (a + b + edits)),
        ("indel", 2, lambda edits, a, b: edits / (a + b)),
        ("indel-yujian-bo", 2, lambda edits, a, b: 2 * edits / (a + b + edits)),
    ],
)
def test_edit_distances_equal_dynamic_programming(name, substitution, formula, alphabet):
    values = texts(alphabet)
    expected = [[formula(edits(x, y, substitution), len(x), len(y)) if x or y else 0.0 for y in values] for x in values]
    assert table(name, values).tolist() == expected


def swaps(x, y):
    """Edits where neighbours may change places too, each once: one recurrence more than without."""
    table = [[i + j for j in range(len(y) + 1)] for i in range(len(x) + 1)]  # the cells of a list are read fastest
    for i, j in itertools.product(range(1, len(x) + 1), range(1, len(y) + 1)):
        same = int(x[i - 1] != y[j - 1])
        table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + same)
        if i > 1 and j > 1 and x[i - 1] == y[j - 2] and x[i - 2] == y[j - 1]:
            table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def any_swaps(x, y):
    """Edits and swaps of characters that become neighbours, by the recurrence of Lowrance and Wagner (1975)."""
    far = len(x) + len(y)
    table = [[far] * (len(y) + 2), *([far, *(i + j for j in range(len(y) + 1))] for i in range(len(x) + 1))]
    last_row = {}
    for i in range(1, len(x) + 1):
        last_column = 0
        for j in range(1, len(y) + 1):
            row, column = last_row.get(y[j - 1], 0), last_column
            same = int(x[i - 1] != y[j - 1])
            if not same:
                last_column = j
            table[i + 1][j + 1] = min(
                table[i][j] + same,
                table[i + 1][j] + 1,
                table[i][j + 1] + 1,
                table[row][column] + (i - row - 1) + 1 + (j - column - 1),
            )
        last_row[x[i - 1]] = i
    return table[-1][-1]


def missed(x, y):
    """The longer length - the longest common subsequence."""
    return max(len(x), len(y)) - (len(x) + len(y) - edits(x, y, 2)) // 2


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
@pytest.mark.parametrize(("name", "fewest"), [("osa", swaps), ("damerau-levenshtein", any_swaps), ("lcs", missed)])
def test_normalised_edit_distances_equal_dynamic_programming(name, fewest, alphabet):
    values = [value for value in texts(alphabet) if len(value) < 70]
    values += [value[1::-1] + value[2:] for value in values]
    expected = [[fewest(x, y) / max(len(x), len(y), 1) for y in values] for x in values]
    assert table(name, values).tolist() == expected


def test_edit_distances_of_all_short_words_equal_the_recurrences():
    words = ["".join(word) for n in range(5) for word in itertools.product("abc", repeat=n)]
    for name, fewest in (("osa", swaps), ("damerau-levenshtein", any_swaps)):
        distances = table(name, words)
        for i, j in random.Random(3).sample(list(np.ndindex(distances.shape)), 2000):  # noqa: S311
            assert distances[i, j] == fewest(words[i], words[j]) / max(len(words[i]), len(words[j]), 1)
    assert swaps("CA", "ABC") == 3
    assert any_swaps("CA", "ABC") == 2


def test_token_set_is_the_least_indel_of_three():
    generator = random.Random(23)  # noqa: S311
    values = [" ".join(text(generator, "ab", 2) for _ in range(generator.randint(0, 5))) for _ in range(40)]
    distances = table("token-set", values)
    for (i, x), (j, y) in itertools.product(enumerate(values), repeat=2):
        a, b = set(x.split()), set(y.split())
        common = " ".join(sorted(a & b))
        ours, theirs = (" ".join(filter(None, [common, *sorted(side - (a & b))])) for side in (a, b))
        pairs = [(ours, theirs)] + ([(common, ours), (common, theirs)] if common else [])
        expected = min(edits(*pair, 2) / max(sum(map(len, pair)), 1) for pair in pairs)
        assert distances[i, j] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_jaccard_ngrams_equals_jaccard_of_sets_of_ngrams(n):
    values = [*texts("ab"), *texts("abcdé ")]
    runs = [{x[at : at + n] for at in range(max(len(x) - n, 0) + 1)} - {""} for x in values]
    expected = [[1 - Fraction(len(a & b), len(a | b)) if a | b else 0 for b in runs] for a in runs]
    found = table({"jaccard-ngrams": {"n": n}}, values)
    assert found.tolist() == [[float(value) for value in row] for row in expected]


def jaro(x, y):
    """The similarity of Jaro (1989): matches within a window, and half the matches that are out of order."""
    window = max(max(len(x), len(y)) // 2 - 1, 0)
    free = list(range(len(y)))
    matched = []
    for i, sign in enumerate(x):
        partner = next((j for j in free if y[j] == sign and abs(i - j) <= window), None)
        if partner is not None:
            free.remove(partner)
            matched.append((i, partner))
    if not matched:
        return Fraction(int(x == y))
    m = len(matched)
    second = [y[j] for _, j in sorted(matched, key=lambda pair: pair[1])]
    halves = sum(x[i] != sign for (i, _), sign in zip(matched, second, strict=True)) // 2
    return (Fraction(m, len(x)) + Fraction(m, len(y)) + Fraction(m - halves, m)) / 3


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
def test_jaro_equals_its_definition(alphabet):
    values = texts(alphabet)
    distances = table("jaro", values)
    for (i, x), (j, y) in itertools.product(enumerate(values), repeat=2):
        assert distances[i, j] == pytest.approx(float(1 - jaro(x, y)), abs=1e-15)


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
def test_jaro_winkler_equals_its_definition(alphabet):
    values = texts(alphabet)
    distances = table("jaro-winkler", values)
    for i, x in enumerate(values):
        for j, y in enumerate(values):
            similarity = jaro(x, y)
            if similarity > Fraction(7, 10):
                start = next((n for n in range(4) if x[n : n + 1] != y[n : n + 1] or n >= len(x)), 4)
                similarity += Fraction(start, 10) * (1 - similarity)
            assert distances[i, j] == pytest.approx(float(1 - similarity), abs=1e-15)


@pytest.mark.parametrize("autojunk", [False, True])
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
def test_ratcliff_obershelp_equals_difflib(alphabet, autojunk):
    generator = random.Random(7)  # noqa: S311
    values = [*texts(alphabet), *(text(generator, alphabet, length) for length in (199, 200, 201, 260))]
    values += ["x" + values[-1], "ab" * 101, "b" + "ab" * 101]
    everything = np.arange(len(values))
    pool = catalogue.build({"ratcliff-obershelp": {"autojunk": autojunk}}).pool(values)
    expected = [[1 - difflib.SequenceMatcher(None, x, y, autojunk).ratio() for y in values] for x in values]
    assert crossed(pool, everything, everything).tolist() == expected


def test_autojunk_ignores_frequent_characters_of_a_long_prediction():
    gold, predicted = "ab" * 200, "b" + "ab" * 200
    with_junk = catalogue.build({"ratcliff-obershelp": {"autojunk": True}})
    without = catalogue.build("ratcliff-obershelp")
    assert with_junk(gold, predicted) == 1.0
    assert 1 - without(gold, predicted) == pytest.approx(0.9988, abs=1e-4)
    assert with_junk(gold, gold) == 0.0


def random_numbers():
    generator = random.Random(11)  # noqa: S311
    floats = [generator.uniform(-1, 1) * 10 ** generator.randint(-300, 300) for _ in range(40)]
    integers = [generator.randint(-(10**n), 10**n) for n in (1, 3, 15, 16, 17, 30, 308, 320) for _ in range(4)]
    return [*floats, *integers, 0, 1e308, -1e308, 2**53, 2**53 + 1]


def test_relative_equals_exact_fractions():
    values = random_numbers()
    distances = table("relative", values)
    for i, a in enumerate(map(Fraction, values)):
        for j, b in enumerate(map(Fraction, values)):
            expected = min(Fraction(1), abs(a - b) / max(abs(a), abs(b))) if a != b else Fraction(0)
            assert distances[i, j] == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize("scale", [1e-3, 1, 7, 10**20, 1e308])
def test_absolute_equals_exact_fractions(scale):
    values = random_numbers()
    distances = table({"absolute": {"scale": scale}}, values)
    for i, a in enumerate(map(Fraction, values)):
        for j, b in enumerate(map(Fraction, values)):
            expected = float(min(Fraction(1), abs(a - b) / Fraction(scale)))
            assert distances[i, j] == pytest.approx(expected, rel=1e-15, abs=5e-324)


def test_dates_are_days_of_the_calendar():
    generator = random.Random(13)  # noqa: S311
    days = [date.fromordinal(generator.randint(1, date.max.toordinal())) for _ in range(60)]
    days += [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]
    distances = table({"date": {"scale": 1000}}, [day.isoformat() for day in days])
    expected = [[min(1.0, abs((a - b).days) / 1000) for b in days] for a in days]
    assert distances.tolist() == expected


def test_jaccard_equals_jaccard_of_sets():
    generator = random.Random(17)  # noqa: S311
    values = [[generator.randint(0, 9) for _ in range(generator.randint(0, 12))] for _ in range(60)]
    union = [[len(set(a) | set(b)) for b in values] for a in values]
    unshared = [[len(set(a) ^ set(b)) for b in values] for a in values]
    expected = [[d / u if u else 0.0 for d, u in zip(*row, strict=True)] for row in zip(unshared, union, strict=True)]
    assert table("jaccard", values).tolist() == expected


def test_dice_is_one_minus_f1_of_sets():
    generator = random.Random(19)  # noqa: S311
    values = [[generator.randint(0, 9) for _ in range(generator.randint(0, 12))] for _ in range(60)]
    total = [[len(set(a)) + len(set(b)) for b in values] for a in values]
    unshared = [[len(set(a) ^ set(b)) for b in values] for a in values]
    expected = [[d / t if t else 0.0 for d, t in zip(*row, strict=True)] for row in zip(unshared, total, strict=True)]
    assert table("dice", values).tolist() == expected


@pytest.mark.parametrize("scale", [1e-3, 1, 7, 10**20])
def test_log_equals_high_precision_decimals(scale):
    def asinh(value):
        ratio = abs(Decimal(value) / Decimal(scale))
        size = (ratio + (ratio * ratio + 1).sqrt()).ln()
        return size if value > 0 else -size

    values = random_numbers()
    distances = table({"log": {"scale": scale}}, values)
    with localcontext(prec=700):
        places = [float(asinh(value)) for value in values[:12]] + [float(asinh(value)) for value in values[-12:]]
    chosen = [*range(12), *range(len(values) - 12, len(values))]
    for (i, a), (j, b) in itertools.product(zip(chosen, places, strict=True), repeat=2):
        assert distances[i, j] == pytest.approx(abs(a - b) / (1 + abs(a - b)), abs=1e-13)


@pytest.mark.parametrize("step", [1e-3, 0.5, 1, 7, 10**17])
def test_rounded_equals_exact_fractions(step):
    values = [*random_numbers(), *(step * half / 2 for half in range(-5, 6))]
    exact = [Fraction(value) for value in values]
    cells = [math.floor(value / Fraction(step) + Fraction(1, 2)) for value in exact]
    cells = [
        cell - (cell % 2 == 1 and value / Fraction(step) + Fraction(1, 2) == cell)
        for cell, value in zip(cells, exact, strict=True)
    ]
    expected = [[float(a != b) for b in cells] for a in cells]
    assert table({"rounded": {"grid": step}}, values).tolist() == expected


def as_written(number):
    return Fraction(number if number == int(number) else str(number))


@pytest.mark.parametrize("step", [1e-3, 0.01, 0.5, 1, 7, 10**17])
def test_tolerance_equals_exact_decimals(step):
    values = [*random_numbers(), *(step * half / 2 for half in range(-5, 6)), *(step * part for part in range(9))]
    exact = [as_written(value) for value in values]
    limit = as_written(step)
    expected = [[float(abs(a - b) > limit) for b in exact] for a in exact]
    assert table({"tolerance": {"within": step}}, values).tolist() == expected


@pytest.mark.parametrize("share", [0.01, 0.05, 1 / 3, 0.5])
def test_relative_tolerance_equals_exact_decimals(share):
    values = [*random_numbers(), *(part / 100 for part in range(-100, 101))]
    exact = [as_written(value) for value in values]
    limits = [as_written(share) * abs(value) for value in exact]
    pairs = list(zip(exact, limits, strict=True))
    expected = [[float(abs(a - b) > max(most, other)) for b, other in pairs] for a, most in pairs]
    assert table({"tolerance": {"relative": share}}, values).tolist() == expected


@pytest.mark.parametrize("period", [2, 3, 7, 12, 24, 60])
def test_cycle_counts_steps_on_a_ring(period):
    ring = np.zeros((period, period))
    ring[np.arange(period), (np.arange(period) + 1) % period] = 1
    steps = shortest_path(ring, directed=False)
    hours = np.arange(period + 1) % period  # the period itself is 0 again
    expected = (steps / steps.max())[np.ix_(hours, hours)]
    assert table({"cycle": {"period": period}}, list(range(period + 1))).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_taxonomy_is_the_path_over_the_diameter(seed):
    generator = random.Random(seed)  # noqa: S311
    size = generator.choice([2, 3, 8, 30])
    labels = [f"label {number}" for number in range(size)]
    above = [generator.randrange(max(0, child - 3), child) for child in range(1, size)]
    edges = np.zeros((size, size))
    edges[range(1, size), above] = 1
    steps = shortest_path(edges, directed=False)
    pairs = [(labels[child], labels[parent]) for child, parent in enumerate(above, 1)]
    generator.shuffle(pairs)
    assert table({"taxonomy": {"parents": dict(pairs)}}, labels).tolist() == (steps / steps.max()).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_a_table_declares_the_facts_that_hold_for_its_costs(seed):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 6))
    costs = generator.choice([0.0, 0.25, 0.5, 0.75, 1.0], (size, size), p=[0.1, 0.2, 0.3, 0.3, 0.1])
    costs = np.triu(costs, 1) + np.triu(costs, 1).T
    built = catalogue.build({"table": {"values": list("abcde")[:size], "costs": costs.tolist()}})
    pairs = [(i, j) for i, j in np.ndindex(size, size) if i != j]
    triples = itertools.product(range(size), repeat=3)
    assert built.facts.separating == all(costs[pair] > 0 for pair in pairs)
    assert built.facts.triangle == all(costs[i, k] <= costs[i, j] + costs[j, k] for i, j, k in triples)
    assert (built.facts.witness is None) == built.facts.metric
    assert table(
        {"table": {"values": list("abcde")[:size], "costs": costs.tolist()}}, list("abcde")[:size]
    ).tolist() == (costs.tolist())


CANDIDATE, FIRST, SECOND = "Welcome everyone on Blent website", "Hello world on this website", "Hello everyone on Blent"


@pytest.mark.parametrize(
    ("choice", "gold", "f1"),
    [
        ("rouge-1", SECOND, 2 * 0.6 * 0.75 / (0.6 + 0.75)),  # precision 3/5, recall 3/4
        ("rouge-2", SECOND, 2 * 0.5 * (2 / 3) / (0.5 + 2 / 3)),  # of 4 pairs, not of 5
        ("rouge-1", FIRST, 0.4),
        ("rouge-2", FIRST, 0),
        ("rouge-l", SECOND, 2 / 3),
    ],
)
def test_rouge_equals_the_worked_example(choice, gold, f1):
    assert catalogue.build(choice)(gold, CANDIDATE) == pytest.approx(1 - f1, abs=1e-15)


def runs_of(words, n):
    if 0 < len(words) < n:
        return Counter([tuple(words)])
    return Counter(tuple(words[at : at + n]) for at in range(len(words) - n + 1))


def skips_of(words, skip):
    pairs = [(i, j) for i, j in itertools.combinations(range(len(words)), 2) if j - i - 1 <= skip]
    return Counter((words[i], words[j]) for i, j in pairs) if len(words) != 1 else Counter(words)


def one_minus_f1(a, b):
    return float(1 - Fraction(2 * (a & b).total(), a.total() + b.total())) if a or b else 0.0


def random_prose(letters="abc"):
    generator = random.Random(29)  # noqa: S311
    lengths = [0, 1, 1, 2, 2, 3, *(generator.randint(3, 30) for _ in range(25))]
    return [" ".join(generator.choices(letters, k=length)) for length in lengths]


@pytest.mark.parametrize(
    ("choice", "grams"),
    [
        *(({"rouge-n": {"n": n}}, lambda words, n=n: runs_of(words, n)) for n in (1, 2, 3, 5)),
        ("rouge-1", lambda words: runs_of(words, 1)),
        ("rouge-2", lambda words: runs_of(words, 2)),
        ("rouge-s", lambda words: skips_of(words, 4)),
        *(({"rouge-s": {"skip": skip}}, lambda words, s=skip: skips_of(words, s)) for skip in (0, 1, 100)),
    ],
    ids=lambda value: "count" if callable(value) else str(value),
)
def test_rouge_counts_equal_a_manual_count(choice, grams):
    values = random_prose()
    bags = [grams(value.split()) for value in values]
    assert table(choice, values) == pytest.approx(
        np.array([[one_minus_f1(a, b) for b in bags] for a in bags]), abs=1e-15
    )


def test_rouge_l_equals_dynamic_programming():
    values = random_prose()
    words = [value.split() for value in values]
    expected = [[edits(a, b, 2) / max(len(a) + len(b), 1) for b in words] for a in words]
    assert table("rouge-l", values).tolist() == expected


@pytest.mark.parametrize(
    ("n", "gold", "predicted", "score"),
    [
        (1, FIRST, "Hello Hello Hello Hello Hello", 0.2),  # clipped: gold has one
        (2, SECOND, CANDIDATE, 0.547723),
        (1, "a b c d e", "a b c d", 0.778801),  # brevity alone: exp(1 - 5/4)
    ],
)
def test_bleu_equals_the_worked_example(n, gold, predicted, score):
    pytest.importorskip("sacrebleu")
    assert catalogue.build({"bleu": {"n": n}})(gold, predicted) == pytest.approx(1 - score, abs=5e-7)


def bleu(gold, predicted, orders):
    """BLEU of one sentence: exponential smoothing, and as many orders as the prediction has."""
    logs, misses = [], 0
    for n in range(1, min(orders, len(predicted)) + 1):
        ours, theirs = (
            Counter(tuple(side[at : at + n]) for at in range(len(side) - n + 1)) for side in (predicted, gold)
        )
        found = (ours & theirs).total()
        if not found:
            misses += 1
        logs.append(math.log(found / ours.total() if found else 1 / (2**misses * ours.total())))
    if not set(gold) & set(predicted):
        return 0.0
    return math.exp(min(0, 1 - len(gold) / len(predicted)) + sum(logs) / len(logs))


def chrf(gold, predicted):
    """F of twice as much recall, from the means of precision and recall of runs of 1 to 6 characters."""
    shares = []
    for n in range(1, min(6, len(gold), len(predicted)) + 1):
        ours, theirs = (Counter(side[at : at + n] for at in range(len(side) - n + 1)) for side in (predicted, gold))
        found = (ours & theirs).total()
        shares.append((found / ours.total(), found / theirs.total()))
    if not any(precision for precision, _ in shares):
        return 0.0
    precision, recall = (sum(side) / len(shares) for side in zip(*shares, strict=True))
    return 5 * precision * recall / (4 * precision + recall)


@pytest.mark.parametrize("choice", ["bleu", "chrf"])
def test_bleu_and_chrf_equal_their_definitions(choice):
    pytest.importorskip("sacrebleu")
    values = random_prose("abcd")
    distances = table(choice, values)
    for (i, x), (j, y) in itertools.product(enumerate(values), repeat=2):
        score = bleu(x.split(), y.split(), 4) if choice == "bleu" else chrf(x.replace(" ", ""), y.replace(" ", ""))
        assert distances[i, j] == pytest.approx(0.0 if x == y else 1 - score, abs=1e-12)
