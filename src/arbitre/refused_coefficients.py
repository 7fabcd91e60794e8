"""Refuses agreement coefficients as scores of a system, with the reason and the alternatives.

The alternatives are those of Mathet and Widlöcher (2016), section 7.
"""

from __future__ import annotations

from typing import Final, TypeVar

from arbitre.errors import ArbitreError

COEFFICIENTS: Final = frozenset(
    {
        *("kappa", "cohen_kappa", "weighted_kappa", "fleiss", "fleiss_kappa", "conger_kappa"),
        *("pi", "scott_pi", "bennett_s"),
        *("alpha", "alpha_d", "alpha_d2", "alpha_nominal", "alpha_ordinal", "alpha_interval", "alpha_ratio"),
        *("krippendorff", "krippendorff_alpha", "aickin_alpha", "ac1", "ac2", "gwet_ac1", "gwet_ac2", "gamma"),
    }
)
"""Names of agreement coefficients that are refused as options and scores."""
PLUS_SYSTEM: Final = "annotator_plus_system"
"""Option for the agreement of annotators and a system, which is refused too."""

_ALTERNATIVES: Final = """
- Observed agreement: `exact_match_rate` by path in `arbitre evaluate`; in Python also the `observed` agreement of a
  coefficient, which includes its weights
- Precision, recall and F1: `imq`, `irq` and `f1q` in `arbitre evaluate`; `arbitre entities` for labelled spans
- Distances of segmentations: `arbitre text corpus GOLD PREDICTED --path PATH --segmentation`
- Structural scores: the quality of whole documents and of each path in `arbitre evaluate`, with the distances of the
  schema
- As a baseline, the agreement expected by chance from gold alone: the column `expected (global)` of `arbitre agree
  --schema FILE a=GOLD b=GOLD`, or the chance score in `arbitre evaluate`"""

E = TypeVar("E", bound=ArbitreError)


def check_not_agreement(name: str, kind: type[E], shown: str | None = None) -> None:
    """Raise an error if an option or a score is an agreement coefficient.

    Args:
        name: Name of the option or the score; hyphens count as underscores.
        kind: Class of the error.
        shown: The name as the message shows it; by default in backticks.
    """
    key, shown = name.replace("-", "_").lower(), shown or f"`{name}`"
    if key in COEFFICIENTS:
        raise kind.of(
            f"{shown} compares annotators, not a system with gold. Part of the chance baseline of an agreement "
            "coefficient comes from the system itself. Each system therefore has its own baseline, and a better system "
            f"can get a lower value (Mathet and Widlöcher, 2016). Use instead:{_ALTERNATIVES}"
        )
    if key == PLUS_SYSTEM:
        raise kind.of(
            f"{shown} does not evaluate a system. The agreement of the annotators and the system can be higher than "
            "that of the annotators alone, even if the system is worse than every annotator (Mathet and Widlöcher, "
            "2016). Build gold from the annotators with `arbitre consensus`. Without gold, `arbitre leave-one-out` "
            f"compares the annotators and a system with the same consensuses. With gold, use:{_ALTERNATIVES}"
        )
