"""Distances between identifiers: 0 for two notations of the same identifier, else 1.

Identifiers are never partly right: one wrong digit identifies another book or another account.

>>> UUID("{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
0.0
>>> IBAN("GB33 BUKB 2020 1555 5555 55", "GB33BUKB20201555555555"), ISBN("0-306-40615-2", "978-0-306-40615-7")
(0.0, 0.0)
>>> URI("HTTP://Example.org:80/%7Eada", "http://example.org/~ada"), URI("http://example.org", "https://example.org")
(0.0, 1.0)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from arbitre.distances.base import Distance, Facts
from arbitre.distances.discrete import EXACT
from arbitre.distances.edit import YUJIAN_BO
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arbitre.distances.base import Pool

_TEXT: Final = frozenset({Kind.STRING})
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?(\{)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?(1)\})"
)


def canonical_uuid(text: str) -> str:
    """Return a UUID in lower case with hyphens, and any other text unchanged."""
    parts = _UUID.fullmatch(text.strip().lower())
    return text if parts is None else "-".join(parts.groups()[1:])


def _identifiers(name: str, canonical: Callable[[str], str], witness: tuple[str, str]) -> Distance:
    """Return the distance that is 0 if `canonical` returns the same text for two values, else 1."""
    facts = Facts(separating=False, witness=witness)
    return Distance(name, _TEXT, facts, lambda values: EXACT.pool([canonical(text) for text in values]))


UUID: Final = _identifiers(
    "uuid", canonical_uuid, ("6BA7B8109DAD11D180B400C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
)
"""0 for two notations of the same UUID, else 1: a pseudo-metric. Source: RFC 9562 (2024)."""


def canonical_iban(text: str) -> str:
    """Return an IBAN in upper case without spaces."""
    return "".join(text.split()).upper()


IBAN: Final = _identifiers("iban", canonical_iban, ("GB33 BUKB 2020 1555 5555 55", "GB33BUKB20201555555555"))
"""0 for two notations of the same IBAN, else 1: a pseudo-metric. Source: ISO 13616-1 (2020)."""

_ISBN_10: Final = re.compile("[0-9]{9}[0-9X]")


def canonical_isbn(text: str) -> str:
    """Return an ISBN without hyphens and spaces, an ISBN-10 as the ISBN-13 of the same book.

    An ISBN-10 with a wrong check digit is not converted.
    """
    digits = re.sub(r"[\s\u2010-\u2015-]", "", text).upper().removeprefix("ISBN").removeprefix(":")
    if not _ISBN_10.fullmatch(digits):
        return digits
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if sum(weight * value for weight, value in zip(range(10, 0, -1), values, strict=True)) % 11:
        return digits
    body = "978" + digits[:-1]
    total = sum(int(digit) * weight for digit, weight in zip(body, (1, 3) * 6, strict=True))
    return f"{body}{-total % 10}"


ISBN: Final = _identifiers("isbn", canonical_isbn, ("0-306-40615-2", "9780306406157"))
"""0 for two notations of the same ISBN, else 1: a pseudo-metric. Source: ISO 2108 (2017)."""

_DOI_PREFIX: Final = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)


def canonical_doi(text: str) -> str:
    """Return a DOI in lower case without a resolver or the prefix "doi:"."""
    stripped = text.strip()
    prefix = _DOI_PREFIX.match(stripped)
    return stripped[prefix.end() if prefix else 0 :].lower()


DOI: Final = _identifiers("doi", canonical_doi, ("https://doi.org/10.1000/ABC", "10.1000/abc"))
"""0 for two notations of the same DOI, else 1: a pseudo-metric. Source: ISO 26324 (2022)."""


def canonical_email(text: str) -> str:
    """Return an e-mail address with its domain in lower case."""
    user, at, domain = text.strip().rpartition("@")
    return f"{user}{at}{domain.lower()}"


EMAIL: Final = _identifiers("email", canonical_email, ("ada@Example.org", "ada@example.org"))
"""0 for two notations of the same e-mail address, else 1: a pseudo-metric. Source: RFC 5321 (2008)."""

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
    """Return a path without the segments `.` and `..` (RFC 3986, section 5.2.4)."""
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


def _graded_uris(values: Sequence[str]) -> Pool:
    return YUJIAN_BO.pool([normal_uri(text) for text in values])


_URI_WITNESS: Final = ("http://a.org", "HTTP://A.org/")
URI: Final = _identifiers("uri", normal_uri, _URI_WITNESS)
"""0 for two URIs with the same normal form (see `normal_uri`), else 1: a pseudo-metric."""

GRADED_URI: Final = Distance(
    "uri", _TEXT, Facts(separating=False, witness=_URI_WITNESS), _graded_uris, options={"graded": True}
)
"""`yujian-bo` of the URIs in their normal form (see `normal_uri`): a pseudo-metric."""
