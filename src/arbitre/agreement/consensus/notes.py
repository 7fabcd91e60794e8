"""Caveats of a consensus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.agreement.consensus.dawid_skene import LEAST_ANNOTATORS, LEAST_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.agreement.consensus.dawid_skene import Estimates
    from arbitre.agreement.consensus.places import Places
    from arbitre.options import Strategy


def notes_of(places: Places, draft: Draft, strategy: Strategy, estimates: Estimates) -> Iterator[str]:
    """Yield the assumptions of a strategy and what it left out."""
    single = sum(len(root.voters()) == 1 for root in places.roots.values())
    if single:
        documents = "1 document was" if single == 1 else f"{single} documents were"
        yield f"{documents} annotated by only one annotator and copied unchanged."
        yield "Nobody has confirmed the values of a single annotator; they count as flagged."
    if len(places.annotators) == 2 and strategy in {"majority", "collegial"}:  # noqa: PLR2004
        yield "With two annotators, there is no majority: every disagreement is a tie."
    if len(places.annotators) == 2 and strategy == "minimum-risk":  # noqa: PLR2004
        yield (
            "With two annotators, every disagreement is a tie. The data do not show who omits items and who adds "
            "spurious ones. The document of one annotator is therefore kept unchanged."
        )
    if strategy == "unanimity":
        left_out, total = draft.values.left_out, draft.values.total
        yield (
            f"Unanimity left out {left_out} of {total} values ({left_out / max(total, 1):.1%}). What remains is the "
            "easy part: systems score higher on it than on all values."
        )
    if strategy == "dawid-skene":
        yield from _of_estimates(places, estimates)


def _of_estimates(places: Places, estimates: Estimates) -> Iterator[str]:
    """Yield the assumptions of Dawid-Skene, and where they may not hold."""
    if not estimates.sizes:
        yield "No path has more than one category. The result is the same as with majority."
        return
    yield (
        f"Dawid-Skene was used at {', '.join(estimates.sizes)}; everything else was decided by majority. It assumes "
        "that annotators err independently, and that each annotator has the same error rates for all values of a "
        "category. Values that are hard for everybody, and several runs of one model, violate these assumptions."
    )
    if len(places.annotators) == LEAST_ANNOTATORS:
        yield (
            f"Dawid-Skene is unreliable with {LEAST_ANNOTATORS} annotators: if two of them make the same errors, the "
            "third one counts as wrong."
        )
    for path, (values, categories) in estimates.sizes.items():
        if values < LEAST_VALUES * categories:
            yield f"{path}: {values} values in {categories} categories are too few for reliable error rates."
