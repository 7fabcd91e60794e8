"""The options of `arbitre advise` for its thresholds."""

from dataclasses import dataclass
from typing import Annotated

import typer

from arbitre.diagnosis.data_advice import Thresholds


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions(Thresholds):
    """Options for advice on the data."""

    min_examples: Annotated[int, typer.Option(metavar="N", help="Minimum number of training examples of a class.")]
    imbalance: Annotated[
        float,
        typer.Option(metavar="RATIO", help="A class is rare if the largest has more than RATIO times its examples."),
    ]
    alpha: Annotated[float, typer.Option(metavar="P", help="Training and test data differ if p is below P.")]
    confused: Annotated[
        float, typer.Option(metavar="SHARE", help="Minimum share of the values of two classes that are confused.")
    ]
    min_confused: Annotated[
        int, typer.Option(metavar="N", help="Minimum number of values of two classes that are confused.")
    ]
