"""The options of `arbitre consensus` and `arbitre leave-one-out` on how annotations are combined."""

from dataclasses import dataclass
from typing import Annotated

import typer

from arbitre.agreement.consensus.build import MIN_ANNOTATORS
from arbitre.agreement.consensus.vote import DEFAULT_STRATEGY, WEAK_MARGIN, Strategy

How = Annotated[
    Strategy,
    typer.Option(
        help="How to combine the annotations: keep what has the best expected score (minimum-risk), what most "
        "annotators have (majority) or what all of them have (unanimity), let people decide on the disagreements "
        "(collegial, with --queue and --decisions), or estimate categories from the error rates of the annotators "
        "(dawid-skene)."
    ),
]
WeakMargin = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Flag a majority as weak if it leads by less than this share of the votes.",
    ),
]
MinAnnotators = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Leave out documents that fewer annotators have."),
]


@dataclass(frozen=True, kw_only=True)
class VoteOptions:
    """How the annotations are combined."""

    strategy: How = DEFAULT_STRATEGY
    weak_margin: WeakMargin = WEAK_MARGIN
    min_annotators: MinAnnotators = MIN_ANNOTATORS
