"""Advice on the labels of training and test data: what to add, balance or merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from arbitre.errors import DataError, OptionError, check_integer
from arbitre.language import Translator, percentage
from arbitre.options import formerly
from arbitre.paths import parse, values_at
from arbitre.tables.table import SHARE, Table, TableColumn, columns
from arbitre.tables.table import count as whole
from arbitre.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.classification import Confusion
    from arbitre.values import Json

Labels = Mapping[str, int] | Iterable[str]
"""Labels of examples, or the number of examples of each label."""

RESAMPLES: Final = 9_999
"""Number of random permutations, if a class is too rare for the chi-square distribution."""
LEAST_EXPECTED: Final = 5
"""Minimum expected count of every class for which the chi-square distribution is used (Cochran, 1954)."""


@formerly(alpha="significance")
@dataclass(frozen=True)
class Thresholds:
    """The thresholds at which `advise` reports a finding.

    Raises:
        OptionError: A threshold is out of range.
    """

    # from arbitre.options: Thresholds
    min_examples: int = 15
    """Minimum number of training examples of a class."""
    imbalance: float = 10.0
    """Report a class as rare if the largest class is larger by more than this factor."""
    significance: float = 0.05
    """Report that training and test data differ if p is below this significance level."""
    confused: float = 0.1
    """Report two classes as confused if at least this share of their gold values is predicted as the other class."""
    min_confused: int = 2
    """Report two classes as confused only if at least this many of their gold values are predicted as the other
    class."""
    # end of the options

    def __post_init__(self) -> None:
        for name, valid, expected in (
            ("min_examples", self.min_examples >= 0, "at least 0"),
            ("imbalance", self.imbalance >= 1, "at least 1"),
            ("significance", 0 < self.significance < 1, "between 0 and 1"),
            ("confused", 0 < self.confused <= 1, "above 0 and at most 1"),
            ("min_confused", self.min_confused >= 1, "at least 1"),
        ):
            if not valid:
                raise OptionError.of(f"Expected `{name}` to be {expected}, got {getattr(self, name)}")


class AdviceCheck(NamedTuple):
    """A kind of finding.

    Attributes:
        reported: When it is reported.
        thresholds: The names of the thresholds that it depends on.
    """

    reported: str
    thresholds: tuple[str, ...] = ()


CHECKS: Final[Mapping[str, AdviceCheck]] = {
    "few-examples": AdviceCheck("a class has fewer training examples than `min_examples`", ("min_examples",)),
    "absent-from-test": AdviceCheck("a class of the training data does not occur in the test data"),
    "imbalance": AdviceCheck(
        "the largest class has more than `imbalance` times as many examples as another class", ("imbalance",)
    ),
    "different-distribution": AdviceCheck(
        "the p-value of the difference between training and test data is below `significance`", ("significance",)
    ),
    "often-confused": AdviceCheck(
        "at least `min_confused` gold values of two classes, and at least the share `confused` of them, are predicted "
        "as the other class",
        ("confused", "min_confused"),
    ),
}
"""The kinds of findings by name, in the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class AdviceFinding:
    """One issue in the training or test data, with a recommended action.

    Attributes:
        check: A key of `CHECKS`.
        labels: The classes concerned.
        numbers: The numbers that the finding is based on, by name.
        message: Description of the finding.
        action: Recommended action.
    """

    check: str
    labels: tuple[str, ...]
    numbers: Mapping[str, float]
    message: str
    action: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {
            "check": self.check,
            "labels": list(self.labels),
            "numbers": dict(self.numbers),
            "message": self.message,
            "action": self.action,
        }


@dataclass(frozen=True, slots=True)
class DistributionTest:
    """A test of whether training and test data have the same class distribution.

    Attributes:
        statistic: Pearson's chi-square statistic.
        degrees: Degrees of freedom: the number of classes minus 1.
        p: Probability of a statistic at least as large if both are random samples of the same data.
        method: "chi-square", or "permutation" if a class has an expected count below 5.
        difference: Total variation distance of the two distributions, in [0, 1]: the share of test examples that would
            have to change class.
    """

    statistic: float
    degrees: int
    p: float
    method: str
    difference: float

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on training and test data, as returned by `advise`.

    Attributes:
        training: Number of training examples by class.
        test: Number of test examples by class; None if no test data were given.
        distribution: Test of the difference between training and test data; None if it is undefined.
        findings: The findings, in the order of the checks.
        thresholds: The thresholds that were applied.
    """

    training: Mapping[str, int]
    test: Mapping[str, int] | None
    distribution: DistributionTest | None
    findings: tuple[AdviceFinding, ...]
    thresholds: Thresholds = field(default_factory=Thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as JSON."""
        return {
            "training": dict(self.training),
            "test": None if self.test is None else dict(self.test),
            "distribution": None if self.distribution is None else self.distribution.to_dict(),
            "thresholds": asdict(self.thresholds),
            "findings": [finding.to_dict() for finding in self.findings],
        }


def advise(
    training: Labels,
    test: Labels | None = None,
    *,
    confusion: Confusion | Iterable[tuple[Json, Json]] = (),
    thresholds: Thresholds | None = None,
    seed: int = 0,
) -> Advice:
    """Check the class distribution of training and test data, as `arbitre advise` does, and recommend improvements.

    Args:
        training: Labels of the training examples, or the number of examples by label.
        test: The same for the test data; None to check the training data only.
        confusion: Pairs of gold and predicted labels, or a confusion matrix such as
            `comparison.classification(path).confusion`. Pairs without a label on one side do not count as confused.
        thresholds: Thresholds at which findings are reported.
        seed: Random seed of the permutation test.

    Returns:
        The number of examples of each class, the test of the class distributions, and the findings.

    Raises:
        DataError: There are no labels, or a label is not a text.

    >>> advice = advise({"person": 120, "city": 9}, {"person": 30})
    >>> [(finding.check, finding.labels) for finding in advice.findings]
    [('few-examples', ('city',)), ('absent-from-test', ('city',)), ('imbalance', ('city',))]
    """
    limits = thresholds or Thresholds()
    counts, tested = _counts(training, "training"), None if test is None else _counts(test, "test")
    matrix = _pair_counts(confusion)
    classes = sorted({*counts, *(tested or {}), *(label for label, _ in matrix)})
    sides = {"training": counts} | ({} if tested is None else {"test": tested})
    distribution = None if tested is None else compare_distributions(counts, tested, seed=seed)
    findings = [
        *_few_examples(classes, counts, limits),
        *(() if tested is None else _absent(counts, tested)),
        *(finding for name, side in sides.items() for finding in _imbalance(name, side, limits)),
        *_different(counts, tested or {}, distribution, limits),
        *_confused(matrix, limits),
    ]
    return Advice(counts, tested, distribution, tuple(findings), limits)


def labels_at(document: Json, path: str) -> list[str]:
    """Return the labels at a wildcard path of a document, in document order; null and absent values are left out.

    Raises:
        DataError: The path is invalid, or a value is not a text.

    >>> labels_at({"people": [{"role": "mayor"}, {}, {"role": "clerk"}]}, "/people/*/role")
    ['mayor', 'clerk']
    """
    try:
        tokens = parse(path)
    except ValueError as error:
        raise DataError.of(str(error), hint=f'Did you mean "/{path}"?') from error
    labels = [value for _, value in values_at(document, tokens) if value is not None]
    for label in labels:
        if not isinstance(label, str):
            raise DataError.of(
                f"Expected labels to be texts, got a value of kind {kind_of(label).json_type}", pointer=path
            )
    return cast("list[str]", labels)


def compare_distributions(
    training: Mapping[str, int], test: Mapping[str, int], *, seed: int = 0
) -> DistributionTest | None:
    """Test whether training and test data have the same distribution of classes.

    Applies Pearson's test of homogeneity. p is computed from the chi-square distribution, or from `RESAMPLES` random
    permutations of the labels if a class has an expected count below 5.

    Args:
        training: Number of examples by class.
        test: Number of examples by class.
        seed: Random seed of the permutations.

    Returns:
        The test; None if there is only one class, or one side has no examples.
    """
    from scipy.stats import chi2_contingency  # noqa: PLC0415  (loads slowly)

    check_integer("seed", seed)
    classes = sorted({*training, *test})
    table = np.array([[side.get(label, 0) for label in classes] for side in (training, test)], dtype=np.int64)
    table = table[:, table.sum(axis=0) > 0]
    sizes = table.sum(axis=1)
    if table.shape[1] < 2 or sizes.min() == 0:  # noqa: PLR2004
        return None
    found = chi2_contingency(table, correction=False)
    method, p = "chi-square", float(found.pvalue)
    expected = found.expected_freq
    if expected.min() < LEAST_EXPECTED:
        tests = np.random.default_rng(seed).multivariate_hypergeometric(table.sum(axis=0), int(sizes[1]), RESAMPLES)
        statistics = (tests - expected[1]) ** 2 @ (1 / expected).sum(axis=0)
        larger = np.count_nonzero(statistics >= found.statistic * (1 - 1e-12))
        method, p = "permutation", float((1 + larger) / (1 + RESAMPLES))
    shares = table / sizes[:, None]
    difference = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return DistributionTest(float(found.statistic), int(found.dof), p, method, difference)


def _counts(labels: Labels, side: str) -> dict[str, int]:
    counts = dict(labels) if isinstance(labels, Mapping) else Counter([labels] if isinstance(labels, str) else labels)
    for label, count in counts.items():
        if not isinstance(label, str) or isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise DataError.of(
                f"Expected texts as labels of the {side} data, with numbers of at least 0, got {label!r}"
            )
    if not any(counts.values()):
        raise DataError.of(f"Expected labels of the {side} data, got none")
    return {label: counts[label] for label in sorted(counts)}


def _pair_counts(confusion: Confusion | Iterable[tuple[Json, Json]]) -> Counter[tuple[str, str | None]]:
    """Return the number of values by gold and predicted label. The label of a missing prediction is None."""
    if isinstance(confusion, Iterable):
        cells = [(gold, predicted, 1) for gold, predicted in confusion]
    else:
        rows = zip(confusion.labels, confusion.matrix, strict=True)
        cells = [(gold, *cell) for gold, row in rows for cell in zip(confusion.labels, row, strict=True)]
    counts = Counter[tuple[str, str | None]]()
    for gold, predicted, count in cells:
        if isinstance(gold, str) and count:
            counts[gold, predicted if isinstance(predicted, str) else None] += int(count)
    return counts


def _few_examples(classes: Sequence[str], counts: Mapping[str, int], limits: Thresholds) -> Iterator[AdviceFinding]:
    for label in classes:
        count = counts.get(label, 0)
        if count < limits.min_examples:
            noun = "example" if count == 1 else "examples"
            yield AdviceFinding(
                "few-examples",
                (label,),
                {"training": count, "min_examples": limits.min_examples},
                f"{label} has {count} training {noun}, fewer than {limits.min_examples}",
                f"Add at least {limits.min_examples - count} training examples of {label}.",
            )


def _absent(counts: Mapping[str, int], tested: Mapping[str, int]) -> Iterator[AdviceFinding]:
    for label, count in counts.items():
        if count and not tested.get(label):
            yield AdviceFinding(
                "absent-from-test",
                (label,),
                {"training": count, "test": 0},
                f"{label} does not occur in the test data",
                f"Add test examples of {label}: its scores are unknown.",
            )


def _imbalance(side: str, counts: Mapping[str, int], limits: Thresholds) -> Iterator[AdviceFinding]:
    largest = max(counts, key=lambda label: counts[label])
    for label, count in counts.items():
        if 0 < count * limits.imbalance < counts[largest]:
            ratio = counts[largest] / count
            yield AdviceFinding(
                "imbalance",
                (label,),
                {side: count, "largest": counts[largest], "ratio": ratio},
                f"{label} has {count} {side} examples, {largest} has {counts[largest]}: {ratio:.1f} times as many",
                f"Add {side} examples of {label}, or sample fewer of {largest}.",
            )


def _different(
    counts: Mapping[str, int], tested: Mapping[str, int], distribution: DistributionTest | None, limits: Thresholds
) -> Iterator[AdviceFinding]:
    if distribution is None or distribution.p >= limits.significance:
        return
    sizes = sum(counts.values()), sum(tested.values())
    shares = {
        label: (counts.get(label, 0) / sizes[0], tested.get(label, 0) / sizes[1])
        for label in sorted({*counts, *tested})
    }
    label = max(shares, key=lambda name: abs(shares[name][0] - shares[name][1]))
    training, test = shares[label]
    yield AdviceFinding(
        "different-distribution",
        (label,),
        {
            "p": distribution.p,
            "statistic": distribution.statistic,
            "difference": distribution.difference,
            "training": training,
            "test": test,
        },
        f"The classes of training and test data are distributed differently (p = {distribution.p:.2g}, "
        f"{distribution.method}); "
        f"{label} differs most: {percentage(training, 1)} of the training data, {percentage(test, 1)} of the test data",
        "Draw training and test data from the same source, or split them again at random within each class.",
    )


def _confused(matrix: Mapping[tuple[str, str | None], int], limits: Thresholds) -> Iterator[AdviceFinding]:
    support = Counter[str]()
    mixed = Counter[tuple[str, str]]()
    for (gold, predicted), count in matrix.items():
        support[gold] += count
        if predicted is not None and predicted != gold:
            mixed[min(gold, predicted), max(gold, predicted)] += count
    shares = {pair: count / (support[pair[0]] + support[pair[1]]) for pair, count in mixed.items()}
    for pair in sorted(shares, key=lambda pair: (-shares[pair], pair)):
        (first, second), count, share = pair, mixed[pair], shares[pair]
        if count < limits.min_confused or share < limits.confused:
            continue
        whole = support[first] + support[second]
        ways = {"first_as_second": matrix.get(pair, 0), "second_as_first": matrix.get((second, first), 0)}
        yield AdviceFinding(
            "often-confused",
            pair,
            {"confused": count, "gold": whole, "share": share} | ways,
            f"{first} and {second} are confused in {count} of {whole} cases ({percentage(share, 1)})",
            f"Merge {first} and {second} if they mean the same; otherwise add examples that tell them apart.",
        )


def shares_table(advice: Advice) -> Table:
    """Return the number and share of the examples of each class, in training and test data."""
    sides = {"training": advice.training} | ({} if advice.test is None else {"test": advice.test})
    heads = (
        TableColumn("class"),
        *(
            column
            for side in sides
            for column in (TableColumn(side, whole), TableColumn("share", SHARE, f"{side}_share"))
        ),
    )
    rows = []
    for label in sorted({*advice.training, *(advice.test or {})}):
        counts = [(side.get(label, 0), side.get(label, 0) / sum(side.values())) for side in sides.values()]
        rows.append((label, *(cell for pair in counts for cell in pair)))
    return Table.of("", heads, rows)


def findings_table(advice: Advice) -> Table:
    """Return the findings with the recommended actions."""
    rows = [(finding.check, finding.message, finding.action) for finding in advice.findings]
    return Table.of("Advice", columns("check", "finding", "action", said=Translator.text), rows)
