"""The provenance of gold: who annotated it, how the annotations were combined, and how well the annotators agree.

It is stored beside the gold in a JSON file, the sidecar: `gold.jsonl.provenance.json` for `gold.jsonl`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from arbitre.errors import DataError
from arbitre.inputs.open_files import SIDECAR, STDIN
from arbitre.language import counted
from arbitre.schema.validate import read_valid
from arbitre.storage.output_folder import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from arbitre.values import Json

FORMAT: Final = "arbitre-provenance"
VERSION: Final = 1
_UNKNOWN: Final = "single annotator, provenance unknown"
MAX_SOURCES: Final = 3
"""Maximum number of sources that a headline names for one provenance."""
MAX_ANNOTATORS: Final = 8
"""Maximum number of annotators that a headline names."""


@dataclass(frozen=True, slots=True)
class MeasuredAgreement:
    """Agreement among the annotators of the gold.

    Attributes:
        coefficient: Name of the coefficient, such as "alpha_d".
        value: Its value; None if it is undefined.
        documents: Number of documents that it was measured on.
    """

    coefficient: str
    value: float | None
    documents: int


@dataclass(frozen=True, slots=True)
class DisagreementCounts:
    """Numbers of disagreements: in total, flagged, and decided by a person."""

    total: int
    flagged: int
    decided: int


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """The origin of a gold value on which not all annotators agree.

    Attributes:
        annotators: The annotators who have this value.
        by: The strategy, the name of the person who decided on the value, or "undecided".
        note: Note by the person who decided.
        tie: Whether another reading has as many votes, and nobody decided.
    """

    annotators: tuple[str, ...]
    by: str
    note: str | None = None
    tie: bool = False


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Estimated error rates of an annotator for list items.

    Attributes:
        omitted: Share of the real items that the annotator omits.
        spurious: Share of the annotator's items that are spurious.
    """

    omitted: float
    spurious: float


@dataclass(frozen=True, slots=True)
class Correction:
    """Corrections of gold that follow from decisions about faults in predictions.

    Attributes:
        decisions: Name of the file of decisions.
        sha256: Digest of that file.
        report: Title and key of the report in which people decided, or of several; None if it is unknown.
        by: Number of corrected values by person.
        values: Number of corrected values.
        documents: Number of corrected documents.
    """

    decisions: str
    sha256: str
    report: str | None
    by: Mapping[str, int]
    values: int
    documents: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who annotated the gold documents in one source, and how well the annotators agree.

    Attributes:
        annotators: Names of the annotators; empty if they are unknown, which is possible only for corrected gold.
        strategy: How the annotations were combined: "minimum-risk", "majority", "unanimity", "collegial",
            "dawid-skene", or any text.
        agreement: Agreement of the annotators.
        documents: Number of gold documents.
        disagreements: Number of disagreements, and how many were flagged and decided.
        values: Origin of the values that not all annotators agree on, by document id and JSON Pointer.
        errors: Estimated errors of each annotator in list items; empty if they were not estimated.
        corrections: Corrections of the gold, the earliest first.

    Raises:
        DataError: `annotators` is empty and there are no corrections, or it is a text.
    """

    annotators: tuple[str, ...]
    strategy: str | None = None
    agreement: MeasuredAgreement | None = None
    documents: int | None = None
    disagreements: DisagreementCounts | None = None
    values: Mapping[str, Mapping[str, ValueOrigin]] = field(default_factory=dict)
    errors: Mapping[str, ErrorRates] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()

    def __post_init__(self) -> None:
        names: object = self.annotators
        if (not names and not self.corrections) or isinstance(names, str):
            raise DataError.of(f"Expected the names of one or more annotators, got {names!r}")

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
        return cls.from_dict(read_valid(Path(path), "provenance"))

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
                    place: ValueOrigin(
                        tuple(origin["from"]), origin["by"], origin.get("note"), origin.get("tie", False)
                    )
                    for place, origin in values.items()
                }
                for document, values in plain.get("values", {}).items()
            },
            {name: ErrorRates(**rates) for name, rates in plain.get("errors", {}).items()},
            tuple(Correction(**{"report": None} | one) for one in plain.get("corrections", ())),
        )

    def write(self, source: str | Path) -> Path:
        """Write the sidecar of a gold source and return its path.

        Raises:
            DataError: The file cannot be written or is not one that arbitre wrote, or a name is not Unicode text.
        """
        path = sidecar(source)
        write_json(self.to_dict(), path)
        return path

    def to_dict(self) -> dict[str, Json]:
        """Return JSON that is valid against `schemas/provenance.schema.json`."""
        plain: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "annotators": list(self.annotators),
            "strategy": self.strategy,
            "agreement": self.agreement and asdict(self.agreement),
            "documents": self.documents,
            "disagreements": self.disagreements and asdict(self.disagreements),
            "errors": {name: asdict(rates) for name, rates in self.errors.items()} or None,
            "corrections": [
                {key: value for key, value in asdict(one).items() if value is not None} for one in self.corrections
            ]
            or None,
            "values": {
                document: {
                    place: {"from": list(origin.annotators), "by": origin.by}
                    | ({"note": origin.note} if origin.note else {})
                    | ({"tie": True} if origin.tie else {})
                    for place, origin in values.items()
                }
                for document, values in self.values.items()
            }
            or None,
        }
        return {key: value for key, value in plain.items() if value is not None}

    def headline(self) -> str:
        """Return the provenance as one line.

        >>> Provenance(("ada",)).headline()
        'Gold: single annotator (ada)'
        >>> agreement = MeasuredAgreement("alpha_d", 0.8971, 9)
        >>> Provenance(("ada", "bob", "cy"), "majority", agreement).headline()
        'Gold: majority of 3 annotators (ada, bob, cy), alpha_d 0.897 on 9 documents'
        >>> corrected = Correction("decisions.csv", 64 * "0", None, {"dee": 2}, 2, 1)
        >>> Provenance(("ada",), corrections=(corrected,)).headline()
        'Gold: single annotator (ada), 2 values corrected (dee)'
        """
        return _headline(self.parts())

    def parts(self) -> list[str]:
        """Return the parts of the headline: the annotators and their strategy, and their agreement."""
        count = len(self.annotators)
        names = ", ".join([*self.annotators[:MAX_ANNOTATORS], *["…"] * (count > MAX_ANNOTATORS)])
        kind = _STRATEGIES.get(self.strategy or "")
        parts = [f"{kind or ''}{count} annotators ({names})" if count > 1 else f"single annotator ({names})"]
        if not self.annotators:
            parts = [_UNKNOWN]
        if self.strategy and not kind:
            parts.append(self.strategy)
        if self.agreement is not None:
            value, documents = self.agreement.value, self.agreement.documents
            measured = "undefined" if value is None else f"{value:.3f}"
            parts.append(f"{self.agreement.coefficient} {measured} on {counted(documents, 'document')}")
        if self.strategy == "collegial" and self.disagreements is not None:
            undecided = self.disagreements.total - self.disagreements.decided
            parts += [f"{undecided} of {self.disagreements.total} disagreements undecided"] * bool(undecided)
        if self.corrections:
            corrected = sum(one.values for one in self.corrections)
            people = ", ".join(sorted({name for one in self.corrections for name in one.by}))
            parts.append(f"{counted(corrected, 'value')} corrected ({people})")
        return parts


_STRATEGIES: Final = {
    "minimum-risk": "minimum-risk consensus of ",
    "majority": "majority of ",
    "unanimity": "unanimity of ",
    "collegial": "collegially revised consensus of ",
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


@dataclass(frozen=True, slots=True)
class GoldProvenance:
    """Provenance of the gold that an evaluation used.

    Attributes:
        known: The sources with a sidecar: file name and provenance, without the origin of values. The name is empty if
            the provenance does not come from the sidecar of a source.
        unknown: Number of sources without a sidecar; 1 for gold that is not in files.
    """

    known: tuple[tuple[str, Provenance], ...] = ()
    unknown: int = 1

    @classmethod
    def of(cls, provenance: Provenance | str | Path) -> Self:
        """Return the provenance of all gold from one `Provenance`, or from a sidecar file.

        The origin of single values is left out. Raises DataError if the file cannot be read or is invalid.
        """
        found = provenance if isinstance(provenance, Provenance) else Provenance.load(provenance)
        return cls((("", replace(found, values={})),), 0)

    @classmethod
    def read(cls, sources: Iterable[str | Path]) -> Self:
        """Read the sidecars of gold sources. Raises DataError if one is invalid."""
        found = [(Path(source).name, Provenance.read(source)) for source in sources]
        known = tuple((name, replace(one, values={})) for name, one in found if one is not None)
        return cls(known, len(found) - len(known)) if found else cls()

    @property
    def agreed(self) -> bool:
        """Whether the agreement of several annotators is known for all gold."""
        return not self.unknown and all(
            one.agreement is not None and one.agreement.value is not None for _, one in self.known
        )

    def headline(self) -> str:
        """Return the provenance as one line. Sources are named if their provenance differs.

        >>> ada = Provenance(("ada",))
        >>> GoldProvenance((("a.jsonl", ada), ("b.jsonl", ada)), 0).headline()
        'Gold: single annotator (ada)'
        >>> GoldProvenance((("a.jsonl", ada),), 1).headline()
        'Gold: single annotator (ada), from a.jsonl; single annotator, provenance unknown, from 1 other source'
        """
        return _headline(*self.parts())

    def parts(self) -> list[list[str]]:
        """Return the parts of the headline for each provenance, with the names of its sources if there are several."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, one in self.known:
            groups.setdefault(tuple(one.parts()), []).append(name)
        found = [
            ([*parts], ", ".join(names) if len(names) <= MAX_SOURCES else f"{len(names)} sources")
            for parts, names in groups.items()
        ]
        if self.unknown:
            found.append(([_UNKNOWN], f"{counted(self.unknown, 'other source')}"))
        return [found[0][0]] if len(found) == 1 else [[*parts, f"from {sources}"] for parts, sources in found]

    def to_dict(self) -> dict[str, Any]:
        """Return the headline, each known source with its provenance, and the number of unknown sources, as JSON."""
        return {
            "headline": self.headline(),
            "sources": [{"source": name or None, "provenance": one.to_dict()} for name, one in self.known],
            "unknown": self.unknown,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any] | None) -> Self:
        """Create the provenance from the result of `to_dict`; None is unknown provenance."""
        if plain is None:
            return cls()
        known = [(one["source"] or "", Provenance.from_dict(one["provenance"])) for one in plain["sources"]]
        return cls(tuple(known), plain["unknown"])


UNKNOWN_GOLD: Final = GoldProvenance()
"""Provenance of gold without a sidecar."""


def _headline(*groups: list[str]) -> str:
    return f"Gold: {'; '.join(map(', '.join, groups))}"
