"""Causes in the keys of objects: other spellings, other names, and ids as keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.causes.proposal import Detector

DETECTORS: Final[tuple[Detector, ...]] = ()
"""The detectors of this module."""
