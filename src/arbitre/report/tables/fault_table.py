"""The table of faults, `faults.csv`, written from columns."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from arbitre.corpus.results.diagnosis import notes_of
from arbitre.corpus.results.fault_evidence import evidence_of, shares_in_source
from arbitre.tables.csv_text import STANDARD, CsvDialect, cell, csv_writer, read_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arbitre.arrays import Floats
    from arbitre.comparison.levels import Level
    from arbitre.corpus.joining.join import Pair
    from arbitre.corpus.reading.source_texts import SourceTexts
    from arbitre.diagnosis.causes.fault_rows import FaultRows
    from arbitre.diagnosis.causes.faults import FaultResults
    from arbitre.diagnosis.moves.chance import ValueFrequencies
    from arbitre.schema.plan import Plan
    from arbitre.tables.arrow import Frame
    from arbitre.values import Json

COLUMNS: Final = (
    *("id", "run", "entry", "gold_pointer", "predicted_pointer"),
    *("path", "fault", "gold", "predicted", "cost", "in_source", "signature"),
)


@dataclass(frozen=True, slots=True)
class FaultTableObserver:
    """Corpus observer that records the faults: their rows as CSV, and sums for the diagnosis of the corpus.

    Attributes:
        plan: The compiled schema.
        dialect: Notation of the table.
        table: Whether to record the rows.
        texts: The texts that were given to the model, if they are to be searched.
        usual: How often the gold of the corpus has each value.
    """

    plan: Plan
    dialect: CsvDialect = STANDARD
    table: bool = True
    texts: SourceTexts | None = None
    usual: ValueFrequencies | None = None

    def __call__(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Json]:
        """Return one note for all documents: the rows as one text, and the sums of each document."""
        results, shares, sources = self._found(pairs, levels)
        evidence = evidence_of(pairs, results, sources)
        note: Json = {"documents": [sums | more for sums, more in zip(notes_of(results), evidence, strict=True)]}
        if self.table:
            cells = zip(*self._cells(pairs, results.rows, shares), strict=True)
            file = io.StringIO()
            csv_writer(file, self.dialect._replace(mark=False)).writerows(cells)
            note["rows"] = file.getvalue()
        return [note]

    def frames(self, pairs: Sequence[Pair], levels: Sequence[Level]) -> list[Frame]:
        """Return the rows of the documents as columns by name, as `read_table` reads them."""
        results, shares, _ = self._found(pairs, levels)
        rows = results.rows
        numbers: dict[str, Sequence[float | None]] = {"cost": rows.costs, "in_source": shares}
        texts = zip(COLUMNS, self._cells(pairs, rows, shares), strict=True)
        return [{name: _numbers(numbers[name]) if name in numbers else read_cells(cells) for name, cells in texts}]

    def _found(
        self, pairs: Sequence[Pair], levels: Sequence[Level]
    ) -> tuple[FaultResults, list[float | None], list[Any]]:
        """Return the faults, the shares of their values in the source texts, and the notes on these texts."""
        from arbitre.diagnosis.causes.diagnose import find_faults  # noqa: PLC0415  (only `--diagnose` needs it)

        gold, predicted = [pair.gold for pair in pairs], [pair.predicted for pair in pairs]
        usual = None if self.usual is None else self.usual.for_documents([pair.id for pair in pairs])
        results = find_faults(self.plan, gold, predicted, levels, usual)
        return (results, *shares_in_source(pairs, results.rows, self.texts))

    def _cells(
        self, pairs: Sequence[Pair], rows: FaultRows, shares: Sequence[float | None]
    ) -> list[Sequence[str] | Iterator[str]]:
        """Return the columns of the documents as cells."""
        dialect, count = self.dialect, len(rows)
        ids, runs = [cell(pair.id) for pair in pairs], [cell(pair.run) for pair in pairs]
        return [
            [ids[document] for document in rows.documents],
            [runs[document] for document in rows.documents],
            *(map(cell, texts) for texts in (rows.entries, rows.gold_pointers, rows.predicted_pointers)),
            map(cell, rows.paths),
            rows.faults,
            *([cell(value, dialect) for value in values] for values in (rows.gold, rows.predicted, rows.costs)),
            [cell(share, dialect) for share in shares],
            [self.plan.signature.short] * count,
        ]


def _numbers(values: Sequence[float | None]) -> Floats:
    """Return numbers as an array, with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
