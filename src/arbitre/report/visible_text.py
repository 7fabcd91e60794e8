"""Text from data as it may be shown: what cannot be seen, or changes what is seen around it, is written out."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Controls, marks of writing direction, invisible signs, halves of surrogate pairs, tags."""


def show_hidden(text: str) -> str:
    r"""The text with every hidden sign as `⟨U+…⟩`.

    >>> show_hidden("a\u202eb\x07")
    'a⟨U+202E⟩b⟨U+0007⟩'
    """
    return HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
