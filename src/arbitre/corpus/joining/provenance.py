"""The provenance of gold: who annotated it, how the annotations were combined, and how far the annotators agree.

It is stored beside the gold in a JSON file, the sidecar: `gold.jsonl.provenance.json` for `gold.jsonl`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre import bundled
from arbitre.corpus.reading import strict_json
from arbitre.corpus.reading.sources import SIDECAR, STDIN
from arbitre.corpus.storage.files import atomic_file
from arbitre.errors import DataError, Problem
from arbitre.schema.loading.references import load
from arbitre.schema.validation.validate import find_violations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arbitre.schema.loading.references import Subschema
    from arbitre.values import Json

FORMAT: Final = "arbitre-provenance"
VERSION: Final = 1
UNKNOWN: Final = "Gold: single annotator, provenance unknown"
"""Headline of gold without a sidecar."""
MAX_ANNOTATORS: Final = 8
"""Maximum number of annotators that a headline names."""


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Agreement of the annotators of gold.

    Attributes:
        coefficient: Name of the coefficient, such as "alpha_d".
        value: Its value; None if it is undefined.
        documents: Number of documents that it was measured on, if known.
    """

    coefficient: str
    value: float | None
    documents: int | None = None


@dataclass(frozen=True, slots=True)
class DisagreementCounts:
    """Number of disagreements, of those that were flagged, and of those that a person decided."""

    total: int
    flagged: int
    decided: int


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """Origin of a gold value that not all annotators agree on.

    Attributes:
        annotators: The annotators who have this value.
        by: The strategy, the name of the person who decided, or "undecided".
        note: Remark of the person who decided.
    """

    annotators: tuple[str, ...]
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Provenance of the gold documents of one source.

    Attributes:
        annotators: Names of the annotators; a single name for gold by one annotator.
        strategy: How the annotations were combined: "majority", "unanimity", "collegial", "dawid-skene", or any text.
        agreement: Agreement of the annotators.
        documents: Number of gold documents.
        disagreements: Numbers of disagreements.
        values: Origin of the values that not all annotators agree on, by document id and JSON Pointer.

    Raises:
        DataError: There are no annotators.
    """

    annotators: tuple[str, ...]
    strategy: str | None = None
    agreement: MeasuredAgreement | None = None
    documents: int | None = None
    disagreements: DisagreementCounts | None = None
    values: Mapping[str, Mapping[str, ValueOrigin]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.annotators:
            raise DataError.of("Expected at least one annotator, got none")

    @classmethod
    def read(cls, source: str | Path) -> Self | None:
        """Read the sidecar of a gold source; None if it has none. Raises DataError like `load`."""
        path = sidecar(source)
        return cls.load(path) if str(source) != STDIN and path.exists() else None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a sidecar.

        Raises:
            DataError: The file cannot be read, or is not valid against `schemas/provenance.schema.json`.
        """
        plain: Any = strict_json.load(Path(path))
        if violations := find_violations(_schema(), plain):
            raise DataError(
                *(
                    Problem(
                        f"Invalid provenance: {violation.message}",
                        str(path),
                        pointer=violation.pointer,
                        hint="Correct the file; schemas/provenance.schema.json describes it." if not number else None,
                    )
                    for number, violation in enumerate(violations)
                )
            )
        return cls.from_dict(plain)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Create a provenance from the result of `to_dict`."""
        agreement, disagreements = plain.get("agreement"), plain.get("disagreements")
        return cls(
            tuple(plain["annotators"]),
            plain.get("strategy"),
            agreement and MeasuredAgreement(**agreement),
            plain.get("documents"),
            disagreements and DisagreementCounts(**disagreements),
            {
                document: {
                    place: ValueOrigin(tuple(origin["from"]), origin["by"], origin.get("note"))
                    for place, origin in values.items()
                }
                for document, values in plain.get("values", {}).items()
            },
        )

    def write(self, source: str | Path) -> Path:
        """Write the sidecar of a gold source and return its path. Raises DataError if it cannot be written."""
        path = sidecar(source)
        with atomic_file(path) as part:
            part.write_text(json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        return path

    def to_dict(self) -> dict[str, Json]:
        """Return JSON that is valid against `schemas/provenance.schema.json`."""
        plain: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "annotators": list(self.annotators),
            "strategy": self.strategy,
            "agreement": self.agreement and _without_none(asdict(self.agreement), keep="value"),
            "documents": self.documents,
            "disagreements": self.disagreements and asdict(self.disagreements),
            "values": {
                document: {
                    place: _without_none({"from": list(origin.annotators), "by": origin.by, "note": origin.note})
                    for place, origin in values.items()
                }
                for document, values in self.values.items()
            }
            or None,
        }
        return _without_none(plain)

    def headline(self) -> str:
        """Return the provenance as one line.

        >>> Provenance(("ada",)).headline()
        'Gold: single annotator (ada)'
        >>> agreement = MeasuredAgreement("alpha_d", 0.8971, 9)
        >>> Provenance(("ada", "bob", "cy"), "majority", agreement).headline()
        'Gold: majority of 3 annotators (ada, bob, cy), alpha_d 0.897 on 9 documents'
        """
        count = len(self.annotators)
        shown = ", ".join([*self.annotators[:MAX_ANNOTATORS], *["…"] * (count > MAX_ANNOTATORS)])
        kind = _STRATEGIES.get(self.strategy or "", "")
        parts = [f"Gold: {kind}{count} annotators ({shown})" if count > 1 else f"Gold: single annotator ({shown})"]
        if self.strategy and not kind:
            parts.append(self.strategy)
        if self.agreement is not None:
            value, documents = self.agreement.value, self.agreement.documents
            measured = "undefined" if value is None else f"{value:.3f}"
            on = "" if documents is None else f" on {documents} document{'s' * (documents != 1)}"
            parts.append(f"{self.agreement.coefficient} {measured}{on}")
        if self.strategy == "collegial" and self.disagreements is not None:
            undecided = self.disagreements.total - self.disagreements.decided
            parts += [f"{undecided} of {self.disagreements.total} disagreements undecided"] * bool(undecided)
        return ", ".join(parts)


_STRATEGIES: Final = {
    "majority": "majority of ",
    "unanimity": "unanimity of ",
    "collegial": "collegial revision of ",
    "dawid-skene": "Dawid-Skene consensus of ",
}
"""Beginning of the headline by strategy."""


def sidecar(source: str | Path) -> Path:
    """Return the path of the sidecar of a gold source.

    >>> sidecar("corpus/gold/").as_posix(), sidecar("gold.jsonl").as_posix()
    ('corpus/gold.provenance.json', 'gold.jsonl.provenance.json')
    """
    path = Path(source)
    if path.name in {"", ".."}:  # ".", "/"
        path = path.resolve()
    return path.parent / f"{path.name}{SIDECAR}"


@cache
def _schema() -> Subschema:
    return load(bundled.schema("provenance.schema.json"))


def _without_none(plain: dict[str, Any], keep: str = "") -> dict[str, Any]:
    return {key: value for key, value in plain.items() if value is not None or key == keep}
