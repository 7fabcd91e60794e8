"""What the reader of a consensus has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.agreement.consensus.assemble import Draft
    from arbitre.agreement.consensus.places import Places
    from arbitre.agreement.consensus.vote import Strategy


def notes_of(places: Places, draft: Draft, strategy: Strategy) -> Iterator[str]:
    """Yield the assumptions of a strategy and what it left out."""
    single = sum(len(root.voters()) == 1 for root in places.roots.values())
    if single:
        documents = "1 document was" if single == 1 else f"{single} documents were"
        yield f"{documents} annotated by one annotator only and taken over unchanged."
    if len(places.annotators) == 2 and strategy == "majority":  # noqa: PLR2004
        yield "Two annotators have no majority: every disagreement is a tie."
    if strategy == "unanimity":
        left_out, total = draft.values.left_out, draft.values.total
        yield (
            f"Unanimity left out {left_out} of {total} values ({left_out / max(total, 1):.1%}). What remains is the "
            "easy part: systems score higher on it than on the whole."
        )
