"""Which keys were there before, in little room."""

from __future__ import annotations

from typing import Final

import numpy as np

from arbitre.corpus.index import DIGEST, digest

FEWEST: Final = 1024
"""So many new keys at least are put among the others at once."""

SHARE: Final = 16
"""At least one in so many of these are new ones then: putting them there takes linear time in all."""


class Seen:
    """A set of texts that only grows, by their digests: some 24 bytes each, however long they are."""

    def __init__(self) -> None:
        self._sorted, self._new = np.empty(0, dtype=DIGEST), set[bytes]()

    def add(self, text: str) -> bool:
        """Take in a text; whether it is new."""
        found = digest(text)
        if found in self._new or self._among(found):
            return False
        self._new.add(found)
        if len(self._new) >= max(FEWEST, len(self._sorted) // SHARE):
            new = np.sort(np.array(list(self._new), dtype=DIGEST))
            self._sorted = np.insert(self._sorted, np.searchsorted(self._sorted, new), new)
            self._new.clear()
        return True

    def _among(self, found: bytes) -> bool:
        one = np.array(found, dtype=DIGEST)
        at = int(np.searchsorted(self._sorted, one))
        return at < len(self._sorted) and bool(self._sorted[at] == one)
