"""Decisions of people on disagreements: read from a file, and matched with the disagreements."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import DataError, Problem, did_you_mean, shown
from arbitre.inputs import strict_json
from arbitre.inputs.csv_table import CsvTable
from arbitre.inputs.open_files import open_source, split_name
from arbitre.parsing.fast_json import compact
from arbitre.tables.csv_text import FORMULA, unescaped
from arbitre.values import ABSENT, Json, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from arbitre.agreement.consensus.disagreement import Disagreement

TABLES: Final = frozenset({".csv", ".tsv"})
KEYS: Final = ("id", "value", "absent", "by", "note", "fingerprint")
"""Keys of a decision in JSON lines, and the columns of a table that are read."""
_STALE: Final = (
    "The annotations may have changed since the decision was made. Write the queue again and load the decisions in the "
    "new page, which lists those that no longer apply."
)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about one disagreement.

    Attributes:
        id: Id of the disagreement.
        value: The value for the gold; ABSENT to leave it out.
        by: Name of the person.
        note: Remark of the person.
        fingerprint: Fingerprint of the disagreement (see `fingerprint`) when it was decided; None if unknown.
        line: Line in the decisions file.
    """

    id: str
    value: Json
    by: str
    note: str = ""
    fingerprint: str | None = None
    line: int | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Json]:
        """Return the decision as in a decisions file."""
        value = {"absent": True} if self.value is ABSENT else {"value": self.value}
        optional = {"note": self.note or None, "fingerprint": self.fingerprint}
        return {"id": self.id, **value, "by": self.by} | {key: text for key, text in optional.items() if text}


class Decisions(NamedTuple):
    """The decisions of a file, by the id of their disagreement."""

    file: str
    by_id: Mapping[str, Decision]

    @classmethod
    def read(cls, path: str | Path) -> Decisions:
        """Read JSON lines, or a table (.csv, .tsv) such as `queue.csv` with its decision columns filled in.

        Rows of a table without a decision are skipped. A decision may be repeated.

        Raises:
            DataError: The file cannot be read, or contains an invalid decision, or different decisions with the same
                id. The error lists every problem.
        """
        path = Path(path)
        by_id: dict[str, Decision] = {}
        problems: list[Problem] = []
        for decision in _table(path) if split_name(path)[1] in TABLES else _lines(path):
            if isinstance(decision, Problem):
                problems.append(decision)
                continue
            first = by_id.setdefault(decision.id, decision)
            if not same(first.value, decision.value):
                message = f"The decision on {decision.id!r} differs from the one in line {first.line}"
                problems.append(Problem(message, str(path), decision.line, hint="Delete one of them."))
        if problems:
            raise DataError(*problems)
        return cls(str(path), by_id)

    def check(self, disagreements: Iterable[Disagreement]) -> None:
        """Check that every decision is about one of the disagreements, with the readings it has now.

        Raises:
            DataError: A decision has an unknown id, or its readings have changed. The error lists all such decisions.
        """
        known = {disagreement.id: disagreement for disagreement in disagreements}
        problems = []
        for decision in self.by_id.values():
            if decision.id not in known:
                message = f"Expected the id of a disagreement, got {decision.id!r}"
            elif decision.fingerprint not in {None, fingerprint(known[decision.id])}:
                message = f"The readings of {decision.id!r} have changed since the decision"
            else:
                continue
            problems.append(Problem(message, self.file, decision.line, hint=_STALE))
        if problems:
            raise DataError(*problems)


def fingerprint(disagreement: Disagreement) -> str:
    """Return a text that changes with the readings of a disagreement."""
    readings = [[reading.annotator, _absent_or(reading.value)] for reading in disagreement.readings]
    whole = json.dumps([disagreement.id, disagreement.path, readings], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _absent_or(value: Json) -> list[Json]:
    """Return a list with the value; an empty list for ABSENT, which is not JSON."""
    return [] if value is ABSENT else [value]


def same(left: Json, right: Json) -> bool:
    """Return whether two values are equal as JSON, or both ABSENT."""
    if left is ABSENT or right is ABSENT:
        return left is right
    return canonical(left) == canonical(right)


def cell_text(value: Json) -> str:
    r"""Return the text of a value for a cell: JSON, without quotes if it reads back as the same text; "" for ABSENT.

    >>> [cell_text(value) for value in ("Ada", 403, "403", "", None, "=1+1", ABSENT)]
    ['Ada', '403', '"403"', '""', 'null', '"=1+1"', '']
    """
    if value is ABSENT:
        return ""
    if isinstance(value, str) and value == value.strip() and not value.startswith(FORMULA):
        try:
            if cell_value(value) == value:
                return value
        except DataError:
            pass
    return compact(value)


def cell_value(text: str) -> Json:
    """Return the value of a cell: ABSENT if it is empty, the value of its JSON, or else the text without outer spaces.

    Raises:
        DataError: The text begins like a list, an object or a quoted text, and is not valid JSON.

    >>> [cell_value(text) for text in ("Ada", "403", '"403"', "[1, 2]", "")]
    ['Ada', 403, '403', [1, 2], ABSENT]
    """
    if not text.strip():
        return ABSENT
    try:
        return strict_json.parse(text)
    except DataError as error:
        if text.lstrip().startswith(('"', "[", "{")):
            hint = "Put a text that begins with a quotation mark or a bracket in double quotes, as in JSON."
            raise DataError.of(error.message, pointer=error.pointer, hint=hint) from None
        return text.strip()


def _lines(path: Path) -> Iterator[Decision | Problem]:
    """Yield the decision in each line of a .jsonl file, or the problem of the line."""
    with open_source(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                yield _decision(strict_json.parse(text, file=str(path), line=line), line)
            except DataError as error:
                yield from error.located(file=str(path), line=line).problems


def _table(path: Path) -> Iterator[Decision | Problem]:
    """Yield the decision in each row of a table, or the problem of the row; rows without a decision are left out."""
    table = CsvTable(path, ("id", "by"), "The columns are id, value, absent, by and note.")
    for line, cells in table.rows():
        if isinstance(cells, str):
            yield Problem(cells, str(path), line)
            continue
        plain: dict[str, Json] = {key: unescaped(cells[key]) for key in KEYS if cells.get(key)}
        if not plain.keys() & {"value", "absent"}:
            continue
        try:
            if "value" in plain:
                plain["value"] = cell_value(plain["value"])
            if "absent" in plain:
                plain["absent"] = {"true": True}.get(plain["absent"].lower(), plain["absent"])
            yield _decision(plain, line)
        except DataError as error:
            yield from error.located(file=str(path), line=line).problems


def _decision(plain: Any, line: int) -> Decision:  # noqa: ANN401  (any JSON)
    """Return the decision of a record. Raises DataError."""
    if not isinstance(plain, dict):
        raise DataError.of(f"Expected an object with the keys of a decision, got {shown(plain)}")
    if unknown := sorted(plain.keys() - set(KEYS)):
        raise DataError.of(
            f"Unknown key {unknown[0]!r} in a decision",
            hint=did_you_mean(unknown[0], KEYS),
        )
    for key in ("id", "by", "note", "fingerprint"):
        if key in plain and not isinstance(plain[key], str):
            raise DataError.of(f"Expected a text, got {shown(plain[key])}", pointer=f"/{key}")
    if not plain.get("id"):
        raise DataError.of("Expected the id of a disagreement under 'id', got none")
    if not plain.get("by", "").strip():
        raise DataError.of("Expected the name of the person who decided under 'by', got none")
    if plain.get("absent", True) is not True:
        raise DataError.of(
            f"Expected 'absent' to be true, got {shown(plain['absent'])}", hint="Omit it to give a value."
        )
    if ("value" in plain) == ("absent" in plain):
        raise DataError.of(
            "Expected either 'value' or 'absent'" + (", got both" if "value" in plain else ", got neither"),
            hint='Write the value for the gold, or "absent": true to leave it out.',
        )
    value = plain.get("value", ABSENT)
    return Decision(plain["id"], value, plain["by"].strip(), plain.get("note", ""), plain.get("fingerprint"), line)
