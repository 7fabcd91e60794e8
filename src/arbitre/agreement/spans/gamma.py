"""Agreement gamma on units that annotators located themselves (Mathet, Widlöcher and Métivier, 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from arbitre.agreement.categorical import MOST_EXCHANGED, label
from arbitre.agreement.coefficient import Coefficient
from arbitre.agreement.spans.continua import Continua
from arbitre.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.agreement.alignment import Alignment
    from arbitre.agreement.spans.continua import Continuum
    from arbitre.values import Json

Expected: TypeAlias = Literal["local", "global"]
"""Source of the random annotations: the annotations of the same document, or of all documents."""

CHANCE_MODELS: Final[Mapping[Expected, str]] = {
    "local": "annotations of the same document, shifted",
    "global": "annotations of all documents, shifted",
}
"""Chance model of each source."""

SAMPLES: Final = 30
"""Minimum number of random annotations for each document."""

PRECISION: Final = 0.02
"""Default for the relative error of the expected disorder, at 95 % confidence."""


def gamma(
    continuum: Continuum | Sequence[Continuum],
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    unmatched: float = 1.0,
    categories: Callable[[Json, Json], float] | None = None,
    expected: Expected = "local",
    precision: float = PRECISION,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Coefficient:
    """Compute gamma: 1 minus the ratio of the observed disorder to that of random annotations.

    Units are aligned across annotators so that the disorder, which depends on their positions and categories, is least.
    Random annotations shift the annotations of randomly chosen annotators along the document, cyclically. Their number
    grows until the expected disorder is known to `precision`.

    Args:
        continuum: Units of each annotator, in one document or in several. A unit is an object with `start`, `end` and
            `label`, or a tuple (start, end, label). Positions count from 0. An annotator who annotated a document
            without finding a unit has an empty list; one who did not annotate it is left out.
        alpha: Weight of the positional dissimilarity, ((|start difference| + |end difference|) / sum of lengths)².
        beta: Weight of the categorical dissimilarity.
        unmatched: Dissimilarity of a missing unit, above 0. It scales all dissimilarities, so gamma does not depend
            on it.
        categories: Dissimilarity of two labels, in [0, 1]; by default 0 for equal labels and 1 for different ones.
        expected: "local" draws random annotations from the same document, "global" from all documents. Local values
            are lower if the documents differ in their categories or in their number of units.
        precision: Relative error of the expected disorder at 95 % confidence, above 0.
        samples: Minimum number of random annotations per document.
        seed: Random seed.

    Returns:
        The coefficient. `observed` and `expected` are 1 minus the disorders, which may be negative; `standard_error`
        is that of `expected`. The value is None if there are no units.

    Raises:
        DataError: There are fewer than two annotators, no document has two, or a unit is invalid.
        OptionError: An option is out of range.

    >>> page = {"ada": [(0, 4, "name"), (6, 9, "date")], "bob": [(0, 4, "name"), (6, 9, "date")]}
    >>> gamma(page).value
    1.0
    """
    if expected not in get_args(Expected):
        hint = did_you_mean(expected, get_args(Expected))
        raise OptionError.of(f"Expected `expected` to be a known name, got {expected!r}", hint=hint)
    check_options(alpha=alpha, beta=beta, unmatched=unmatched, precision=precision, samples=samples)
    documents = [continuum] if isinstance(continuum, Mapping) else list(continuum)
    continua = Continua.of(documents, alpha, beta, unmatched, categories)
    return gamma_of(continua, continua.alignments(), expected, precision=precision, samples=samples, seed=seed)


def check_options(*, alpha: float, beta: float, unmatched: float, precision: float, samples: int) -> None:
    """Raise OptionError if an option of gamma is out of range."""
    for name, value in (("unmatched", unmatched), ("precision", precision), ("samples", samples)):
        if not value > 0.0:
            raise OptionError.of(f"Expected `{name}` to be above 0, got {value}")
    if not (alpha >= 0.0 and beta >= 0.0 and alpha + beta > 0.0):
        raise OptionError.of(f"Expected `alpha` and `beta` to be at least 0, and one above 0, got {alpha} and {beta}")


def gamma_of(
    continua: Continua,
    alignments: Sequence[Alignment],
    expected: Expected,
    *,
    precision: float,
    samples: int,
    seed: int,
) -> Coefficient:
    """Compute gamma from the alignments of the documents; see `gamma` for the other arguments."""
    counts, disorder = continua.counts(), continua.observed_disorder(alignments)
    _, exchanged = continua.exchanged(alignments)
    shares = [(row / row.sum()).tolist() if row.any() else [None] * len(row) for row in counts]
    facts: dict[str, Any] = {
        "name": f"gamma_{expected}",
        "chance_model": CHANCE_MODELS[expected],
        "items": int(counts.sum()),
        "annotators": len(continua.annotators),
        "margins": dict(zip(map(label, continua.labels), zip(*shares, strict=True), strict=True)),
        "exchanged": tuple((*labels, count) for labels, count in islice(exchanged.items(), MOST_EXCHANGED)),
    }
    if disorder is None:
        reason = "No annotator marked a span."
        return Coefficient(value=None, observed=None, expected=None, reason=reason, **facts)
    mean, error = continua.expected_disorder(
        everywhere=expected == "global", precision=precision, samples=samples, seed=seed
    )
    unmatched = continua.dissimilarity.unmatched
    return Coefficient.corrected(
        1.0 - disorder / unmatched, 1.0 - mean / unmatched, standard_error=error / unmatched, **facts
    )
