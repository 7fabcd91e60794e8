"""Normalisers: functions applied to values before comparison, so that some differences are ignored."""

from arbitre.normalizers.builtin_normalizers import Normalizer, catalogue, normalized
from arbitre.normalizers.custom import with_normalizer

__all__ = ["Normalizer", "catalogue", "normalized", "with_normalizer"]
