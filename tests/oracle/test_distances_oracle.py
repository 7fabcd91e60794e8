"""Distances against textbook programs: difflib, dynamic programming over edits, and fractions."""

import difflib
import random
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

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
    return catalogue.build(name).pool(values).crossed(everything, everything)


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
@pytest.mark.parametrize(
    ("name", "substitution", "formula"),
    [
        ("levenshtein", 1, lambda edits, a, b: edits / max(a, b)),
        ("yujian-bo", 1, lambda edits, a, b: 2 * edits / (a + b + edits)),
        ("indel", 2, lambda edits, a, b: edits / (a + b)),
    ],
)
def test_edit_distances_are_those_of_dynamic_programming(name, substitution, formula, alphabet):
    values = texts(alphabet)
    expected = [[formula(edits(x, y, substitution), len(x), len(y)) if x or y else 0.0 for y in values] for x in values]
    assert table(name, values).tolist() == expected


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
def test_jaro_winkler_is_that_of_its_definition(alphabet):
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
def test_ratcliff_obershelp_is_that_of_difflib(alphabet, autojunk):
    generator = random.Random(7)  # noqa: S311
    values = [*texts(alphabet), *(text(generator, alphabet, length) for length in (199, 200, 201, 260))]
    values += ["x" + values[-1], "ab" * 200, "b" + "ab" * 200]
    everything = np.arange(len(values))
    pool = catalogue.build({"ratcliff-obershelp": {"autojunk": autojunk}}).pool(values)
    expected = [[1 - difflib.SequenceMatcher(None, x, y, autojunk).ratio() for y in values] for x in values]
    assert pool.crossed(everything, everything).tolist() == expected


def test_autojunk_ignores_the_frequent_characters_of_a_long_prediction():
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


def test_relative_is_that_of_exact_fractions():
    values = random_numbers()
    distances = table("relative", values)
    for i, a in enumerate(map(Fraction, values)):
        for j, b in enumerate(map(Fraction, values)):
            expected = min(Fraction(1), abs(a - b) / max(abs(a), abs(b))) if a != b else Fraction(0)
            assert distances[i, j] == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize("scale", [1e-3, 1, 7, 10**20, 1e308])
def test_absolute_is_that_of_exact_fractions(scale):
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


def test_jaccard_is_that_of_sets():
    generator = random.Random(17)  # noqa: S311
    values = [[generator.randint(0, 9) for _ in range(generator.randint(0, 12))] for _ in range(60)]
    union = [[len(set(a) | set(b)) for b in values] for a in values]
    unshared = [[len(set(a) ^ set(b)) for b in values] for a in values]
    expected = [[d / u if u else 0.0 for d, u in zip(*row, strict=True)] for row in zip(unshared, union, strict=True)]
    assert table("jaccard", values).tolist() == expected
