"""Write values so that different values never look equal: visible characters, and quotes where needed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from arbitre.report.text_files import compact

if TYPE_CHECKING:
    from arbitre.values import Json

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


LITERAL: Final = "\ue000"
"""First character of a string that holds JSON text instead of a string (see `as_literal`)."""


def as_literal(value: Json) -> str:
    """Return a value as a string that `spelled` shows as JSON text."""
    return LITERAL + compact(value)


def spelled(value: Json) -> str:
    """Return the text of a value. A string is in quotes only if it would otherwise look like another value.

    >>> spelled("Ada"), spelled(403), spelled("403"), spelled(as_literal(2**60))
    ('Ada', '403', '"403"', '1152921504606846976')
    """
    if not isinstance(value, str):
        return compact(value)
    if value.startswith(LITERAL):
        return value[1:]
    try:
        json.loads(value)
    except ValueError:
        return value
    except RecursionError:
        pass  # deeply nested JSON
    return compact(value)
