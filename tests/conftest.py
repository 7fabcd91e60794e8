"""Tests say nothing about time: a slow machine fails none."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")
