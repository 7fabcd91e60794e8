"""Every built-in distance has the properties that it declares, and lacks those that it denies."""

import importlib.util
import itertools
import pickle
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import crossed

from arbitre.distances import Distance, Facts, catalogue
from arbitre.distances.base import Blocks, with_floor
from arbitre.errors import SchemaError
from arbitre.values import Kind, equal

ROUNDING = 1e-12

WORDS = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)]
TEXTS = [
    *WORDS,
    *("bc", "jean", "dupont"),
    *("abc", "bca", "cab", "CA", "AC", "ABC", "tide", "diet", "aaba", "baaa", "a b", "b a", " a  b ", "jean dupont"),
    *("larcher (gérard)", "gérard larcher", "\ud800", "\U0001f600", "é", "é", "a" * 63, "a" * 64, "a" * 64 + "b"),
    *("ab" * 100, "b" + "ab" * 100, "ba" * 100),
]
NUMBERS = [
    *(0, -0.0, 1, -1, 2, 3, 0.2, 0.5, -2.5, 0.1, 0.3, 0.1 + 0.2, 100, 9000),
    *(2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**64 + 1, 10**17, 10**400, 10**400 + 1, -(10**400)),
    *(1e308, -1e308, sys.float_info.max, 5e-324, -5e-324, 1e-300, int(1e308), int(1e308) + 1),
]
DATES = [
    *("1931", "1931-01", "1931-03", "1931-12", "1932", "1931-01-01", "1931-03-01", "1931-03-31", "1931-12-31"),
    *("1932-02-29", "1931-02-29", "0001-01-01", "9999-12-31", "1931-03-01T00:00:00", "1931-03-01T12:00:00Z"),
    *("1931-03-01T13:00:00+01:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "spring", "", "1931-13"),
]
DURATIONS = [
    *(
        "PT0S",
        "P0D",
        "PT1S",
        "PT60S",
        "PT1M",
        "-PT1M",
        "+PT1M",
        "P1D",
        "PT24H",
        "P1DT12H",
        "P1.5D",
        "P1,5D",
        "P1W",
        "-P7D",
    ),
    *("P1Y", "P12M", "P365D", "P1Y2M3DT4H5M6.7S", "PT0.1S", "PT0.3S", "PT999999999999999H", "pt1h", " PT1H "),
    *("", "P", "PT", "P1DT", "1H", "P1S", "PT1H30", "an hour", "P-1D"),
]
TIMES = [
    *(
        "00:00",
        "00:00:00",
        "00:00Z",
        "12:00",
        "11:59:59.999999",
        "23:59:59",
        "23:59:59,5",
        "01:00+01:00",
        "06:30",
        "18:30",
    ),
    *(
        "05:30-19:00",
        "00:00:00.000001",
        " 12:00 ",
        "12:00z",
        "24:00",
        "25:00",
        "12:60",
        "12",
        "noon",
        "",
        "12:00+25:00",
    ),
]
HEX = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
UUIDS = [
    *(HEX, HEX.upper(), HEX.replace("-", ""), f"{{{HEX}}}", f"urn:uuid:{HEX}", f" {HEX}", f"{HEX[:-1]}9", HEX[:-1], ""),
    *(f"{{{HEX}", "00000000-0000-0000-0000-000000000000", "1", "é"),
]
URIS = [
    *(
        "http://a.org",
        "HTTP://A.org/",
        "http://a.org:80",
        "http://a.org:8080/",
        "https://a.org:443/b",
        "https://a.org/b",
    ),
    *(
        "http://a.org/./b/../c",
        "http://a.org/c",
        "http://a.org/%7eb?q=%c3%a9",
        "http://a.org/~b?q=%C3%A9",
        "a.org",
        "A.org",
    ),
    *(
        "mailto:Ada@a.org",
        "urn:isbn:0451450523",
        "http://U:p@A.org/x#Y",
        "http://[::1",
        "http://a.org:x/",
        "//a",
        "",
        "é",
        "http:///../..",
    ),
]
SETS = [list(part) for n in range(4) for part in itertools.product([1, "1", True], repeat=n)] + [
    [None],
    [[1], [2]],
    [[2], [1]],
    [{"a": 1}],
    [1, 2],
    [2, 1],
]
SPANS = [
    *({"start": start, "end": end} for start in range(4) for end in range(start + 1, 5)),
    *({"start": start, "end": end, "label": name} for start, end in ((0, 2), (1, 4)) for name in ("city", "person")),
    {"start": 0, "end": 2, "other": 1},
    {"start": 0, "end": 1, "label.": 1},
    *({"start": 0.0, "end": 0.1}, {"start": 0.1, "end": 0.3}, {"start": -2.5, "end": 1e15}, {"start": 0, "end": 2**60}),
    *(
        {},
        {"start": 0},
        {"start": 2, "end": 2},
        {"start": 3, "end": 1},
        {"start": True, "end": 2},
        {"start": "0", "end": 1},
    ),
]
TOUCHING = ({"start": 0, "end": 2}, {"start": 1, "end": 3}, {"start": 2, "end": 4})
ORDER = ["low", "medium", "high", "top", ""]
CYCLE = [*range(-1, 15), 0.0, 1.0, 11.0, 12.0, 2.5, -0.5, 11.5, 1e308, 2**53, 2**53 + 1, 10**400]
GRID = [*NUMBERS, 0.25, 0.75, 1.25, -0.25, 1.5, 2.25]
LOGS = [*NUMBERS, 1e3, 1.001e3, 2e3, 1e15, 1e15 + 1]
PARENTS = {"cat": "mammal", "dog": "mammal", "mammal": "animal", "trout": "fish", "fish": "animal", "tabby": "cat"}
LABELS = [*PARENTS, "animal", "plant", "moss", "", "Cat"]
COSTS = [[0, 0.1, 0.9], [0.1, 0, 0.8], [0.9, 0.8, 0]]  # 0.1 + 0.8 is less than 0.9 by rounding alone
SKEWED = [[0, 0.1, 1], [0.1, 0, 0.2], [1, 0.2, 0]]
MERGED = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
PROSE = [
    *(
        "",
        " ",
        "...",
        "a",
        "A",
        "b",
        "a b",
        "A b",
        "a  b",
        "b a",
        "ab",
        "a a",
        "a a b",
        "a b b",
        "a b c",
        "b c",
        "c b a",
    ),
    *("a b a", "b a b", "a b a b b"),
    *("Hello", "hello", "hello hello", "Hello everyone on Blent", "Welcome everyone on Blent website"),
    *("Hello world on this website", "the gunman killed police", "police killed the gunman", "a b c d e f g h"),
    *(
        "c a d d b b c a c b a a",
        "c a d b b b c a c b a a",
        "c a d b b b c a b a a",
        "L’été",
        "l'été",
        "\ud800 \U0001f600",
    ),
    *("b d b a a a", "c d b d b a a a", "c d b d b a d", "a b c d e f g h " * 20, "b c d e f g h a " * 20),
]
SUMMARIES = [*PROSE, "a b\nb a", "a\nb a", "a\nb", "b a\na b\n", "\n", "é", "è", "d e f\na b c", "a b c\nd e f"]
SEGMENTATIONS = [
    *(
        [*ends, length]
        for length in range(1, 6)
        for n in range(length)
        for ends in itertools.combinations(range(1, length), n)
    ),
    *([[0, 3], [3, 7]], [[1, 3], [4, 7]], [{"start": 0, "end": 3}, {"start": 3, "end": 7}], [3, 7], [2, 3, 30]),
    *(
        [],
        [0],
        [3, 2],
        [-1],
        [True],
        [1.5],
        ["1"],
        [[3, 7], [0, 3]],
        [[0, 0]],
        [[0, 3], 7],
        [[0, 3, 4]],
        [10**12],
        [None],
    ),
    *("", "0", "1", "001000", "0010000", "1111", "012", "é"),
]
SCALARS = [None, False, True, 0, 1, 1.0, 2**53, 2**53 + 1, "", "1", "low", "medium", "high", 4, "other"]
ANYTHING = [*SCALARS, [], [1], [1.0], [True], [[]], {}, {"a": 1}, {"a": True}, {"a": None}, {"b": 1}, [1, 2], [2, 1]]


@dataclass(frozen=True, eq=False)
class Law:
    """What one choice of a distance is to declare, values to hold it against, witnesses beyond the declared one."""

    choice: object
    values: list
    identity: bool = True
    symmetric: bool = True
    separating: bool = True
    triangle: bool = True
    witnesses: dict = field(default_factory=dict)
    floor: float | None = None

    @property
    def name(self):
        return self.choice if isinstance(self.choice, str) else next(iter(self.choice))

    @property
    def distance(self) -> Distance:
        return with_floor(catalogue.build(self.choice), self.floor)


SUBSETS = {"triangle": ("jean", "jean dupont", "dupont")}
ROUGE = {"separating": False, "triangle": False}
SCORED = {"symmetric": False, **ROUGE}
REWRITTEN = ("c a d d b b c a c b a a", "c a d b b b c a c b a a", "c a d b b b c a b a a")
LIBRARIES = {
    "bleu": "sacrebleu",
    "chrf": "sacrebleu",
    "rouge-lsum": "rouge_score",
    **dict.fromkeys(["window-diff", "pk", "generalized-hamming"], "nltk"),
}
"""The libraries of the extra `text` that distances need."""


def skip_without_library(law):
    """Skip the test if the library of a distance is not installed."""
    if law.name in LIBRARIES:
        pytest.importorskip(LIBRARIES[law.name])


def needs(law):
    library = LIBRARIES.get(law.name, "arbitre")
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"needs {library}")


SEGMENTED = {"separating": ([1], [1, 2]), "triangle": ([1], [1, 2], [1, 2, 3])}
RATCLIFF = {"symmetric": ("aaba", "baaa"), "triangle": ("a", "ab", "b")}

LAWS = [
    Law("exact", ANYTHING),
    Law("indel-yujian-bo", TEXTS),
    Law("osa", TEXTS, triangle=False, witnesses={"triangle": ("CA", "AC", "ABC")}),
    Law("damerau-levenshtein", TEXTS, triangle=False),
    Law("lcs", TEXTS),
    Law("jaro", TEXTS, triangle=False),
    Law("token-set", TEXTS, separating=False, triangle=False, witnesses=SUBSETS),
    Law("jaccard-ngrams", TEXTS, separating=False),
    Law({"jaccard-ngrams": {"n": 1}}, TEXTS, separating=False, witnesses={"separating": ("ab", "ba")}),
    Law("levenshtein", TEXTS, triangle=False),
    Law("yujian-bo", TEXTS),
    Law("indel", TEXTS, triangle=False),
    Law("jaro-winkler", TEXTS, triangle=False),
    Law("ratcliff-obershelp", TEXTS, symmetric=False, triangle=False, witnesses=RATCLIFF),
    Law({"ratcliff-obershelp": {"autojunk": True}}, TEXTS, symmetric=False, triangle=False, witnesses=RATCLIFF),
    Law("token-sort", TEXTS, separating=False),
    Law({"absolute": {"scale": 10}}, NUMBERS),
    Law({"absolute": {"scale": 0.1}}, NUMBERS),
    Law({"absolute": {"scale": sys.float_info.max}}, NUMBERS),
    Law({"absolute": {"scale": 5e-324}}, NUMBERS),
    Law("relative", NUMBERS),
    Law({"log": {"scale": 1}}, LOGS),
    Law({"log": {"scale": 1e-9}}, LOGS),
    Law({"log": {"scale": sys.float_info.max}}, LOGS),
    Law({"log": {"scale": 5e-324}}, LOGS),
    Law({"rounded": {"grid": 0.5}}, GRID, separating=False),
    Law({"rounded": {"grid": 10}}, GRID, separating=False, witnesses={"separating": (0, 5)}),
    Law({"rounded": {"grid": sys.float_info.max}}, GRID, separating=False),
    Law({"tolerance": {"within": 1}}, NUMBERS, separating=False, triangle=False, witnesses={"triangle": (0, 1, 2)}),
    Law({"tolerance": {"within": 0.1}}, NUMBERS, separating=False, triangle=False),
    Law({"tolerance": {"relative": 0.5}}, NUMBERS, separating=False, triangle=False),
    Law({"tolerance": {"relative": 1e-9}}, [*NUMBERS, 1 + 0.8e-9, 1 + 1.6e-9], separating=False, triangle=False),
    Law({"tolerance": {"within": 1, "relative": 0.5}}, NUMBERS, separating=False, triangle=False),
    Law({"cycle": {"period": 12}}, CYCLE, separating=False),
    Law({"cycle": {"period": 2}}, CYCLE, separating=False),
    Law({"cycle": {"period": 7}}, CYCLE, separating=False),
    Law({"cycle": {"period": 2**53}}, CYCLE, separating=False),
    Law("date", DATES, separating=False, witnesses={"separating": ("1931-03-01T12:00Z", "1931-03-01T13:00+01:00")}),
    Law({"date": {"scale": 1e-9}}, DATES, separating=False),
    Law("duration", DURATIONS, separating=False, witnesses={"separating": ("P1Y", "P12M")}),
    Law("time", TIMES, separating=False, witnesses={"separating": ("00:00", "01:00+01:00")}),
    Law({"time": {"scale": 1e-3}}, TIMES, separating=False),
    Law("uuid", UUIDS, separating=False),
    Law(
        "iban",
        ["GB33 BUKB 2020 1555 5555 55", "gb33bukb20201555555555", "GB33BUKB20201555555556", "", "é"],
        separating=False,
    ),
    Law("isbn", ["0-306-40615-2", "ISBN 9780306406157", "0306406153", "080442957X", "1", ""], separating=False),
    Law("doi", ["https://doi.org/10.1000/ABC", "doi: 10.1000/abc", "10.1000/abd", "10.", ""], separating=False),
    Law("email", ["ada@Example.org", " ada@example.org", "Ada@example.org", "ada", "@", ""], separating=False),
    Law("uri", URIS, separating=False),
    Law({"uri": {"graded": True}}, URIS, separating=False),
    Law("jaccard", SETS, separating=False, witnesses={"separating": ([1], [1, 1])}),
    Law("span", SPANS, separating=False),
    Law({"span": {"label": "label"}}, SPANS, separating=False),
    Law({"span": {"overlap": "equal"}}, SPANS, separating=False),
    Law({"span": {"overlap": "any"}}, SPANS, separating=False, triangle=False, witnesses={"triangle": TOUCHING}),
    Law("dice", SETS, separating=False, triangle=False, witnesses={"triangle": (["a"], ["a", "b"], ["b"])}),
    Law({"taxonomy": {"parents": PARENTS}}, LABELS),
    Law({"taxonomy": {"parents": {"leaf": "root"}}}, LABELS),
    Law({"table": {"values": ORDER[:3], "costs": COSTS}}, SCALARS),
    Law({"table": {"values": ["low"], "costs": [[0]]}}, SCALARS),
    Law({"table": {"values": ORDER[:3], "costs": SKEWED}}, SCALARS, triangle=False),
    Law({"table": {"values": ORDER[:3], "costs": MERGED}}, SCALARS, separating=False),
    Law("rouge-n", PROSE, **ROUGE, witnesses={"separating": ("a b", "b a"), "triangle": ("a", "a b", "b")}),
    Law({"rouge-n": {"n": 3}}, PROSE, **ROUGE, witnesses={"triangle": ("a b c", "a b c d", "b c d")}),
    Law("rouge-1", PROSE, **ROUGE, witnesses={"triangle": ("a", "a b", "b")}),
    Law("rouge-2", PROSE, **ROUGE, witnesses={"triangle": ("a b", "a b c", "b c")}),
    Law("rouge-l", PROSE, **ROUGE, witnesses={"triangle": ("a", "a b", "b")}),
    Law("rouge-s", PROSE, **ROUGE, witnesses={"triangle": ("a a b", "a b b a", "b b a")}),
    Law({"rouge-s": {"skip": 10**9}}, PROSE, **ROUGE),
    Law("bleu", PROSE, **SCORED, witnesses={"separating": ("a b", "a  b"), "triangle": REWRITTEN}),
    Law(
        {"bleu": {"weights": [0.5, 0.5]}},
        PROSE,
        **SCORED,
        witnesses={"separating": ("a b", "a  b"), "triangle": ("a b", "a a b", "a a")},
    ),
    Law("chrf", PROSE, **SCORED, witnesses={"separating": ("a b", "ab"), "triangle": ("a", "ab", "b")}),
    Law({"chrf": {"words": 2}}, PROSE, **SCORED, witnesses={"separating": ("a b", "a  b")}),
    Law(
        "rouge-lsum",
        SUMMARIES,
        **SCORED,
        witnesses={"separating": ("a b", "a\nb"), "triangle": ("a", "a b", "b")},
    ),
    Law({"rouge-lsum": {"tokenizer": "rouge-score"}}, SUMMARIES, **SCORED, witnesses={"separating": ("é", "è")}),
    Law("window-diff", SEGMENTATIONS, **SCORED, witnesses=SEGMENTED | {"triangle": ([1], [6], [2])}),
    Law({"window-diff": {"k": 2}}, SEGMENTATIONS, **ROUGE, witnesses=SEGMENTED),
    Law("pk", SEGMENTATIONS, **SCORED, witnesses=SEGMENTED | {"triangle": ([1], [6], [2])}),
    Law({"pk": {"k": 1}}, SEGMENTATIONS, **ROUGE, witnesses=SEGMENTED),
    Law("generalized-hamming", SEGMENTATIONS, **ROUGE, witnesses=SEGMENTED),
    Law({"generalized-hamming": {"insertion": 1}}, SEGMENTATIONS, **SCORED, witnesses=SEGMENTED),
    Law({"ordinal": {"order": ORDER}}, SCALARS),
    Law({"ordinal": {"order": ["low"]}}, SCALARS),
    Law("exact", ANYTHING, floor=0.5),
    Law("yujian-bo", TEXTS, triangle=False, floor=0.5),
    Law("yujian-bo", TEXTS, floor=1),
    Law("levenshtein", TEXTS, triangle=False, floor=0.92),
    Law("jaro", TEXTS, triangle=False, floor=0.1),
    Law("token-set", TEXTS, separating=False, triangle=False, witnesses=SUBSETS, floor=0.5),
    Law("token-sort", TEXTS, separating=False, floor=1),
    Law("ratcliff-obershelp", TEXTS, symmetric=False, triangle=False, floor=0.5),
    Law("ratcliff-obershelp", TEXTS, floor=1),
    Law("relative", NUMBERS, triangle=False, floor=0.5),
    Law("relative", NUMBERS, floor=1),
    Law({"rounded": {"grid": 0.5}}, GRID, separating=False, floor=0.5),
    Law("date", DATES, separating=False, triangle=False, floor=0.8),
]
each_law = pytest.mark.parametrize(
    "law",
    [pytest.param(law, marks=needs(law)) for law in LAWS],
    ids=lambda law: f"{law.choice}"[:60] + (f" with floor {law.floor}" if law.floor else ""),
)
FACTS = ("identity", "symmetric", "separating", "triangle")


def table(distance, values):
    everything = np.arange(len(values))
    return crossed(distance.pool(values), everything, everything)


@cache
def table_of(law):
    """The distances among the values of a law."""
    return table(law.distance, law.values)


def unequal(values):
    return np.array([[not equal(x, y) for y in values] for x in values])


@cache
def unequal_in(law):
    return unequal(law.values)


def test_every_distance_of_the_catalogue_has_a_law():
    assert {law.name for law in LAWS} == set(catalogue.names)


@each_law
def test_distances_declare_the_facts_of_the_table(law):
    facts = law.distance.facts
    assert [getattr(facts, fact) for fact in FACTS] == [getattr(law, fact) for fact in FACTS]
    assert (facts.witness is None) == facts.metric or law.floor


@each_law
def test_distances_can_be_pickled(law):
    copy = pickle.loads(pickle.dumps(law.distance))  # noqa: S301
    values = law.values[:5]
    assert np.array_equal(table(copy, values), table(law.distance, values))


@each_law
def test_distances_are_within_the_range_and_0_on_equal_values(law):
    distances = table_of(law)
    least, greatest = law.distance.facts.range
    assert distances.dtype == np.float64
    assert distances.shape == (len(law.values), len(law.values))
    assert np.all((distances >= least) & (distances <= greatest))
    assert bool(np.all(distances[~unequal_in(law)] == 0)) == law.identity


@each_law
def test_symmetry_holds_exactly_where_declared(law):
    distances = table_of(law)
    assert np.array_equal(distances, distances.T) == law.symmetric


@each_law
def test_separation_holds_exactly_where_declared(law):
    distances = table_of(law)
    assert bool(np.all(distances[unequal_in(law)] > 0)) == law.separating


@each_law
def test_the_triangle_inequality_holds_where_declared(law):
    distances = table_of(law)
    detour = np.full_like(distances, np.inf)
    for middle in range(len(distances)):
        np.minimum(detour, distances[:, [middle]] + distances[middle], out=detour)
    assert bool(np.all(distances <= detour + ROUNDING)) == law.triangle


@each_law
def test_bounds_are_never_above_the_distance(law):
    """To the last bit, for one table, and for the blocks of several."""
    pool, size = law.distance.pool(law.values), len(law.values)
    distances, everything = table_of(law), np.arange(size)
    whole = pool.lower_bounds_blockwise(Blocks(np.array([0, size]), np.array([0, size])), everything, everything)
    assert whole.dtype == np.float64
    assert np.all((whole >= 0) & (whole <= distances.ravel()))
    cuts = np.array([0, size // 3, size // 3, size])
    blocks = Blocks(cuts, size - cuts[::-1])
    cells = pool.lower_bounds_blockwise(blocks, everything[::-1], everything)
    assert np.all(cells <= distances[everything[::-1][blocks.rows], blocks.columns])


@each_law
def test_bounds_of_plain_values_are_the_distance(law):
    """To the last bit, where blocks cross no others."""
    pool = law.distance.pool(law.values)
    plain = np.arange(len(law.values)) if pool.exactly_bounded is None else pool.exactly_bounded.nonzero()[0]
    starts = np.array([0, len(plain)])
    cells = pool.lower_bounds_blockwise(Blocks(starts, starts), plain, plain)
    assert np.array_equal(cells.reshape(len(plain), len(plain)), table_of(law)[np.ix_(plain, plain)])


@each_law
def test_pairwise_lower_bounds_hold_and_are_exact_where_flagged(law):
    pool, size = law.distance.pool(law.values), len(law.values)
    distances = table_of(law).ravel()
    rows, columns = np.divmod(np.arange(size * size), size)
    glimpse, exact = pool.lower_bounds_pairwise(rows, columns)
    exact = np.ones(size * size, dtype=bool) if exact is None else exact
    assert np.all((glimpse >= 0) & (glimpse <= distances))
    assert np.array_equal(glimpse[exact], distances[exact])
    for cell in range(0, size * size, 97):
        alone, known = pool.lower_bounds_pairwise(rows[[cell]], columns[[cell]])
        assert (alone[0], known is None or known[0]) == (glimpse[cell], exact[cell])


def violates(distance, fact, witness):
    if fact == "identity":
        (x,) = witness
        return distance(x, x) > ROUNDING
    if fact == "symmetric":
        x, y, *_ = witness
        return abs(distance(x, y) - distance(y, x)) > ROUNDING
    if fact == "separating":
        x, y, *_ = witness
        return not equal(x, y) and distance(x, y) == 0
    x, y, z = witness
    return distance(x, z) > distance(x, y) + distance(y, z) + ROUNDING


@each_law
def test_witnesses_violate_the_facts_that_are_denied(law):
    facts = law.distance.facts
    denied = [fact for fact in FACTS if not getattr(facts, fact)]
    if denied and facts.witness:
        assert violates(law.distance, denied[0], facts.witness)
    for fact, witness in law.witnesses.items():
        assert fact in denied
        assert violates(law.distance, fact, witness)


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=12) | st.text("ab é", max_size=70)
ANY_NUMBER = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(2**53 - 2, 2**53 + 2)
    | st.integers(-(10**320), 10**320)
)
ANY_DATE = (
    st.dates().map(str)
    | st.dates().map(lambda day: str(day)[:7])
    | st.dates().map(lambda day: str(day)[:4])
    | st.datetimes(timezones=st.none() | st.timezones()).map(lambda moment: moment.isoformat())
)
OF_FORMAT = {
    "date": ANY_DATE,
    "duration": st.builds(
        "{}P{}DT{}H{}S".format,
        st.sampled_from(["", "-"]),
        *[st.integers(0, 10**6)] * 2,
        st.floats(0, 100).map("{:.6f}".format),
    ),
    "time": st.times(timezones=st.none() | st.timezones()).map(lambda moment: moment.isoformat()),
    "uuid": st.uuids().map(str),
    "uri": st.from_regex(r"(?i)\A[a-z]+:(//[a-z.]+(:[0-9]{1,5})?)?(/[a-z.%0-9]*){0,4}(\?[a-z=%0-9]*)?\Z"),
}
ANY_SCALAR = st.none() | st.booleans() | ANY_NUMBER | ANY_TEXT
ANY_ARRAY = st.lists(ANY_SCALAR | st.integers(0, 3), max_size=6)


FEW = settings(max_examples=settings().max_examples // 4)
"""Fewer examples for each law, because the laws of a family share their code."""


@cache  # building a strategy takes longer than drawing from it
def values_for(law):
    distance = law.distance
    if distance.name in OF_FORMAT:
        return OF_FORMAT[distance.name] | st.sampled_from(law.values) | ANY_TEXT
    by_kind = {
        Kind.NULL: st.none(),
        Kind.BOOLEAN: st.booleans(),
        Kind.NUMBER: ANY_NUMBER,
        Kind.STRING: ANY_TEXT,
        Kind.ARRAY: ANY_ARRAY,
        Kind.OBJECT: st.dictionaries(ANY_TEXT, ANY_SCALAR, max_size=3),
    }
    return st.one_of(st.sampled_from(law.values), *(by_kind[kind] for kind in sorted(distance.kinds)))


@each_law
@FEW
@given(data=st.data())
def test_pairwise_and_crossed_distances_are_identical(law, data):
    values = data.draw(st.lists(values_for(law), max_size=6))
    pool = law.distance.pool(values)
    everything = np.arange(len(values))
    rows, columns = np.repeat(everything, len(values)), np.tile(everything, len(values))
    distances = crossed(pool, everything, everything)
    assert distances.dtype == np.float64
    assert distances.shape == (len(values), len(values))
    assert np.all((distances >= 0) & (distances <= 1))
    assert np.array_equal(pool.distances(rows, columns), distances.ravel())


@each_law
@FEW
@given(data=st.data(), floor=st.floats(0, 1, exclude_min=True))
def test_a_floor_makes_a_quality_below_it_0_and_keeps_every_other(law, data, floor):
    values = data.draw(st.lists(values_for(law), min_size=2, max_size=4))
    base, floored = (table(distance, values) for distance in (law.distance, with_floor(law.distance, floor)))
    below = base > 0 if floor == 1 else 1 - base < floor - ROUNDING
    assert np.array_equal(floored, np.where(below, 1.0, base))
    reached = 1 - base
    for quality in reached[(reached > 0) & (reached < 1)][:4]:  # equal to the floor, it counts
        assert table(with_floor(law.distance, float(quality)), values)[reached == quality] == pytest.approx(1 - quality)


@each_law
@FEW
@given(data=st.data())
def test_a_distance_depends_on_its_two_values_alone(law, data):
    values = data.draw(st.lists(values_for(law), min_size=1, max_size=6))
    order = np.array(data.draw(st.permutations(range(len(values)))))
    distances = table(law.distance, values)
    shuffled = table(law.distance, [values[index] for index in order])
    assert np.array_equal(shuffled, distances[np.ix_(order, order)])
    i = data.draw(st.integers(0, len(values) - 1))
    j = data.draw(st.integers(0, len(values) - 1))
    assert law.distance(values[i], values[j]) == distances[i, j]
    assert (law.distance(values[i], values[i]) == 0) or not law.identity


@each_law
@FEW
@given(data=st.data())
def test_declared_facts_hold_on_generated_values(law, data):
    values = data.draw(st.lists(values_for(law), min_size=3, max_size=3))
    distances = table(law.distance, values)
    bounds = law.distance.pool(values).lower_bounds_blockwise(
        Blocks(np.array([0, 3]), np.array([0, 3])), np.arange(3), np.arange(3)
    )
    assert np.all((bounds >= 0) & (bounds <= distances.ravel()))
    facts = law.distance.facts
    assert not facts.symmetric or np.array_equal(distances, distances.T)
    assert not facts.separating or np.all(distances[unequal(values)] > 0)
    if facts.triangle:
        assert np.all(distances <= np.min(distances[:, :, None] + distances[None, :, :], axis=1) + ROUNDING)


@given(ANY_NUMBER, ANY_NUMBER, st.floats(2**-52, 1, exclude_max=True), st.floats(1e-300, 1e300) | st.none())
def test_a_relative_tolerance_is_a_share_of_the_larger_magnitude(a, b, relative, within):
    options = {"relative": relative} | ({} if within is None else {"within": within})
    distance = catalogue.build({"tolerance": options})
    x, y, share, least = (Fraction(n if n == int(n) else repr(n)) for n in (a, b, relative, within or 0))
    expected = abs(x - y) <= max(share * max(abs(x), abs(y)), least)
    assert distance(a, b) == distance(b, a) == float(not expected)


@given(st.integers(-3000, 3000), st.integers(0, 3), st.integers(1, 300))
def test_a_tolerance_compares_decimals_as_they_are_written(cents, more, within):
    distance = catalogue.build({"tolerance": {"within": within / 100}})
    assert distance(cents / 100, (cents + within) / 100) == 0
    assert distance(cents / 100, (cents + within + more) / 100) == float(more > 0)


def test_contradictory_facts_are_refused():
    assert Facts(identity=False, range=(0.2, 0.9)).range == (0.2, 0.9)
    for wrong in ((0, 2), (-1, 1), (0.9, 0.2), (float("nan"), 1)):
        with pytest.raises(SchemaError, match="Expected `range` to be two numbers within"):
            Facts(identity=False, range=wrong)
    with pytest.raises(SchemaError, match="Expected `range` to start at 0 if `identity` holds"):
        Facts(range=(0.1, 1))


@pytest.mark.parametrize("fact", ["identity", "symmetric", "triangle"])
def test_a_metric_needs_identity_symmetry_triangle_and_separation(fact):
    assert Facts().metric
    assert Facts(separating=False).pseudometric
    assert not Facts(separating=False).metric
    assert not Facts(**{fact: False}).pseudometric
    assert not Facts(**{fact: False}).metric
