"""Causes at the root of documents: wrapped or unwrapped documents, and predictions of the wrong document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.causes.proposal import Detector

DETECTORS: Final[tuple[Detector, ...]] = ()
"""The detectors of this module."""
