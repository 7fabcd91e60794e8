"""Removes markup from texts: Markdown, and HTML and XML tags and character entities."""

from __future__ import annotations

import html
import re
from typing import Final

_BREAK: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG: Final = re.compile(
    r"""</[a-z][\w.:-]*\s*>|<[a-z][\w.:-]*(?:\s+[\w.:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*/?>""", re.IGNORECASE
)
_ENTITY: Final = re.compile(r"&(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);", re.IGNORECASE)
_EMPHASIS: Final = tuple(
    re.compile(rf"(?<![\w{mark}])({mark}{{1,3}})(?![\s{mark}])(.{{1,1000}}?)(?<![\s{mark}])\1(?![\w{mark}])", re.DOTALL)
    for mark in (r"\*", "_", "~", "`")
)
_HEADING: Final = re.compile(r"^ {0,3}#{1,6} +", re.MULTILINE)
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\((?:https?|mailto):[^\s()]+\)")


def without_markup(text: str) -> str:
    """Return a text without markup; character entities are decoded, and `<br>` becomes a space.

    Removes HTML and XML tags, and the Markdown syntax of emphasis, code, strikethrough, headings and links to URLs.
    This is repeated until nothing changes, so text that was escaped twice is also decoded.

    >>> without_markup("<hi rend='italic'>Nana</hi>, by _Zola_"), without_markup("**Thiers &amp; Cie**")
    ('Nana, by Zola', 'Thiers & Cie')
    >>> without_markup("snake_case_name, 2 * 3 * 4, a < b > c, A&B;"), without_markup("&amp;eacute;")
    ('snake_case_name, 2 * 3 * 4, a < b > c, A&B;', 'é')
    """
    before = None
    while text != before:
        before = text
        text = _TAG.sub("", _BREAK.sub(" ", text))
        text = _LINK.sub(r"\1", _HEADING.sub("", text))
        for marks in _EMPHASIS:
            text = marks.sub(r"\2", text)
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    return text
