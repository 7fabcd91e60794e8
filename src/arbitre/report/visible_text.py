"""Write values so that different values never look equal: visible characters, and quotes where needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from arbitre.parsing.fast_json import compact

if TYPE_CHECKING:
    from arbitre.values import Json

LITERAL: Final = "\ue000"
"""First character of a string that contains JSON text instead of a string (see `as_literal`)."""


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


def first_text(value: Json) -> str | None:
    """Return the first text in an object or in the objects directly inside it, as a label; None if there is none.

    >>> first_text({"pages": [3], "person": {"name": "Ada"}})
    'Ada'
    """
    held = list(value.values()) if isinstance(value, dict) else []
    inner = (text for one in held if isinstance(one, dict) for text in one.values())
    return next((text for text in (*held, *inner) if isinstance(text, str)), None)
