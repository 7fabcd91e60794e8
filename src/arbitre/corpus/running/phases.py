"""The phases of an evaluation, for displays of its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Phase: TypeAlias = Literal["reading", "comparing", "resampling", "writing"]

OnProgress: TypeAlias = "Callable[[Phase, int, int | None], None]"
"""Called with the phase, the number of documents done in it, and their total number; None if it is unknown."""


def ignore_progress(_phase: Phase, _done: int, _total: int | None) -> None:
    """Show nothing."""
