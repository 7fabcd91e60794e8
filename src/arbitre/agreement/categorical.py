"""Agreement on categories beyond chance: S, pi, Cohen's and Fleiss' kappa, Gwet's AC1 and AC2, Aickin's alpha.

The observed agreement is that of the items that at least two annotators rated. If ratings are missing, the shares of
the categories, from which the agreement expected by chance is computed, are those of all rated items (Gwet, 2014);
Cohen's kappa and Aickin's alpha leave out the items of one annotator. For surveys, see (Artstein and Poesio, 2008;
Gwet, 2014).
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from arbitre.agreement.coefficient import TOLERANCE, Coefficient
from arbitre.agreement.ratings import Ratings
from arbitre.agreement.sums import AlphaSums, Level, RatingSums
from arbitre.arrays import exact_dot
from arbitre.errors import DataError, OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.arrays import Floats
    from arbitre.values import Json


Weights: TypeAlias = Literal["linear", "quadratic"]
"""How disagreement grows with the distance between the positions of two categories."""

MOST_EXCHANGED: Final = 3
"""Number of most frequently exchanged pairs of categories to list."""

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
    """Compute Scott's pi or Fleiss' kappa of encoded ratings."""
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
    return Coefficient.corrected(share, expected, name=name, chance_model=model, **facts(ratings))


def specific_agreement(ratings: Ratings) -> dict[str, float]:
    """Return the specific agreement of each category that two annotators could have shared, in [0, 1]."""
    size = len(ratings.categories)
    same, possible = np.zeros(size), np.zeros(size)
    for _, first, second in ratings.pairs():
        same += 2.0 * np.bincount(first[first == second], minlength=size)
        possible += np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    return {
        label(category): float(same[at] / possible[at])
        for at, category in enumerate(ratings.categories)
        if possible[at] > 0.0
    }


def exchanged(ratings: Ratings) -> tuple[tuple[str, str, int], ...]:
    """Return the `MOST_EXCHANGED` pairs of different categories that were given to the same items most often."""
    size = len(ratings.categories)
    cells = [np.minimum(first, second) * size + np.maximum(first, second) for _, first, second in ratings.pairs()]
    pairs, counts = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *cells]), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    often = [(*divmod(int(pairs[at]), size), int(counts[at])) for at in order]
    different = ((first, second, count) for first, second, count in often if first != second)
    return tuple(
        (label(ratings.categories[first]), label(ratings.categories[second]), count)
        for first, second, count in islice(different, MOST_EXCHANGED)
    )


def label(category: Json) -> str:
    """Return a category as text: a text as it is, any other value as JSON."""
    return category if isinstance(category, str) else json.dumps(category, ensure_ascii=False)


def facts(ratings: Ratings) -> dict[str, Any]:
    """Return the attributes of a coefficient that describe the ratings."""
    annotators, rated = ratings.codes.shape
    shares = [[None if np.isnan(share) else share for share in row] for row in ratings.margins().T.tolist() if rated]
    return {
        "items": int((ratings.rated.sum(axis=0) > 1).sum()),
        "annotators": annotators,
        "margins": dict(zip(map(label, ratings.categories), map(tuple, shares), strict=False)),
        "by_category": specific_agreement(ratings),
        "exchanged": exchanged(ratings),
    }


# Krippendorff's alpha (Krippendorff, 2018): several annotators, missing ratings, any difference between values.


def krippendorff_alpha(
    data: Sequence[Sequence[Json]],
    level: Level | Callable[[Json, Json], float] = "nominal",
    *,
    categories: Sequence[Json] | None = None,
) -> Coefficient:
    """Compute Krippendorff's alpha: 1 minus the ratio of the observed to the expected disagreement.

    The chance model draws two different ratings from the pooled ratings, without replacement. Alpha therefore differs
    from Scott's pi if there are few items. Items with fewer than two ratings are left out.

    Args:
        data: One sequence of values per annotator; None if missing.
        level: "nominal", "ordinal", "interval" (squared difference), "ratio" (squared difference relative to the sum),
            or a function of two values that returns their difference: symmetric, not negative, 0 for equal values.
        categories: The values in order, for "ordinal"; by default those that occur, sorted.

    Returns:
        The coefficient. `observed` and `expected` are 1 minus the disagreement. The value is None if all values are
        equal.

    Raises:
        DataError: The sequences differ in length, there are fewer than two, or `level` requires ordered values or
            numbers and the values are not.
        OptionError: `level` is unknown.

    >>> round(krippendorff_alpha(["AAAAAB", "ABBBBB"]).value, 4)
    -0.2222
    """
    return alpha_of(Ratings.of(data, categories), level, ordered=categories is not None)


def alpha_of(
    ratings: Ratings, level: Level | Callable[[Json, Json], float] = "nominal", *, ordered: bool = False
) -> Coefficient:
    """Compute Krippendorff's alpha of encoded ratings.

    Args:
        ratings: The ratings.
        level: See `krippendorff_alpha`.
        ordered: Whether the order of the categories was given.

    Returns:
        The coefficient; see `krippendorff_alpha`.
    """
    ratings = ratings.with_at_least(2)
    observed, expected = (
        None if np.isnan(each[0]) else float(each[0])
        for each in AlphaSums.of(ratings, level, ordered=ordered).weighted(np.ones((1, 1)))
    )
    name = f"alpha_{level if isinstance(level, str) else getattr(level, '__name__', 'function')}"
    model = "pooled ratings, without replacement"
    return Coefficient.corrected(observed, expected, name=name, chance_model=model, **facts(ratings))
