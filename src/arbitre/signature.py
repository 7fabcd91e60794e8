"""Signatures: all options that can change a score, as text."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Signature:
    """The non-default options that can change a score, and the version of arbitre.

    Scores of the same documents are comparable if their signatures are equal.

    Attributes:
        entries: Key and value of each non-default option, sorted by key; a key is a path or the name of an option.
        version: Version of arbitre.
    """

    entries: tuple[tuple[str, str], ...]
    version: str

    @classmethod
    def of(cls, entries: Mapping[str, str], version: str) -> Signature:
        """Create a signature from options by name."""
        return cls(tuple(sorted(entries.items())), version)

    @property
    def long(self) -> str:
        """The signature as one line, such as `close:0.9|/entries/*/name:...|version:0.2.0`; `parse` is the inverse."""
        parts = [f"{_escape(key)}:{_escape(value)}" for key, value in self.entries]
        return "|".join([*parts, f"version:{self.version}"])

    @property
    def short(self) -> str:
        """Short form for tables: the first 12 hexadecimal digits of the SHA-256 of `long`, and the version."""
        digest = hashlib.sha256(self.long.encode(errors="surrogatepass")).hexdigest()
        return f"{digest[:12]}|version:{self.version}"

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse the text of `long`. Raises ValueError if the text is not a signature.

        >>> signature = Signature.of({"/a|b": "exact", "close": "0.9"}, "0.1.0")
        >>> Signature.parse(signature.long) == signature
        True
        """
        pairs = [part.split(":", 1) for part in text.split("|")]
        if not all(len(pair) == 2 for pair in pairs) or pairs[-1][0] != "version":  # noqa: PLR2004
            message = f"Expected key:value entries separated by |, the version last, got {text!r}"
            raise ValueError(message)
        return cls.of({_unescape(key): _unescape(value) for key, value in pairs[:-1]}, pairs[-1][1])

    def to_dict(self) -> dict[str, Any]:
        """Return the signature as JSON."""
        return {"entries": dict(self.entries), "version": self.version, "short": self.short}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Signature:
        """Create a signature from the result of `to_dict`."""
        return cls.of(data["entries"], data["version"])

    def __str__(self) -> str:
        return self.long


def text_of(value: object) -> str:
    """Return an option value as text: canonical JSON, so that equal values have equal texts."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("|", "%7C").replace(":", "%3A").replace("\n", "%0A")


def _unescape(text: str) -> str:
    return text.replace("%0A", "\n").replace("%3A", ":").replace("%7C", "|").replace("%25", "%")
