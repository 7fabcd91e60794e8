"""Agreement on categories beyond chance: S, pi, Cohen's and Fleiss' kappa, Gwet's AC1 and AC2, Aickin's alpha.

The observed agreement is that of the items that at least two annotators rated. If ratings are missing, the shares of
the categories, from which the agreement expected by chance is computed, are those of all rated items (Gwet, 2014);
Cohen's kappa and Aickin's alpha leave out the items of one annotator. For surveys, see (Artstein and Poesio, 2008;
Gwet, 2014). All but Aickin's alpha are computed from `RatingSums`, which also gives them on resamples of documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.agreement.coefficient import TOLERANCE, Coefficient
from arbitre.agreement.ratings import MISSING, Ratings, facts
from arbitre.arrays import exact_dot, weighted_sums
from arbitre.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats, Indices
    from arbitre.values import Json


Weights: TypeAlias = Literal["linear", "quadratic"]
"""How disagreement grows with the distance between the positions of two categories."""

ROUNDS: Final = 10_000
"""Maximum number of iterations of Aickin's alpha."""


def observed(a: Sequence[Json], b: Sequence[Json]) -> Coefficient:
    """Compute the share of items to which two annotators gave the same category. It has no chance model.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.

    Returns:
        The coefficient. Its value is in [0, 1]; None if no item was rated by two annotators.

    Raises:
        DataError: The sequences differ in length.

    >>> observed("AAAB", "AABB").value
    0.75
    """
    ratings = Ratings.of([a, b]).with_at_least(2)
    share = _number(RatingSums.of(ratings).observed)
    reason = "No item was rated by two annotators." if share is None else None
    return Coefficient("observed", share, share, None, "none", reason, **facts(ratings))


def bennett_s(a: Sequence[Json], b: Sequence[Json], categories: int | Sequence[Json] | None = None) -> Coefficient:
    """Compute Bennett's S (Bennett, Alpert and Goldstein, 1954), also known as the Brennan-Prediger coefficient.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.
        categories: The number of categories that the annotators could choose from, or the categories. The default is
            those that occur. This overestimates chance agreement if the annotators did not use all categories.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length, or more categories occur than `categories`.

    >>> round(bennett_s("AAAAAB", "ABBBBB", categories=4).value, 4)
    0.1111
    """
    named = None if categories is None or isinstance(categories, int) else list(categories)
    ratings = Ratings.of([a, b], named)
    size = categories if isinstance(categories, int) else len(ratings.categories)
    if size < len(ratings.categories):
        raise DataError.of(f"Expected at most {size} categories, got {len(ratings.categories)}")
    return bennett_of(ratings, size)


def scott_pi(a: Sequence[Json], b: Sequence[Json]) -> Coefficient:
    """Compute Scott's pi (Scott, 1955). Its chance model draws both ratings from the pooled ratings.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length.

    >>> round(scott_pi("AAAAAB", "ABBBBB").value, 4)
    -0.3333
    """
    return pi_of(Ratings.of([a, b]))


def fleiss_kappa(data: Sequence[Sequence[Json]]) -> Coefficient:
    """Compute Fleiss' kappa (Fleiss, 1971), which generalises Scott's pi, not Cohen's kappa, to several annotators.

    Args:
        data: One sequence of categories per annotator; None if missing. All items count the same, however many
            annotators rated them (Gwet, 2014).

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length, or there are fewer than two.

    >>> round(fleiss_kappa(["AAB", "ABB", "AAB"]).value, 4)
    0.55
    """
    return pi_of(Ratings.of(data), "fleiss_kappa")


def cohen_kappa(
    a: Sequence[Json], b: Sequence[Json], weights: Weights | None = None, *, categories: Sequence[Json] | None = None
) -> Coefficient:
    """Compute Cohen's kappa (Cohen, 1960), or weighted kappa (Cohen, 1968).

    The chance model draws the ratings of each annotator from that annotator's own ratings. If the annotators prefer
    different categories, kappa is higher than Scott's pi: compare it with `scott_pi`, and look at the margins.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.
        weights: None counts exact agreement; "linear" and "quadratic" also count close categories, by the distance
            between their positions.
        categories: The categories in order; by default those that occur, sorted.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length, or `weights` is set and the categories have no order.
        OptionError: `weights` is unknown.

    >>> round(cohen_kappa("AAAAAB", "ABBBBB").value, 4)
    0.0769
    """
    return kappa_of(Ratings.of([a, b], categories), weights, ordered=categories is not None)


def conger_kappa(
    data: Sequence[Sequence[Json]], weights: Weights | None = None, *, categories: Sequence[Json] | None = None
) -> Coefficient:
    """Compute Conger's kappa (Conger, 1980), which generalises Cohen's kappa to several annotators.

    Chance agreement is the mean over pairs of annotators, from all ratings of each (Gwet, 2014). Compare it with
    `fleiss_kappa`, which pools the ratings.

    Args:
        data: One sequence of categories per annotator; None if missing.
        weights: See `cohen_kappa`.
        categories: The categories in order; by default those that occur, sorted.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length, there are fewer than two, or `weights` is set and the categories
            have no order.
        OptionError: `weights` is unknown.

    >>> round(conger_kappa(["AAB", "ABB", "AAB"]).value, 4)
    0.5714
    """
    return kappa_of(Ratings.of(data, categories), weights, ordered=categories is not None, name="conger_kappa")


def gwet_ac1(a: Sequence[Json], b: Sequence[Json], *, categories: Sequence[Json] | None = None) -> Coefficient:
    """Compute Gwet's AC1 (Gwet, 2008). `gwet_ac2` accepts several annotators and ordered categories.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.
        categories: The categories that the annotators could choose from; by default those that occur.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length.

    >>> round(gwet_ac1("ACCCCB", "ADDDDB").value, 4)
    0.122
    """
    return gwet_of(Ratings.of([a, b], categories))


def gwet_ac2(
    data: Sequence[Sequence[Json]],
    weights: Weights | None = "quadratic",
    *,
    categories: Sequence[Json] | None = None,
) -> Coefficient:
    """Compute Gwet's AC2 (Gwet, 2014): AC1 for several annotators and ordered categories.

    Args:
        data: One sequence of categories per annotator; None if missing.
        weights: "linear" or "quadratic", by the distance between the positions of two categories; None for AC1.
        categories: The categories in order; by default those that occur, sorted.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length, there are fewer than two, or the categories have no order.
        OptionError: `weights` is unknown.
    """
    return gwet_of(Ratings.of(data, categories), weights, ordered=categories is not None)


def aickin_alpha(a: Sequence[Json], b: Sequence[Json]) -> Coefficient:
    """Compute Aickin's alpha (Aickin, 1990): the estimated share of items on which two annotators agree for a reason.

    The annotators rate all other items by chance, each with their own probabilities. These and alpha are estimated
    together, by iteration. The estimate of alpha is at least 0.

    Args:
        a: Category of each item by the first annotator; None if missing.
        b: Category of each item by the second annotator.

    Returns:
        The coefficient. Its value is at most 1; None if it is undefined.

    Raises:
        DataError: The sequences differ in length.
    """
    ratings = Ratings.of([a, b]).with_at_least(2)
    share, expected = _number(RatingSums.of(ratings).observed), None
    if share is not None:
        hard = margins = ratings.margins()
        expected, value = exact_dot(hard[0], hard[1]), 0.0
        for _ in range(ROUNDS):
            if not TOLERANCE < expected < 1.0 - TOLERANCE:
                break
            previous, value = value, max(0.0, (share - expected) / (1.0 - expected))
            if value > 1.0 - TOLERANCE:
                break
            hard = margins / ((1.0 - value) + value * hard[::-1] / expected)
            hard = hard / hard.sum(axis=1, keepdims=True)
            expected = exact_dot(hard[0], hard[1])
            if abs(value - previous) < TOLERANCE:
                break
    reached = None if share is None or expected is None else max(share, expected)
    name, model = "aickin_alpha", "each annotator's own ratings of hard items"
    return replace(_corrected(name, ratings, reached, expected, model), observed=share)


def bennett_of(ratings: Ratings, categories: int, weights: Weights | None = None) -> Coefficient:
    """Compute Bennett's S of encoded ratings; see `bennett_s`."""
    model = f"uniform over {categories} categories"
    chance: Callable[[RatingSums], Floats] = lambda sums: sums.by_equal_probabilities(categories)  # noqa: E731
    return _measured("s", ratings, chance, model, weights, ordered=True)


def pi_of(ratings: Ratings, name: str = "pi", weights: Weights | None = None) -> Coefficient:
    """Compute Scott's pi, or Fleiss' kappa, of encoded ratings; for `weights`, see `cohen_kappa`."""
    model = "pooled ratings, with replacement"
    return _measured(name, ratings, RatingSums.by_pooled_ratings, model, weights, ordered=True)


def kappa_of(
    ratings: Ratings, weights: Weights | None = None, *, ordered: bool = False, name: str = "kappa"
) -> Coefficient:
    """Compute Cohen's or Conger's kappa of encoded ratings; `ordered` states that the order of categories is given."""
    model = "each annotator's own ratings, with replacement"
    rated = ratings if name == "conger_kappa" else ratings.with_at_least(2)
    return _measured(name, rated, RatingSums.by_own_ratings, model, weights, ordered=ordered)


def gwet_of(ratings: Ratings, weights: Weights | None = None, *, ordered: bool = False) -> Coefficient:
    """Compute Gwet's AC1 or AC2 of encoded ratings; `ordered` states that the order of categories is given."""
    model = "random ratings of items that are hard to rate"
    name = "ac1" if weights is None else "ac2"
    return _measured(name, ratings, RatingSums.by_hard_items, model, weights, ordered=ordered)


def _measured(
    name: str,
    ratings: Ratings,
    chance: Callable[[RatingSums], Floats],
    model: str,
    weights: Weights | None = None,
    *,
    ordered: bool = False,
) -> Coefficient:
    """Return the coefficient of ratings.

    Args:
        name: Name of the coefficient.
        ratings: The ratings.
        chance: Returns the agreement expected by chance: one of the methods `by_...` of `RatingSums`.
        model: Description of the chance model.
        weights: See `cohen_kappa`.
        ordered: Whether the order of the categories was given.
    """
    ratings = ratings.with_at_least(1)
    sums = RatingSums.of(ratings, agreement_of(ratings, weights, ordered=ordered))
    share = _number(sums.observed)
    expected = None if share is None else _number(chance(sums))
    return _corrected(name if weights is None else f"{name}_{weights}", ratings, share, expected, model)


def _number(value: Floats) -> float | None:
    """Return the only element; None if it is NaN."""
    return None if np.isnan(value[0]) else float(value[0])


def agreement_of(ratings: Ratings, weights: str | None, *, ordered: bool) -> Floats | None:
    """Return the agreement of two categories, in [0, 1]; shape (categories, categories). None for exact agreement."""
    if weights is None:
        return None
    if weights not in get_args(Weights):
        hint = did_you_mean(weights, get_args(Weights))
        raise OptionError.of(f"Unknown weights {weights!r}", hint=hint)
    if not ordered and not ratings.ordered:
        raise DataError.of(
            "Weighted agreement needs ordered categories: all numbers, or all texts",
            hint="Pass `categories` in order.",
        )
    size = len(ratings.categories)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / max(1, size - 1)
    table: Floats = 1.0 - (distance if weights == "linear" else distance * distance)
    return table


def _corrected(name: str, ratings: Ratings, share: float | None, expected: float | None, model: str) -> Coefficient:
    """Return the coefficient of an observed and an expected agreement, with the facts about the ratings."""
    return Coefficient.corrected(share, expected, name=name, chance_model=model, **facts(ratings))


@dataclass(frozen=True, eq=False, slots=True)
class RatingSums:
    """Sums over rated items, per group of items: a document or a resample.

    The observed agreement depends on the items that at least two annotators rated, the shares of the categories on all
    rated items (Gwet, 2014).

    Attributes:
        items: Number of items that at least two annotators rated; shape (groups,).
        rated: Number of rated items; shape (groups,).
        agreed: Sum over the items of at least two annotators of the mean agreement of two; shape (groups,).
        shares: Sum over rated items of the share of each category; shape (groups, categories).
        counts: Number of ratings of each annotator and category; shape (groups, annotators, categories).
        agreement: Agreement of two categories, in [0, 1]; shape (categories, categories). None for exact agreement.
    """

    items: Floats
    rated: Floats
    agreed: Floats
    shares: Floats
    counts: Floats
    agreement: Floats | None

    @classmethod
    def of(
        cls, ratings: Ratings, agreement: Floats | None = None, *, group: Indices | None = None, groups: int = 1
    ) -> RatingSums:
        """Sum the ratings of each group.

        Args:
            ratings: Items that at least one annotator rated.
            agreement: See `RatingSums`.
            group: Group of each item; by default, all items are in one group.
            groups: Number of groups.
        """
        annotators, number = ratings.codes.shape
        size = len(ratings.categories)
        group = np.zeros(number, dtype=np.intp) if group is None else group
        raters = ratings.rated.sum(axis=0)  # of each item
        sums = np.zeros(number)  # over the pairs of ratings of each item
        for items, first, second in ratings.pairs():
            sums[items] += first == second if agreement is None else agreement[first, second]
        several = raters > 1
        agreed = np.zeros(number)
        agreed[several] = 2.0 * sums[several] / (raters[several] * (raters[several] - 1.0))
        counts, shares = np.zeros((groups, annotators, size)), np.zeros((groups, size))
        for annotator, codes in enumerate(ratings.codes):
            rated = codes != MISSING
            cells = group[rated] * size + codes[rated]  # cells of a table of groups and categories
            counts[:, annotator] = np.bincount(cells, minlength=groups * size).reshape(groups, size)
            shares += np.bincount(cells, 1.0 / raters[rated], minlength=groups * size).reshape(groups, size)
        by_group = [
            np.bincount(group, each, minlength=groups).astype(np.float64) for each in (several, raters > 0, agreed)
        ]
        return cls(by_group[0], by_group[1], by_group[2], shares, counts, agreement)

    def weighted(self, weights: Floats) -> RatingSums:
        """Return the sums over groups that count several times; `weights` has the shape (resamples, groups)."""
        groups, *shape = self.counts.shape
        columns = (self.items, self.rated, self.agreed, self.shares, self.counts.reshape(groups, -1))
        sums = weighted_sums(weights, np.column_stack(columns))  # one product takes a third of the time of five
        items, rated, agreed, rest = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
        shares, counts = np.split(rest, [self.shares.shape[1]], axis=1)
        return RatingSums(items, rated, agreed, shares, counts.reshape(-1, *shape), self.agreement)

    @property
    def observed(self) -> Floats:
        """Mean agreement of two annotators of an item; NaN without items. Shape (groups,)."""
        with np.errstate(invalid="ignore"):
            mean: Floats = self.agreed / self.items
        return mean

    def by_pooled_ratings(self) -> Floats:
        """Return the agreement of two ratings drawn from the ratings of all annotators (pi); shape (groups,)."""
        shares = self._mean_shares()
        return self._agreement(shares, shares)

    def by_own_ratings(self) -> Floats:
        """Return the mean agreement of ratings drawn from those of two different annotators (kappa); shape (groups,).

        Pairs with an annotator who rated nothing are left out.
        """
        with np.errstate(invalid="ignore"):
            margins = self.counts / self.counts.sum(axis=-1, keepdims=True)
        pairs = combinations(range(margins.shape[1]), 2)
        expected = np.array([self._agreement(margins[:, i], margins[:, j]) for i, j in pairs])
        known = ~np.isnan(expected)
        with np.errstate(invalid="ignore"):
            mean: Floats = np.where(known, expected, 0.0).sum(axis=0) / known.sum(axis=0)
        return mean

    def by_equal_probabilities(self, categories: int | None = None) -> Floats:
        """Return the agreement of ratings that draw all categories with the same probability (S); shape (groups,)."""
        size = self.shares.shape[-1] if categories is None else categories
        expected = 1.0 / size if self.agreement is None else float(self.agreement.mean())
        return np.full(self.items.shape, expected)

    def by_hard_items(self) -> Floats:
        """Return the agreement of random ratings of items that are hard to rate (AC1); shape (groups,)."""
        shares = self._mean_shares()
        size = shares.shape[-1]
        if size == 1:
            return np.ones(self.items.shape)
        weight = size if self.agreement is None else float(self.agreement.sum())
        expected: Floats = weight / (size * (size - 1)) * (shares * (1.0 - shares)).sum(axis=-1)
        return expected

    def _mean_shares(self) -> Floats:
        """Return the mean share of each category over the rated items; shape (groups, categories)."""
        with np.errstate(invalid="ignore"):
            shares: Floats = self.shares / self.rated[:, None]
        return shares

    def _agreement(self, first: Floats, second: Floats) -> Floats:
        """Return the agreement of two ratings that are drawn with these probabilities; shape (groups,).

        Args:
            first: Probability of each category for the first rating; shape (groups, categories).
            second: The same for the second rating.
        """
        shares = first if self.agreement is None else (first[..., None] * self.agreement).sum(axis=-2)
        expected: Floats = (shares * second).sum(axis=-1)
        return expected


@dataclass(frozen=True, eq=False, slots=True)
class ChanceSums:
    """A coefficient by document: sums over its items, with a chance model. See `by_document.DocumentSums`.

    Attributes:
        sums: The sums. Each group but the last is a document. The last one contains the items of documents without an
            item of two annotators, which are not resampled: they count once in every resample.
        chance: Returns the agreement expected by chance in each group of such sums.
    """

    sums: RatingSums
    chance: Callable[[RatingSums], Floats]

    @property
    def width(self) -> int:
        """Number of cells that a resample needs besides its weights."""
        return int(self.sums.counts[0].size + self.sums.shares.shape[1])

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement if documents count several times; shapes (resamples,)."""
        sums = self.sums.weighted(np.column_stack([weights, np.ones(len(weights))]))
        return sums.observed, self.chance(sums)

    def each(self) -> tuple[Floats, Floats]:
        """Return the observed and the expected agreement in each document; shapes (groups,)."""
        return self.sums.observed[:-1], self.chance(self.sums)[:-1]
