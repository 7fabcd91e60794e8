"""Causes in the items of lists: items on another level, repeated items, and truncated lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.causes.proposal import Detector

DETECTORS: Final[tuple[Detector, ...]] = ()
"""The detectors of this module."""
