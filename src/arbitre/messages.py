"""Values in messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from arbitre.values import Json

ROOM: Final = 80
"""Maximum length of a value in a message, in characters."""


def shown(value: Json, room: int = ROOM) -> str:
    """The JSON text of a value, clipped.

    >>> shown({"name": "Ada"}, 10)
    '{"name": …'
    """
    return clipped(json.dumps(value, ensure_ascii=False), room)


def clipped(text: str, room: int = 300) -> str:
    """The text, or the beginning of it and an ellipsis if it is longer than `room` characters.

    >>> clipped("quill", 4)
    'qui…'
    """
    return text if len(text) <= room else text[: room - 1] + "…"
