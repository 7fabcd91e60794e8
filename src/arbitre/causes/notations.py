"""Causes in the notation of values: case, accents, dates, numbers, names, and values that stand for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.causes.proposal import Detector

DETECTORS: Final[tuple[Detector, ...]] = ()
"""The detectors of this module."""
