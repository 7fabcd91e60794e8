"""Causes in the fields of objects: wrong types, exchanged fields, and numbers that differ by a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.causes.proposal import Detector

DETECTORS: Final[tuple[Detector, ...]] = ()
"""The detectors of this module."""
