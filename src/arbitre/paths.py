"""JSON Pointers of values, and their wildcard form `/entries/*/name`.

A path is a tuple of tokens: a property name (`str`), a position (`int`), or `STAR` for any item or key.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class _Star(enum.Enum):
    STAR = "*"

    __hash__ = object.__hash__  # the hash of an enum calls Python for each token of a path

    def __repr__(self) -> str:
        return "STAR"


STAR: Final = _Star.STAR
"""Wildcard token for every item of a list and every key of a map."""

Token = str | int | _Star
Path = tuple[Token, ...]

DEPTH: Final = 64
"""Maximum number of tokens of a wildcard path; deeper paths of recursive schemas are folded into `**`."""


def escape(token: Token) -> str:
    """Escape a token for a pointer (RFC 6901; a property named `*` becomes `~2`)."""
    if token is STAR:
        return "*"
    text = str(token)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return "~2" if text == "*" else text


def unescape(part: str) -> str:
    """Return the token that a part of a pointer represents (RFC 6901, where `*` has no special meaning)."""
    return part.replace("~1", "/").replace("~0", "~")


def pointer(tokens: Iterable[Token]) -> str:
    """Return the JSON Pointer of a path; the root is the empty text.

    >>> pointer(["entries", 0, "a/b"])
    '/entries/0/a~1b'
    >>> pointer(["entries", STAR])
    '/entries/*'
    """
    return "".join("/" + escape(token) for token in tokens)


def parse(text: str) -> tuple[str | _Star, ...]:
    """Parse a pointer into tokens; `*` becomes `STAR`. Raises ValueError if the text is not a pointer.

    >>> parse("/entries/*/a~1b")
    ('entries', STAR, 'a/b')
    """
    if not text:
        return ()
    if not text.startswith("/"):
        message = f'Expected a JSON Pointer ("" or starting with "/"), got {text!r}'
        raise ValueError(message)
    return tuple(STAR if part == "*" else "*" if part == "~2" else unescape(part) for part in text[1:].split("/"))


_POSITION: Final = re.compile(r"0|[1-9][0-9]{0,17}")


def list_position(token: str) -> int | None:
    """Return the position in a list that a token of a pointer states; None if no list has such a position.

    >>> [list_position(token) for token in ("0", "12", "01", "-", "9" * 5000)]
    [0, 12, None, None, None]
    """
    return int(token) if _POSITION.fullmatch(token) else None


def value_at(value: Any, text: str) -> Any:  # noqa: ANN401  (JSON)
    """Return the part of a JSON value at a pointer.

    Raises:
        ValueError: The text is not a pointer.
        LookupError, TypeError: There is no such part.

    >>> value_at({"choices": [{"text": "Ada"}]}, "/choices/0/text")
    'Ada'
    """
    for token in parse(text):
        value = value[int(str(token))] if isinstance(value, list) else value[token]
    return value


def values_at(value: Any, path: Path, at: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  (JSON)
    """Yield the parts of a JSON value at a wildcard path, with their JSON Pointers, which begin with `at`.

    >>> list(values_at({"people": [{"name": "Ada"}, {}, {"name": "Bo"}]}, ("people", STAR, "name")))
    [('/people/0/name', 'Ada'), ('/people/2/name', 'Bo')]
    >>> list(values_at(["x", [5, 6]], parse("/1/*")))
    [('/1/0', 5), ('/1/1', 6)]
    """
    if not path:
        yield at, value
    elif path[0] is STAR:
        children = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        for token, child in children:
            yield from values_at(child, path[1:], f"{at}/{escape(token)}")
    elif isinstance(value, dict) and path[0] in value:
        yield from values_at(value[path[0]], path[1:], f"{at}/{escape(path[0])}")
    elif isinstance(value, list) and (place := list_position(str(path[0]))) is not None and place < len(value):
        yield from values_at(value[place], path[1:], f"{at}/{place}")


def wildcard(path: Path) -> str:
    """Return the text of a wildcard path; tokens beyond `DEPTH` are folded into `**`."""
    return pointer(path) if len(path) <= DEPTH else pointer(path[:DEPTH]) + "/**"


def order(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key for document order: shorter paths first, positions by number, `*` before names.

    >>> sorted(["/a/10", "/a/9", "/a", "/a/*"], key=order)
    ['/a', '/a/*', '/a/9', '/a/10']
    """
    return tuple(
        (0, 0, "") if part == "*" else (1, len(part), part) if part.isdecimal() else (2, 0, part)
        for part in text.split("/")[1:]
    )


def outside(paths: Iterable[str], entries: str) -> tuple[str, ...]:
    """Return the paths outside the entries, without the objects and lists that contain the entries.

    >>> outside(["", "/lines/*", "/lines/*/price", "/total"], "/lines")
    ('/total',)
    """
    return tuple(
        path for path in paths if not f"{path}/".startswith(f"{entries}/") and not f"{entries}/".startswith(f"{path}/")
    )


def nesting(texts: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each path, its part relative to its nearest parent among the preceding paths, and its depth.

    >>> list(nesting(["/pages/*", "/pages/*/name", "/year"]))
    [('/pages/*', '/pages/*', 0), ('/pages/*/name', '/name', 1), ('/year', '/year', 0)]
    """
    above: list[str] = []
    for text in texts:
        while above and not text.startswith(above[-1] + "/"):
            above.pop()
        yield text, text[len(above[-1]) :] if above else text, len(above)
        if text:
            above.append(text)
