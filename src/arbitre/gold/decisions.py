"""Decisions of people on faults: whether gold or the prediction is wrong, and the correct value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arbitre.errors import DataError, Problem, did_you_mean
from arbitre.inputs.csv_table import BOOLEANS, TEXT_TABLES, CsvTable, cell_text, cell_value
from arbitre.inputs.open_files import split_name
from arbitre.paths import list_position
from arbitre.schema.validate import read_valid
from arbitre.storage.output_folder import output_path, output_text_file
from arbitre.tables.csv_text import cell, csv_writer, unescaped
from arbitre.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from arbitre.values import Json

GOLD_IS_WRONG: Final = "gold is wrong"
PREDICTION_IS_WRONG: Final = "prediction is wrong"
UNSURE: Final = "unsure"
CHOICES: Final = (GOLD_IS_WRONG, PREDICTION_IS_WRONG, UNSURE)

UNKNOWN: Final = "unknown"
"""Pointer of a decision in a table if its place in gold is unknown."""
_POINTERS: Final = ("gold_pointer", "predicted_pointer")
COLUMNS: Final = (
    *("system", "document", "run", "pointer", "creates", *_POINTERS, "path", "decision"),
    *("gold", "predicted", "value", "absent", "note", "by", "report"),
)
"""Columns of a table of decisions; `absent` is true if there should be no value."""
_REQUIRED: Final = ("document", "pointer", "decision", "gold", "value", "by")
REASON: Final = "reason"
"""First column of a table of refused decisions."""

_POINTER: Final = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


@dataclass(frozen=True, slots=True)
class GoldDecision:
    """A person's decision about a fault.

    Attributes:
        document: Id of the document.
        pointer: JSON Pointer (RFC 6901) in gold of the value, or where it would be added; None if it is unknown.
        choice: One of `CHOICES`.
        gold: The gold value; ABSENT if there is none.
        predicted: The predicted value; ABSENT if there is none.
        value: The correct value, if gold is wrong; ABSENT if there should be none.
        by: Name of the person.
        note: Remark of the person.
        system: System that predicted the value, or several.
        path: Wildcard path of the value.
        report: Title and key of the report.
        creates: Types ("object" or "array") of the containers around the pointer that gold lacks, outermost first,
            separated by spaces.
        gold_pointer: JSON Pointer of the gold value in the gold of the report; "" if it is unknown.
        predicted_pointer: JSON Pointer of the predicted value; "" if it is unknown.
        run: Run of the prediction, "" if it has none; None if the file does not state runs.
        line: Line in the file, if it is a table.
        cells: Its cells in that line.
    """

    document: str
    pointer: str | None
    choice: str
    gold: Json
    predicted: Json
    value: Json
    by: str
    note: str = ""
    system: str = ""
    path: str = ""
    report: str = ""
    creates: str = ""
    gold_pointer: str = ""
    predicted_pointer: str = ""
    run: str | None = None
    line: int | None = field(default=None, compare=False)
    cells: Sequence[str] | None = field(default=None, compare=False, repr=False)

    @property
    def row(self) -> Sequence[str]:
        """The decision as a row of its table, or else in the order of `COLUMNS`, without `run` if it is not stated."""
        if self.cells is not None:
            return self.cells
        wrong = self.choice == GOLD_IS_WRONG
        texts = {
            "pointer": UNKNOWN if self.pointer is None else self.pointer,
            "decision": self.choice,
            "absent": "true" if wrong and self.value is ABSENT else "",
        }
        values = {name: cell_text(getattr(self, name)) for name in ("gold", "predicted", "value")}
        return [
            values[name] if name in values else cell(texts.get(name) or getattr(self, name, ""))
            for name in _columns(stated=self.run is not None)
        ]


class RefusedGoldDecision(NamedTuple):
    """A decision that cannot be applied to gold, with the reason.

    Attributes:
        reason: Why it cannot be applied, and what to do.
        row: Its cells in the table that it comes from, or in the order of `COLUMNS`.
        decision: The decision; None if the row does not contain one.
        line: Line in the file, if it is a table.
        pointer: JSON Pointer of the value in the corrected gold, if it is known.
    """

    reason: str
    row: Sequence[str]
    decision: GoldDecision | None = None
    line: int | None = None
    pointer: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return plain JSON."""
        own = self.decision
        known = {} if own is None else {"document": own.document, "pointer": own.pointer, "decision": own.choice}
        return {"line": self.line, **known, "reason": self.reason}


class GoldDecisions(NamedTuple):
    """The decisions of a file.

    Attributes:
        file: The file.
        decisions: The decisions, in the order of the file.
        refused: Rows that contain no valid decision.
        columns: The columns of the rows.
    """

    file: Path
    decisions: Sequence[GoldDecision]
    refused: Sequence[RefusedGoldDecision] = ()
    columns: Sequence[str] = COLUMNS

    @classmethod
    def read(cls, path: str | Path) -> GoldDecisions:
        """Read decisions that were exported from a report: a table (.csv, .tsv) or JSON (.json).

        Rows of a table without a decision are skipped; invalid ones are refused.

        Raises:
            DataError: The file cannot be read, is not JSON of the format, or a column is missing.
        """
        path = Path(path)
        suffix = split_name(path)[1]
        if suffix not in {*TEXT_TABLES, ".json"}:
            raise DataError.of(
                f"Expected decisions that were exported from a report (.csv, .tsv or .json), got {path.name!r}",
                file=str(path),
            )
        return _read_table(path) if suffix in TEXT_TABLES else _read_json(path)

    def write_refused(self, refused: Sequence[RefusedGoldDecision], beside: Path) -> Path | None:
        """Write refused decisions and their reasons to a table next to another file, the corrected gold.

        Pointers refer to this gold, in which items of lists may have been removed. An earlier table that was changed
        since is kept; the new one then has a number in its name. If no decision was refused, no table is written, and
        the rows of an earlier table that was not changed are removed.

        Returns:
            The path of the table; None if no decision was refused.

        Raises:
            DataError: The table cannot be written.
        """
        path = output_path(beside.with_name(f"{beside.name}.refused.csv"), force=True)
        if not refused and not path.exists():
            return None
        kept = [at for at, name in enumerate(self.columns) if name != REASON]
        with output_text_file(path) as file:
            writer = csv_writer(file)
            writer.writerow([REASON, *(cell(self.columns[at]) for at in kept)])
            for each in refused:
                row = list(each.row)
                if len(row) == len(self.columns):
                    if each.pointer is not None:
                        row[self.columns.index("pointer")] = cell(each.pointer)
                    row = [row[at] for at in kept]
                writer.writerow([cell(each.reason), *row])
        return path if refused else None


def _columns(*, stated: bool) -> tuple[str, ...]:
    """Return the columns of a table, without `run` if runs are not stated."""
    return tuple(name for name in COLUMNS if stated or name != "run")


def _read_table(path: Path) -> GoldDecisions:
    table = CsvTable(path, _REQUIRED, "The columns are those of the table that a report exports.")
    decisions: list[GoldDecision] = []
    refused: list[RefusedGoldDecision] = []
    for line, cells in table.lines():
        row = table.by_column(cells)
        if isinstance(row, str):
            refused.append(RefusedGoldDecision(row, cells, line=line))
        elif row["decision"].strip():
            try:
                decisions.append(replace(_of_row(row, line), cells=cells))
            except DataError as error:
                refused.append(RefusedGoldDecision(_reason(error.problems[0]), cells, line=line))
    return GoldDecisions(path, decisions, refused, table.columns)


def _of_row(row: Mapping[str, str], line: int) -> GoldDecision:
    """Return the decision in a row. Raises DataError."""
    texts = {name: unescaped(row.get(name, "")) for name in COLUMNS}
    choice, pointer, absent = texts["decision"].strip().lower(), texts["pointer"].strip(), texts["absent"].strip()
    if choice not in CHOICES:
        message = f"Expected 'decision' to be {', '.join(map(repr, CHOICES))}, got {texts['decision']!r}"
        raise DataError.of(message, hint=did_you_mean(choice, CHOICES))
    if pointer != UNKNOWN and not _POINTER.fullmatch(pointer):
        raise DataError.of(f"Expected 'pointer' to be a JSON Pointer, got {pointer!r}")
    if absent and absent.upper() not in BOOLEANS:
        raise DataError.of(f"Expected 'absent' to be true or empty, got {absent!r}")
    gold, predicted, value = (cell_value(row.get(name, "")) for name in ("gold", "predicted", "value"))
    if choice == GOLD_IS_WRONG and (value is ABSENT) != BOOLEANS.get(absent.upper(), False):
        raise DataError.of(
            f"Expected either a value or 'absent', got {'neither' if value is ABSENT else 'both'}",
            hint="Write the correct value, or true under absent to leave the value out.",
        )
    if not texts["document"] or not texts["by"].strip():
        missing = "the id of a document under 'document'" if not texts["document"] else "a name under 'by'"
        raise DataError.of(f"Expected {missing}, got none")
    return GoldDecision(
        document=texts["document"],
        pointer=None if pointer == UNKNOWN else pointer,
        choice=choice,
        gold=gold,
        predicted=predicted,
        value=value if choice == GOLD_IS_WRONG else ABSENT,
        by=texts["by"].strip(),
        **{name: texts[name] for name in ("note", "system", "path", "report", "creates", *_POINTERS)},
        run=texts["run"] if "run" in row else None,
        line=line,
    )


def _read_json(path: Path) -> GoldDecisions:
    plain = read_valid(path, "decisions")
    decisions: list[GoldDecision] = []
    refused: list[RefusedGoldDecision] = []
    report = plain.get("report", "")
    for document, patch in plain["patches"].items():
        for decision, reason in _of_patch(document, patch):
            own = replace(decision, report=report)
            if reason is None:
                decisions.append(own)
            else:
                refused.append(RefusedGoldDecision(reason, own.row, own))
    decisions += [_of_record(each, report) for each in plain.get("others", ())]
    found = [*decisions, *(each.decision for each in refused if each.decision is not None)]
    stated = any(own.run is not None for own in found)
    if stated and any(own.run is None for own in found):
        raise DataError.of("Expected 'run' in each decision, or in none", file=str(path))
    return GoldDecisions(path, decisions, refused, _columns(stated=stated))


def _of_record(plain: Mapping[str, Any], report: str = "") -> GoldDecision:
    """Return a decision in its JSON form."""
    return GoldDecision(
        document=plain["document"],
        pointer=plain["pointer"],
        choice=plain["decision"],
        **{name: plain.get(name, ABSENT) for name in ("gold", "predicted", "value")},
        by=plain["by"].strip(),
        note=plain.get("note", ""),
        system=plain.get("system", ""),
        path=plain.get("at", ""),
        report=report,
        creates=plain.get("creates", ""),
        gold_pointer=plain.get("gold_pointer", ""),
        predicted_pointer=plain.get("predicted_pointer", ""),
        run=(plain["run"] or "") if "run" in plain else None,
    )


def _of_patch(document: str, patch: Iterable[Mapping[str, Any]]) -> Iterator[tuple[GoldDecision, str | None]]:
    """Yield the decisions in a JSON Patch, each with the reason why it is refused, if it is."""
    tested: dict[str, Json] = {}
    removed: dict[str, int] = {}
    for operation in patch:
        pointer = operation["path"]
        if "container" in operation:
            continue
        if operation["op"] == "test":
            tested[pointer] = operation["value"]
            continue
        reason = None
        if operation["op"] == "add":
            if pointer in tested:
                reason = "Expected no test of a value that is added"
        elif pointer not in tested:
            reason = f"Expected a test of the gold value before the operation {operation['op']!r}"
        if _is_shifted(pointer, removed):
            reason = "Expected items of a list to be removed last, from its end"
        if operation["op"] == "remove":
            above, _, token = pointer.rpartition("/")
            if (gone := list_position(token)) is not None:
                removed[above] = min(gone, removed.get(above, gone))
        value = ABSENT if operation["op"] == "remove" else operation["value"]
        known = {
            "document": document,
            "pointer": pointer,
            "decision": GOLD_IS_WRONG,
            "gold": tested.pop(pointer, ABSENT),
        }
        yield _of_record({**operation, **known, "value": value}), reason


def _is_shifted(pointer: str, removed: Mapping[str, int]) -> bool:
    """Return whether the removal of items changes the position of a value; `removed`: the first, by list."""
    tokens = pointer.split("/")
    for at, token in enumerate(tokens):
        first = removed.get("/".join(tokens[:at])) if at else None
        place = None if first is None else list_position(token)
        if first is not None and place is not None and place >= first:
            return True
    return False


def _reason(problem: Problem) -> str:
    """Return a problem as one line."""
    return " ".join(filter(None, [problem.message.removesuffix(".") + ".", problem.hint]))
