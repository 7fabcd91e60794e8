"""Distances between identifiers: UUIDs and URIs.

>>> UUID("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
0.0
>>> URI("HTTP://Example.org:80/%7Eada", "http://example.org/~ada"), URI("http://example.org", "https://example.org")
(0.0, 0.05)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from arbitre.distances.base import Distance, Facts
from arbitre.distances.discrete import EXACT
from arbitre.distances.text.edit import YUJIAN_BO
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arbitre.distances.base import Pool

_TEXT: Final = frozenset({Kind.STRING})
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?(\{)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?(1)\})"
)


def canonical_uuid(text: str) -> str:
    """Return a UUID in lower case with hyphens, and any other text unchanged."""
    parts = _UUID.fullmatch(text.strip().lower())
    return text if parts is None else "-".join(parts.groups()[1:])


UUID: Final = Distance(
    "uuid",
    _TEXT,
    Facts(separating=False, witness=("6BA7B8109DAD11D180B400C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")),
    lambda values: EXACT.pool([canonical_uuid(text) for text in values]),
)
"""0 for two notations of the same UUID, else 1: a pseudo-metric. UUIDs that share characters have nothing in common.

Source: RFC 9562 (2024).
"""

_PORTS: Final = {"http": 80, "ws": 80, "https": 443, "wss": 443, "ftp": 21}
_ESCAPED: Final = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = re.compile(r"[A-Za-z0-9._~-]")


def normal_uri(text: str) -> str:
    """Return a URI in its normal form, and a text without a scheme unchanged.

    Scheme and host are in lower case, escapes in upper case, and escapes of unreserved characters, dot segments and the
    default port are removed. An empty path after a host is "/". Source: RFC 3986 (2005), sections 6.2.2 and 6.2.3.

    >>> normal_uri("HTTPS://Example.ORG:443/a/./b/../c%2fd?Q=%41#f"), normal_uri("Example.ORG/a")
    ('https://example.org/a/c%2Fd?Q=A#f', 'Example.ORG/a')
    """
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return text
    if not parts.scheme:
        return text
    user, at, _ = parts.netloc.rpartition("@")
    host = parts.netloc.rpartition("@")[2].lower()
    if port is None or port == _PORTS.get(parts.scheme):
        host = re.sub(r":\d*\Z", "", host)
    path = parts.path
    if parts.netloc:
        path = _without_dots(path) or "/"
    return _ESCAPED.sub(_escape, parts._replace(netloc=f"{user}{at}{host}", path=path).geturl())


def _escape(found: re.Match[str]) -> str:
    sign = chr(int(found[1], 16))
    return sign if _UNRESERVED.match(sign) else found[0].upper()


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)


def _uris(values: Sequence[str]) -> Pool:
    return YUJIAN_BO.pool([normal_uri(text) for text in values])


URI: Final = Distance("uri", _TEXT, Facts(separating=False, witness=("http://a.org", "HTTP://A.org/")), _uris)
"""`yujian-bo` of the URIs in their normal form (see `normal_uri`): a pseudo-metric."""
