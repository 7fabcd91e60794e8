"""The version and the year of this release. The build, signatures, results and citations take them from here."""

from typing import Final

__version__ = "0.2.0"

YEAR: Final = 2026
"""Year of this version, for citations."""
