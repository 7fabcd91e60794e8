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
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from arbitre.distances.base import Distance, Facts
from arbitre.distances.discrete import EXACT
from arbitre.distances.edit import YUJIAN_BO
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from arbitre.distances.base import Pool

_TEXT: Final = frozenset({Kind.STRING})
_UUID: Final = re.compile(
    r"(?:urn:uuid:)?(\{)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?(1)\})"
)


def canonical_uuid(text: str) -> str:
    """Return a UUID in lower case with hyphens, and any other text unchanged."""
    parts = _UUID.fullmatch(text.strip().lower())
    return text if parts is None else "-".join(parts.groups()[1:])


def _canonical_pool(canonical: Callable[[str], str], values: Sequence[str]) -> Pool:
    return EXACT.pool([canonical(text) for text in values])


def _identifiers(name: str, canonical: Callable[[str], str], witness: tuple[str, str]) -> Distance:
    """Return the distance that is 0 if `canonical` returns the same text for two values, else 1."""
    facts = Facts(separating=False, witness=witness)
    return Distance(name, _TEXT, facts, partial(_canonical_pool, canonical))


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


# The kind of the identifiers of a field.


MIN_IDENTIFIERS: Final = 5
"""Minimum number of different identifiers."""

MIN_SHARE: Final = 0.9
"""Minimum share of the texts that are identifiers, and of those that occur once."""

_CODE: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9](?:[A-Za-z0-9._:/#-]{2,}[A-Za-z0-9])")
_QUANTITY: Final = re.compile(r"[0-9]+(?:[.,:/x×-][0-9]+)*[a-z°%]{0,3}", re.IGNORECASE)
_LONG_NUMBER: Final = re.compile("[0-9]{6,}")
_RUNS: Final = re.compile("([A-Za-z]+)|([0-9]+)")


def _is_isbn(text: str) -> bool:
    digits = canonical_isbn(text)
    if not re.fullmatch("97[89][0-9]{10}", digits):
        return False
    return sum(weight * int(digit) for weight, digit in zip((1, 3) * 7, digits, strict=False)) % 10 == 0


def _is_iban(text: str) -> bool:
    code = canonical_iban(text)
    if not re.fullmatch("[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", code):
        return False
    return int("".join(str(int(sign, 36)) for sign in code[4:] + code[:4])) % 97 == 1


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text.strip().lower()) is not None


def _is_doi(text: str) -> bool:
    return re.fullmatch(r"10\.[0-9]{4,9}/\S+", canonical_doi(text)) is not None


def _is_email(text: str) -> bool:
    return re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@.]+", text.strip()) is not None


def _is_uri(text: str) -> bool:
    return re.fullmatch(r"(?:https?|ftp)://\S+", text.strip(), re.IGNORECASE) is not None


_RECOGNISED: Final[Mapping[str, Callable[[str], bool]]] = {
    "uuid": _is_uuid,
    "isbn": _is_isbn,
    "iban": _is_iban,
    "doi": _is_doi,
    "email": _is_email,
    "uri": _is_uri,
}
"""How the identifiers of a distance are recognised; before `exact`, for all other codes."""


def find_identifiers(texts: Mapping[str, int]) -> tuple[str, tuple[str, ...]] | None:
    """Return the name of the distance of texts of which nearly all are identifiers, and these; or None.

    The distance is `exact` for codes that nearly all occur once: without spaces, with digits, and of the same shape,
    such as AB-1234. Quantities such as 12.5kg, 10x15, 1:03.28 and 12-15 are not codes. A number is one if it has six
    digits or more.

    Args:
        texts: The texts with their number.

    >>> find_identifiers(Counter(["AB-1203", "AB-1204", "CD-0077", "CD-1310", "XY-0001"]))[0]
    'exact'
    >>> find_identifiers(Counter(["https://doi.org/10.1000/a", "10.1000/b", "10.1000/c", "10.1000/d", "10.1000/e"]))[0]
    'doi'
    """
    for name, recognises in _RECOGNISED.items():
        found = tuple(filter(recognises, texts))
        if _enough(found, texts):
            return name, found
    found = tuple(text for text in texts if _is_code(text))
    if not _enough(found, texts) or sum(texts[text] == 1 for text in found) < MIN_SHARE * len(found):
        return None
    shapes = Counter(_RUNS.sub(lambda run: "A" if run[1] else "9", text) for text in found)
    return ("exact", found) if shapes.most_common(1)[0][1] >= MIN_SHARE * len(found) else None


def _enough(found: Collection[str], texts: Mapping[str, int]) -> bool:
    return len(found) >= MIN_IDENTIFIERS and len(found) >= MIN_SHARE * len(texts)


def _is_code(text: str) -> bool:
    """Return whether a text can be a code."""
    return bool(_LONG_NUMBER.fullmatch(text) or (_CODE.fullmatch(text) and not _QUANTITY.fullmatch(text)))
