"""Regular expressions that users write."""

from __future__ import annotations

from typing import Final

SECONDS: Final = 1.0
"""Maximum time that a regular expression may take on one text, in seconds."""
