"""Compares documents according to a schema: one pair, several configurations, or a corpus."""

from __future__ import annotations

from arbitre.comparator.comparator import MAX_CALLS, Comparator

__all__ = ["MAX_CALLS", "Comparator"]
