"""Normalisers: functions applied to values before comparison, so that some differences are ignored."""

from arbitre.normalizers.builtin_normalizers import (
    AS_WRITTEN,
    NFC,
    Normalizer,
    catalogue,
    is_surely_nfc,
    nfc,
    normalize,
    normalized,
)
from arbitre.normalizers.custom import with_normalizer

__all__ = [
    "AS_WRITTEN",
    "NFC",
    "Normalizer",
    "catalogue",
    "is_surely_nfc",
    "nfc",
    "normalize",
    "normalized",
    "with_normalizer",
]
