"""Checks of a candidate text and its references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbitre.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence


def as_references(candidate: str, references: str | Sequence[str]) -> list[str]:
    """Return the references as a list.

    Args:
        candidate: The text under evaluation.
        references: One reference, or several.

    Raises:
        DataError: There is no reference, or a value is not a text.
    """
    texts = [references] if isinstance(references, str) else list(references)
    if not texts:
        raise DataError.of("Expected at least one reference, got none")
    for name, text in (("the candidate", candidate), *((f"reference {at}", text) for at, text in enumerate(texts, 1))):
        if not isinstance(text, str):
            raise DataError.of(f"Expected {name} to be a text, got {shown(text)}")
    return texts
