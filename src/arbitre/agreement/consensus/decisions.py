"""Decisions of people on disagreements: read from a file, and matched with the disagreements."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.agreement.consensus.disagreement import RefusedDecision
from arbitre.errors import DataError, Problem, did_you_mean, shown
from arbitre.inputs.csv_table import BOOLEANS, TEXT_TABLES, CsvTable, cell_value
from arbitre.inputs.open_files import open_source, split_name
from arbitre.parsing import strict_json
from arbitre.parsing.fast_json import compact
from arbitre.storage.output_folder import output_path, output_text_file
from arbitre.tables.csv_text import csv_writer, unescaped
from arbitre.values import ABSENT, Json, equal_or_absent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from arbitre.agreement.consensus.disagreement import Disagreement, Reading

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
        text: The line, or the row of a table, as it is in the file.
    """

    id: str
    value: Json
    by: str
    note: str = ""
    fingerprint: str | None = None
    line: int | None = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Json]:
        """Return the decision as in a decisions file."""
        value = {"absent": True} if self.value is ABSENT else {"value": self.value}
        optional = {"note": self.note or None, "fingerprint": self.fingerprint}
        return {"id": self.id, **value, "by": self.by} | {key: text for key, text in optional.items() if text}


class Decisions(NamedTuple):
    """The decisions of a file, by the id of their disagreement.

    Attributes:
        file: Path of the file.
        by_id: The decisions.
        refused: Lines that are not applied, in the order of the file.
        header: The names of the columns, if the file is a table, as a line.
    """

    file: str
    by_id: Mapping[str, Decision]
    refused: tuple[RefusedDecision, ...] = ()
    header: str | None = None

    @classmethod
    def read(cls, path: str | Path) -> Decisions:
        """Read JSON lines, or a table (.csv, .tsv) such as `queue.csv` with its decision columns filled in.

        Rows of a table without a decision are skipped. Invalid lines are refused, and so are all decisions with one id
        if their values differ. Equal decisions may be repeated.

        Raises:
            DataError: The file cannot be read, or every line is refused. The error lists every problem.
        """
        path = Path(path)
        header, lines = _table(path) if split_name(path)[1] in TEXT_TABLES else (None, _lines(path))
        by_id: dict[str, list[Decision]] = {}
        refused: list[RefusedDecision] = []
        for each in lines:
            if isinstance(each, RefusedDecision):
                refused.append(each)
            else:
                by_id.setdefault(each.id, []).append(each)
        read = cls(str(path), {name: found[0] for name, found in by_id.items()}, tuple(refused), header)
        return read.without(
            (each, f"The decisions on {name!r} differ: lines {_listed(found)}", "Delete all but one of them.")
            for name, found in by_id.items()
            if not all(equal_or_absent(each.value, found[0].value) for each in found)
            for each in found
        )

    def without(self, wrong: Iterable[tuple[Decision, str, str]]) -> Decisions:
        """Refuse decisions.

        Args:
            wrong: The decisions, each with what is wrong with it and how to correct it.

        Raises:
            DataError: No decision remains.
        """
        refused = [
            RefusedDecision(
                Problem(message, self.file, each.line, hint=hint),
                each.id,
                compact(each.to_dict()) if each.text is None else each.text,
            )
            for each, message, hint in wrong
        ]
        names = {each.id for each in refused}
        by_id = {name: decision for name, decision in self.by_id.items() if name not in names}
        every = sorted((*self.refused, *refused), key=lambda each: each.problem.line or 0)
        if every and not by_id:
            raise DataError(*(each.problem for each in every))
        return self._replace(by_id=by_id, refused=tuple(every))

    def on(self, disagreements: Iterable[Disagreement]) -> Decisions:
        """Return the decisions on disagreements, with the readings that these have now; the others are refused.

        Raises:
            DataError: No decision remains. The error lists every problem.
        """
        known = {disagreement.id: disagreement for disagreement in disagreements}

        def stale() -> Iterator[tuple[Decision, str, str]]:
            for each in self.by_id.values():
                if each.id not in known:
                    yield each, f"Expected the id of a disagreement, got {each.id!r}", _STALE
                elif each.fingerprint not in {None, fingerprint(known[each.id])}:
                    message = (
                        f"The readings of {each.id!r}, or the entry that contains them, have changed since the decision"
                    )
                    yield each, message, _STALE

        return self.without(stale())

    def write_refused(self, beside: Path) -> Path | None:
        """Write the refused lines to a file beside another one, in the format of the decisions file.

        An earlier file that was changed since is kept; the new one then has a number in its name.

        Returns:
            The path of the file; None if no line was refused.

        Raises:
            DataError: The file cannot be written.
        """
        if not self.refused:
            return None
        suffix = split_name(Path(self.file))[1] or ".jsonl"
        path = output_path(beside.with_name(f"{beside.name}.refused{suffix}"), force=True)
        with output_text_file(path) as file:
            file.writelines(f"{text}\n" for text in (self.header, *(each.text for each in self.refused)) if text)
        return path


def _listed(decisions: Sequence[Decision]) -> str:
    """Return the lines of decisions."""
    return ", ".join(str(each.line) for each in decisions)


def fingerprint(disagreement: Disagreement) -> str:
    """Return a text that changes with the readings of a disagreement, and with the list items that contain it.

    List positions do not identify items, because annotators may insert items. The text therefore depends on everything
    that the annotators have in the innermost item. Of the outer items, it depends on everything except the objects and
    lists in their lists.
    """
    *outer, inner = disagreement.items or ((),)
    items = [*(_values(each, _without_items) for each in outer), _values(inner)]
    whole = json.dumps([disagreement.id, disagreement.path, _values(disagreement.readings), items], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _values(readings: Iterable[Reading], part: Callable[[Json], Json] = lambda value: value) -> list[Json]:
    """Return the names of annotators with parts of their values; without a value for ABSENT, which is not JSON."""
    return [[own.annotator] if own.value is ABSENT else [own.annotator, part(own.value)] for own in readings]


def _without_items(value: Json) -> Json:
    """Return a value without the objects and lists in its lists.

    >>> _without_items({"title": "Budget", "tags": ["tax"], "speakers": [{"name": "Ada"}]})
    {'title': 'Budget', 'tags': ['tax'], 'speakers': []}
    """
    if isinstance(value, list):
        return [each for each in value if not isinstance(each, dict | list)]
    return {key: _without_items(each) for key, each in value.items()} if isinstance(value, dict) else value


def _lines(path: Path) -> Iterator[Decision | RefusedDecision]:
    """Yield each line of a .jsonl file that is not blank."""
    with open_source(path) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            whole = text.decode("utf-8", "backslashreplace").rstrip("\r\n")
            try:
                plain = strict_json.parse(text, file=str(path), line=line)
            except DataError as error:
                yield RefusedDecision(error.problems[0], None, whole)
            else:
                yield _checked(plain, path, line, whole)


def _table(path: Path) -> tuple[str, Iterator[Decision | RefusedDecision]]:
    """Return the header of a table, and each row that contains a decision."""
    table = CsvTable(path, ("id", "by"), "The columns are id, value, absent, by and note.")

    def decided() -> Iterator[Decision | RefusedDecision]:
        for line, cells in table.lines():
            whole = _row(cells)
            if isinstance(row := table.by_column(cells), str):
                yield RefusedDecision(Problem(row, str(path), line), None, whole)
                continue
            plain: dict[str, Json] = {key: unescaped(row[key]) for key in KEYS if row.get(key)}
            if not plain.keys() & {"value", "absent"}:
                continue
            try:
                if "value" in plain:
                    plain["value"] = cell_value(plain["value"])
            except DataError as error:
                problem = error.located(file=str(path), line=line).problems[0]
                yield RefusedDecision(problem, plain.get("id"), whole)
                continue
            if "absent" in plain:
                plain["absent"] = BOOLEANS.get(plain["absent"].strip().upper(), plain["absent"])
            yield _checked(plain, path, line, whole)

    return _row(table.columns), decided()


def _row(cells: Sequence[str]) -> str:
    """Return cells as a line of CSV."""
    file = io.StringIO()
    csv_writer(file).writerow(cells)
    return file.getvalue().removesuffix("\n")


def _checked(plain: Json, path: Path, line: int, text: str) -> Decision | RefusedDecision:
    """Return the decision of a record, or why it is not one."""
    try:
        return _decision(plain, line, text)
    except DataError as error:
        named = plain.get("id") if isinstance(plain, dict) else None
        problem = error.located(file=str(path), line=line).problems[0]
        return RefusedDecision(problem, named if isinstance(named, str) else None, text)


def _decision(plain: Any, line: int, text: str) -> Decision:  # noqa: ANN401  (any JSON)
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
    return Decision(
        plain["id"], value, plain["by"].strip(), plain.get("note", ""), plain.get("fingerprint"), line, text
    )
