"""Checks gold documents before they are used as a reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbitre.errors import DataError
from arbitre.gold.checks import UNREADABLE, GoldFinding, findings_of, warnings_of
from arbitre.gold.coverage import CoverageCounter
from arbitre.inputs import strict_json
from arbitre.inputs.csv_table import ColumnTypes, CsvTable
from arbitre.inputs.document_ids import RUN
from arbitre.inputs.open_files import expand_globs, split_name
from arbitre.inputs.options import ReadOptions
from arbitre.inputs.reader import CELLS
from arbitre.inputs.records import Failure, Record
from arbitre.parsing.json_form import json_form
from arbitre.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arbitre.schema.plan import Plan
    from arbitre.values import Json


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """Result of checking gold documents.

    Attributes:
        documents: Number of gold documents, including those that could not be read.
        findings: The problems, document by document.
        warnings: Possible mistakes, document by document, then the parts of the schema that gold does not use or rarely
            uses.
    """

    documents: int
    findings: tuple[GoldFinding, ...] = ()
    warnings: tuple[GoldFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no findings; warnings are allowed."""
        return not self.findings

    def to_dict(self) -> dict[str, Json]:
        """Return a JSON-serialisable dictionary."""
        return {
            "documents": self.documents,
            "findings": [finding.to_dict() for finding in self.findings],
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


Gold = str | Path | Iterable[Any]
"""A source, or an iterable of sources, documents or (id, document) pairs."""


def check_gold(plan: Plan, gold: Gold, *, id_key: str = "id") -> GoldCheck:
    """Check gold documents; see `arbitre.Comparator.check_gold`."""
    count, findings, warnings, coverage = 0, list[GoldFinding](), list[GoldFinding](), CoverageCounter(plan)
    for record in records_of(gold, id_key, plan):
        count += 1
        if isinstance(record, Failure):
            own: tuple[GoldFinding, ...] = (GoldFinding(UNREADABLE, record.pointer, record.reason),)
        else:
            own = findings_of(plan, record.value)
        findings += _located(own, record)
        if isinstance(record, Record) and all(finding.check != UNREADABLE for finding in own):
            warnings += _located(warnings_of(plan, record.value), record)
            coverage.add(record.value)
    return GoldCheck(count, tuple(findings), (*warnings, *(coverage.findings() if coverage.documents else ())))


def documents(source: str | Path, id_key: str, plan: Plan | None = None) -> Iterator[Record | Failure]:
    """Read the documents of a source. A `.json` file is one document, unless it is an array of records with ids.

    Args:
        source: Path, glob or "-".
        id_key: Key of the id of a record.
        plan: Schema of the documents, to read the cells of CSV files; without it, columns of integers are numbers and
            all other cells are texts.

    Raises:
        DataError: The whole source cannot be read.
    """
    path = Path(source)
    if path.suffix.lower() == ".json" and path.is_file():
        value = strict_json.load(path)
        labelled = isinstance(value, list) and all(isinstance(item, dict) and id_key in item for item in value)
        if not labelled:
            yield Record(path.stem, None, value, str(source))
            return
    reading = ReadOptions(id_key=id_key)
    if plan is None:
        for _, types in column_types([source], id_key):
            reading = replace(reading, fields={name: frozenset({Kind.NUMBER}) for name in types.integers})
    yield from (reading if plan is None else reading.for_plan(plan)).records(source, "gold")


def column_types(gold: Iterable[Any], id_key: str) -> Iterator[tuple[str, ColumnTypes]]:
    """Yield the CSV files among sources, and what the cells of their columns have in common. Raises DataError."""
    for item in gold:
        for source in expand_globs(item) if isinstance(item, (str, Path)) else ():
            if split_name(Path(source))[1] in CELLS:
                yield source, ColumnTypes.of(CsvTable(Path(source), (), ""), (id_key, RUN))


def records_of(gold: Gold, id_key: str, plan: Plan | None = None) -> Iterator[Record | Failure]:
    """Yield documents as records; see `arbitre.Comparator.check_gold`. Raises DataError if there are none."""
    if isinstance(gold, Mapping):
        raise DataError.of("Expected an iterable of documents, got one object", hint="Put it in a list.")
    for number, item in enumerate([gold] if isinstance(gold, (str, Path)) else gold):
        if isinstance(item, (str, Path)):
            for source in expand_globs(item):
                yield from documents(source, id_key, plan)
        else:
            if isinstance(item, tuple) and len(item) != 2:  # noqa: PLR2004  (an id and a document)
                raise DataError.of(f"Expected (id, document) pairs, got a tuple of length {len(item)}")
            identity, value = item if isinstance(item, tuple) else (number, item)
            yield Record(str(identity), None, json_form(value), "")


def _located(findings: Iterable[GoldFinding], record: Record | Failure) -> Iterator[GoldFinding]:
    for finding in findings:
        yield replace(finding, id=record.id, file=record.file or None, line=record.line)
