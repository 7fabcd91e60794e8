"""Replace invisible characters in input text with visible code points."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Control characters, bidirectional marks, invisible characters, lone surrogates and tags."""


def show_hidden(text: str) -> str:
    r"""Replace every invisible character by `⟨U+…⟩`.

    >>> show_hidden("a\u202eb\x07")
    'a⟨U+202E⟩b⟨U+0007⟩'
    """
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
